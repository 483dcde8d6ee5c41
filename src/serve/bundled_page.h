#pragma once

#include <string_view>

namespace capstan::serve {

/// The page of web/, one HTML file without data.
extern const std::string_view kBundledPage;

}  // namespace capstan::serve
