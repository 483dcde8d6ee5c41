#pragma once

#include <cstdint>
#include <expected>
#include <string>

namespace capstan {

/// The kind of a failure, which determines the exit code of a command.
enum class ErrorKind : std::uint8_t {
  input,       ///< invalid input data: exit 1
  infeasible,  ///< well-formed input that cannot be satisfied: exit 3
  usage,       ///< invalid command line: exit 64
};

/// An error and its position in a file. `line` and `column` count from 1; 0 means unknown.
struct Error {
  ErrorKind kind = ErrorKind::input;
  std::string file;
  std::uint32_t line = 0;
  std::uint32_t column = 0;
  std::string message;  ///< what is wrong and what was expected: "the rate is -1, expected 0 or more"

  /// Returns an input error about a whole file.
  static Error about(std::string file, std::string message);
  /// Returns "file:line:column: message" without the parts that are unknown. Characters that a terminal would interpret
  /// are escaped.
  std::string text() const;
};

template <typename T>
using Result = std::expected<T, Error>;

}  // namespace capstan
