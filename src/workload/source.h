#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "base/error.h"
#include "base/quantity.h"
#include "workload/request.h"

namespace capstan::workload {

/// A stream of requests in the order of their arrivals, read as it is consumed. Arrivals never go back.
class Source {
 public:
  virtual ~Source() = default;

  /// The next request, or false at the end and after an error: ask `error()` which of the two.
  virtual bool next(Request& request) = 0;

  /// Fills `out` from its front and returns how many: fewer than asked only at the end or before an error. One virtual
  /// call a batch; batches of some hundreds read at full speed.
  virtual std::size_t fill(std::span<Request> out) {
    std::size_t count = 0;
    while (count < out.size() && next(out[count])) ++count;
    return count;
  }

  /// What ended the stream before its time: a malformed row, a truncated file. Empty while all is well.
  virtual std::optional<Error> error() const { return std::nullopt; }

  /// How much of the stream has been consumed, 0 to 1, for progress bars only. A trace counts bytes of its file.
  virtual double progress() const { return 0; }
};

}  // namespace capstan::workload
