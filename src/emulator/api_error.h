#pragma once

#include <string>
#include <string_view>

namespace capstan::emulator {

/// An error reply with the messages and the JSON of vLLM: {"error":{"message","type","param","code"}}.
struct ApiError {
  int status = 400;
  std::string message;
  std::string parameter{};  ///< name of the invalid field; empty: `null` in JSON
  /// If empty, the type follows from the status. vLLM's type for a request that does not fit its schema is "Bad
  /// Request", and "BadRequestError" for a request that fits the schema but cannot be served.
  std::string_view type{};
};

}  // namespace capstan::emulator
