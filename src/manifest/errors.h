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
  std::vector<Error> list;            ///< errors, at least one

  Errors() = default;
  /// Makes a list with one error.
  Errors(Error error) : kind(error.kind), list{std::move(error)} {}  // NOLINT: implicit, so that Error can be returned

  /// Sorts the errors by place and drops duplicates, because several roles or swept policies may read one value. The
  /// kind is input if any error is an input error, otherwise usage if any is a usage error, otherwise infeasible: only
  /// a valid input can be infeasible.
  explicit Errors(std::vector<Error> errors);

  /// Returns one line for each of the first `kShown` errors and the number of the others.
  std::string text() const;
};

}  // namespace capstan::manifest
