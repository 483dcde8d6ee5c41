#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "workload/source.h"

namespace capstan::workload {

/// More or less of a trace: floor(scale) whole copies and, for the fraction, one thinned copy in which each row stays
/// with that chance. The first copy keeps its times; each other copy is shifted as a whole by its own draw from
/// [-jitter, +jitter], so that bursts keep their form but do not line up. What a shift would move before the start is
/// mirrored at it, so that the first minutes are neither empty nor crowded. A copy's prefixes are its own
/// (`Request::prefix_salt`); its clients keep their numbers.
///
/// The trace is read once. Held at a time: its rows of 2 * jitter, once, and the requests of one slice of time.
class Superposed final : public Source {
 public:
  Superposed(std::unique_ptr<Source> trace, std::int64_t scale_ppm, Duration jitter, std::uint64_t seed);

  bool next(Request& request) override;
  std::size_t fill(std::span<Request> out) override;
  std::optional<Error> error() const override { return trace_->error(); }
  double progress() const override { return trace_->progress(); }

 private:
  /// A copy's place in the rows: all of its rows before it were given, except the mirrored ones still to come.
  struct Copy {
    std::int64_t shift_ns = 0;
    std::uint64_t salt = 0;
    std::uint64_t cursor = 0;      ///< the next row to come in order, by its number in the trace
    std::uint64_t mirrored = 0;    ///< one past the next row to come of those mirrored at the start
    std::uint64_t keep_below = 0;  ///< rows stay whose draw is below; 0: all stay
  };
  struct Entry {
    std::int64_t at_ns;
    std::uint32_t copy;
    std::uint64_t row;
  };

  void begin();
  bool next_slice();
  void forget();
  void read_to(std::int64_t ns);
  void take(const Copy& copy, std::uint32_t index, std::uint64_t row, std::int64_t at_ns);
  std::int64_t row_ns(std::uint64_t row) const { return rows_[row - first_row_].arrival.since_start.count(); }

  std::unique_ptr<Source> trace_;
  std::int64_t jitter_ns_;
  std::int64_t slice_ns_ = 0;
  std::vector<Copy> copies_;

  std::vector<Request> rows_;  ///< of the trace, from number `first_row_`
  std::uint64_t first_row_ = 0;
  std::vector<Request> batch_;
  bool trace_ended_ = false;
  bool begun_ = false;

  std::int64_t slice_start_ns_ = 0;
  std::vector<Entry> slice_;
  std::size_t given_ = 0;
};

}  // namespace capstan::workload
