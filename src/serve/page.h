#pragma once

#include <string>
#include <string_view>

namespace capstan::serve {

/// Returns the page that shows a result, as one HTML file that needs no server and no network.
/// @param result  JSON as experiment::render_json writes it
std::string page(std::string_view result);

}  // namespace capstan::serve
