#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "kube/json.h"
#include "net/http.h"

namespace capstan::kube {

/// The error of a request: the API server's `Status` object, or only the HTTP status if the answer has no such object.
struct ApiError {
  struct Cause {
    std::string field;
    std::string message;
    friend bool operator==(const Cause&, const Cause&) = default;
  };

  int code = 0;         ///< HTTP status; 0: no answer
  std::string reason;   ///< "Conflict", "Expired", "AlreadyExists" …; empty: not known
  std::string message;  ///< message of the server, or of the client if there was no answer
  std::vector<Cause> causes;
  Duration retry_after{};  ///< wait that the server asks for; 0: none

  bool not_found() const { return code == 404; }
  bool conflict() const { return code == 409 && reason != "AlreadyExists"; }
  bool already_exists() const { return code == 409 && reason == "AlreadyExists"; }
  bool expired() const { return code == 410 || reason == "Expired" || reason == "Gone"; }

  std::string text() const;  ///< "409 Conflict: …" with the causes, on one line
  friend bool operator==(const ApiError&, const ApiError&) = default;
};

/// Reads a Status object, from the body of an answer or from an ERROR event of a watch.
ApiError read_status(Json status);

/// Returns the error of an answer whose status is not 2xx.
ApiError error_of(const net::Response& response);

}  // namespace capstan::kube
