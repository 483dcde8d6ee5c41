#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "kube/json.h"
#include "net/http.h"

namespace capstan::kube {

/// What the API server says when it refuses (a `Status` object), or the HTTP status where it sent none.
struct ApiError {
  struct Cause {
    std::string field;
    std::string message;
    friend bool operator==(const Cause&, const Cause&) = default;
  };

  int code = 0;         ///< of HTTP; 0 where no answer came
  std::string reason;   ///< "Conflict", "Expired", "AlreadyExists" …; empty where unknown
  std::string message;  ///< the server's words, or the client's where no answer came
  std::vector<Cause> causes;
  Duration retry_after{};  ///< asked for by the server; zero: nothing asked

  bool not_found() const { return code == 404; }
  bool conflict() const { return code == 409 && reason != "AlreadyExists"; }
  bool already_exists() const { return code == 409 && reason == "AlreadyExists"; }
  bool expired() const { return code == 410 || reason == "Expired" || reason == "Gone"; }

  std::string text() const;  ///< "409 Conflict: …" and its causes, on one line
  friend bool operator==(const ApiError&, const ApiError&) = default;
};

/// Of a Status object, as in the body of an answer or in an ERROR event of a watch.
ApiError read_status(Json status);

/// Of an answer that is not 2xx.
ApiError error_of(const net::Response& response);

}  // namespace capstan::kube
