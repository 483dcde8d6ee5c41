#pragma once

#include <string>
#include <string_view>

namespace capstan::serve {

/// Returns the small part of a result that the page shows at once, before it reads the rest: everything except the
/// values over time and the lists of services and queues. Returns "null" for a recording and for data that are no
/// result.
/// @param result  JSON as experiment::render_json writes it
std::string first_part(std::string_view result);

}  // namespace capstan::serve
