#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "workload/source.h"
#include "workload/time_sorter.h"

namespace capstan::workload {

/// Scales the load of a trace by superposing copies of it: floor(scale) whole copies and one thinned copy for the
/// fraction, in which each row is kept with that probability.
///
/// The first copy keeps its times. Every other copy is shifted as a whole by its own draw from [-jitter, +jitter], so
/// that bursts keep their shape but do not coincide. Rows that a shift would move before the start are mirrored at the
/// start, so that the first minutes are neither empty nor crowded. Each copy has its own prefixes
/// (`Request::prefix_salt`); the client numbers are the same in all copies.
///
/// The trace is read once. The memory holds the rows of a period of 2 * jitter and the requests of one time slice.
class SuperposedTrace final : public Source {
 public:
  SuperposedTrace(std::unique_ptr<Source> trace, std::int64_t scale_ppm, Duration jitter, std::uint64_t seed);

  bool next(Request& request) override;
  std::size_t fill(std::span<Request> out) override;
  std::optional<Error> error() const override { return trace_->error(); }
  double progress() const override { return trace_->progress(); }

 private:
  /// Position of one copy in the rows of the trace. The copy has returned all rows before `cursor`, except for mirrored
  /// rows that are still to come.
  struct Copy {
    std::int64_t shift_ns = 0;
    std::uint64_t salt = 0;
    std::uint64_t cursor = 0;    ///< next row in order, by its number in the trace
    std::uint64_t mirrored = 0;  ///< one past the next row to mirror at the start; mirrored rows come in reverse order
    std::uint64_t keep_below = 0;  ///< a row is kept if its draw is below this value; 0: all rows are kept
  };
  struct Entry {
    std::int64_t at_ns;
    std::uint32_t copy;
    std::uint64_t row;
  };

  void start();
  bool next_slice();
  void drop_old_rows();
  void read_to(std::int64_t ns);
  void add_to_slice(const Copy& copy, std::uint32_t index, std::uint64_t row, std::int64_t at_ns);
  std::int64_t row_ns(std::uint64_t row) const { return rows_[row - first_row_].arrival.since_start.count(); }

  std::unique_ptr<Source> trace_;
  std::int64_t jitter_ns_;
  std::int64_t slice_ns_ = 0;
  std::vector<Copy> copies_;

  std::vector<Request> rows_;  ///< rows of the trace, from number `first_row_` on
  std::uint64_t first_row_ = 0;
  std::vector<Request> batch_;
  bool trace_ended_ = false;
  bool started_ = false;

  std::int64_t slice_start_ns_ = 0;
  TimeSorter<Entry> sorter_;
  std::vector<Entry> slice_;
  std::size_t returned_ = 0;
};

}  // namespace capstan::workload
