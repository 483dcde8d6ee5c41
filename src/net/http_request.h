#pragma once

#include <string>
#include <vector>

#include "net/http.h"

namespace capstan::net {

/// A whole request that a server received.
struct HttpRequest {
  std::string method;  ///< "GET"; case counts
  std::string path;    ///< of the target, before '?'; percent signs as they came
  std::string query;   ///< of the target, behind '?'
  std::vector<Header> headers;
  std::string body;
  bool keep_alive = true;  ///< the client wants to send another on the same connection
  bool chunks = true;      ///< the client understands a reply in chunks (HTTP/1.1)

  friend bool operator==(const HttpRequest&, const HttpRequest&) = default;
};

}  // namespace capstan::net
