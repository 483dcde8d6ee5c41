#pragma once

#include <string>
#include <string_view>

namespace capstan::net {

/// Percent-encodes all characters except the unreserved ones of RFC 3986, so that the result is safe as a path segment
/// or as a key or value of a query.
std::string percent_encode(std::string_view text);

/// Adds an encoded `key=value` to a URL or path, after "?" or "&".
void add_query(std::string& url, std::string_view key, std::string_view value);

}  // namespace capstan::net
