#pragma once

#include <string>
#include <string_view>

namespace capstan::net {

/// Percent-encodes all but RFC 3986's unreserved characters: safe as one segment of a path, a key or a value of a
/// query.
std::string percent_encode(std::string_view text);

/// Adds `key=value` to a URL or path, both encoded, behind "?" or "&".
void add_query(std::string& url, std::string_view key, std::string_view value);

}  // namespace capstan::net
