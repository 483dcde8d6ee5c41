#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace capstan::kube {

std::string base64_encode(std::string_view bytes);

/// Nothing where the text is not base64 (RFC 4648 §4, with its padding; white space is skipped).
std::optional<std::string> base64_decode(std::string_view text);

}  // namespace capstan::kube
