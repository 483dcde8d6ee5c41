#pragma once

#include <string>
#include <string_view>

namespace capstan::serve {

/// Returns the bytes compressed with gzip and written in base64, as the page unpacks them.
std::string packed(std::string_view bytes);

}  // namespace capstan::serve
