#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace capstan::kube {

std::string base64_encode(std::string_view bytes);

/// Decodes base64 (RFC 4648 §4, with padding). White space is skipped. Returns nothing if the text is not base64.
std::optional<std::string> base64_decode(std::string_view text);

}  // namespace capstan::kube
