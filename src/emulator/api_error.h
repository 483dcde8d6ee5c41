#pragma once

#include <string>
#include <string_view>

namespace capstan::emulator {

/// A refusal as vLLM words and shapes it: {"error":{"message","type","param","code"}}.
struct ApiError {
  int status = 400;
  std::string message;
  std::string parameter{};  ///< the field that is wrong; empty: none, `null` in JSON
  /// Empty: the type that goes with the status. vLLM calls what does not fit its schema "Bad Request", and what fits
  /// and cannot be done "BadRequestError".
  std::string_view type{};
};

}  // namespace capstan::emulator
