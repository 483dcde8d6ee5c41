#pragma once

#include <cstdint>
#include <expected>
#include <string>

namespace capstan {

/// What kind of failure a command ends with; its exit code follows (design §7).
enum class ErrorKind : std::uint8_t {
  input,       ///< bad bytes from outside: exit 1
  infeasible,  ///< well-formed, but cannot be: exit 3
  usage,       ///< the command line itself: exit 64
};

/// A clear error: place, what is wrong, what was expected. `line` and `column` count from 1; 0 means not known.
struct Error {
  ErrorKind kind = ErrorKind::input;
  std::string file;
  std::uint32_t line = 0;
  std::uint32_t column = 0;
  std::string message;  ///< "what is wrong, what was expected"

  /// Of a whole file.
  static Error about(std::string file, std::string message);
  /// "file:line:col: message", leaving out what is not known.
  std::string text() const;
};

template <typename T>
using Result = std::expected<T, Error>;

}  // namespace capstan
