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

  ErrorKind kind = ErrorKind::input;  ///< kind of all errors together
  std::vector<Error> list;            ///< not empty

  Errors() = default;
  /// Makes a list with one error.
  Errors(Error error) : kind(error.kind), list{std::move(error)} {}  // NOLINT: implicit, so that Error can be returned

  /// Sorts the errors by place and drops duplicates: a value may be read several times, for a swept policy or for roles
  /// that inherit it. The list is an input error if it has one, else a usage error if it has one, else infeasible,
  /// because only a valid input can be infeasible.
  explicit Errors(std::vector<Error> errors);

  /// Returns one line for each of the first `kShown` errors and the number of the others.
  std::string text() const;
};

}  // namespace capstan::manifest
