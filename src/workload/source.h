#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "base/error.h"
#include "base/quantity.h"
#include "workload/request.h"

namespace capstan::workload {

/// A stream of requests in the order of their arrivals. It is read or generated while it is consumed.
class Source {
 public:
  virtual ~Source() = default;

  /// Reads the next request. Returns false at the end and after an error; `error()` distinguishes the two cases.
  virtual bool next(Request& request) = 0;

  /// Fills `out` from its front and returns the number of requests. It is less than `out.size()` only at the end or
  /// before an error. A batch costs one virtual call; batches of some hundred requests are read at full speed.
  virtual std::size_t fill(std::span<Request> out) {
    std::size_t count = 0;
    while (count < out.size() && next(out[count])) ++count;
    return count;
  }

  /// Returns the error that ended the stream early, such as a malformed row or a truncated file; empty without one.
  virtual std::optional<Error> error() const { return std::nullopt; }

  /// Returns the share of the stream that has been consumed, 0 to 1, for progress bars only. A trace counts the bytes
  /// of its file.
  virtual double progress() const { return 0; }
};

}  // namespace capstan::workload
