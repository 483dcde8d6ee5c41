#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"

namespace capstan::manifest {

/// The errors of one input.
struct Errors {
  static constexpr std::size_t kShown = 20;

  ErrorKind kind = ErrorKind::input;  ///< of them together
  std::vector<Error> list;            ///< at least one

  Errors() = default;
  /// Holds a single error.
  Errors(Error error) : kind(error.kind), list{std::move(error)} {}  // NOLINT: as an Error is returned where these are

  /// Sorts the errors by their places and drops repeated ones: a value may be read several times, for a policy that is
  /// swept or for roles that inherit it. Together they are an input error if any is, else a usage error if any is: an
  /// input has to be right before it can be possible.
  explicit Errors(std::vector<Error> errors);

  /// Returns one line for each of the first `kShown` errors, then how many more there are.
  std::string text() const;
};

}  // namespace capstan::manifest
