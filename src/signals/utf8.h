#pragma once

#include <string_view>

namespace capstan::signals {

/// Returns true if the text is UTF-8 by RFC 3629: no overlong forms, no surrogates, nothing above U+10FFFF.
bool is_utf8(std::string_view text);

}  // namespace capstan::signals
