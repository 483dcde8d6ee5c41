#pragma once

#include <string>
#include <vector>

#include "net/http.h"

namespace capstan::net {

/// A complete request that a server received.
struct HttpRequest {
  std::string method;  ///< "GET"; case-sensitive
  std::string path;    ///< part of the target before '?'; not decoded
  std::string query;   ///< part of the target after '?'
  std::vector<Header> headers;
  std::string body;
  bool keep_alive = true;  ///< the client may send another request on the connection
  bool chunks = true;      ///< the client accepts a chunked reply (HTTP/1.1)

  friend bool operator==(const HttpRequest&, const HttpRequest&) = default;
};

}  // namespace capstan::net
