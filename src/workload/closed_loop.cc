#include "workload/closed_loop.h"

#include <utility>

namespace capstan::workload {

ClosedLoop::ClosedLoop(ClosedLoopSpec spec, std::uint64_t seed, std::optional<Duration> duration)
    : spec_(std::move(spec)), duration_(duration), lengths_(seed, "workload.lengths"), think_(seed, "workload.think") {}

std::optional<Request> ClosedLoop::make(Instant now) {
  if (spec_.requests && made_ >= *spec_.requests) return std::nullopt;
  Duration think{};
  if (made_ >= spec_.concurrency) {
    think = spec_.think_time;
    if (spec_.think_exponential) {
      think = Duration(static_cast<std::int64_t>(static_cast<double>(think.count()) * think_.exponential()));
    }
  }
  const Instant arrival = now + think;
  if (duration_ && arrival.since_start >= *duration_) return std::nullopt;
  ++made_;
  const Lengths lengths = spec_.lengths.draw(lengths_);
  return Request{.arrival = arrival, .input_tokens = lengths.input, .output_tokens = lengths.output};
}

}  // namespace capstan::workload
