#include "workload/generator.h"

#include <algorithm>
#include <utility>

#include "base/hash.h"

namespace capstan::workload {
namespace {

double progress_of(Duration reached, Duration limit) {
  if (limit.count() <= 0) return 1;
  return static_cast<double>(reached.count()) / static_cast<double>(limit.count());
}

/// Draws from an exponential distribution with this mean. The draw is bounded, so that sums stay far from overflow.
Duration exponential(Duration mean, RandomStream& stream) {
  return Duration(static_cast<std::int64_t>(static_cast<double>(mean.count()) * stream.exponential()));
}

}  // namespace

RequestGenerator::RequestGenerator(const GeneratorSpec& spec, Duration limit, double scale, std::uint64_t seed)
    : lengths_spec_(spec.lengths),
      arrivals_(spec.rate, spec.arrivals, scale, seed),
      lengths_(seed, "workload.lengths"),
      limit_(limit) {}

bool RequestGenerator::next(Request& request) {
  const std::optional<Instant> arrival = arrivals_.next(limit_);
  if (!arrival) return false;
  reached_ = arrival->since_start;
  const Lengths lengths = lengths_spec_.draw(lengths_);
  request = {.arrival = *arrival, .input_tokens = lengths.input, .output_tokens = lengths.output};
  return true;
}

std::size_t RequestGenerator::fill(std::span<Request> out) {
  std::size_t count = 0;
  while (count < out.size() && RequestGenerator::next(out[count])) ++count;
  return count;
}

double RequestGenerator::progress() const { return progress_of(reached_, limit_); }

SessionGenerator::SessionGenerator(const GeneratorSpec& spec, Duration limit, double scale, std::uint64_t seed)
    : spec_(spec), arrivals_(spec.rate, spec.arrivals, scale, seed), seed_(seed), limit_(limit) {
  draw_start();
}

SessionGenerator::Session SessionGenerator::plan(std::uint32_t index) {
  const SessionSpec& settings = *spec_.sessions;
  RandomStream stream(seed_, "workload.session", index);
  Session session;
  session.client = index + 1;
  std::int64_t context = settings.system_tokens;
  do {
    const Lengths lengths = spec_.lengths.draw(stream);
    std::int64_t prompt = context + lengths.input;
    if (prompt > settings.max_context) {
      if (!session.turns.empty()) break;
      prompt = settings.max_context;
    }
    const Duration gap = session.turns.empty() ? Duration{} : exponential(settings.turn_gap_mean, stream);
    session.turns.push_back({gap, static_cast<std::int32_t>(prompt), lengths.output});
    context = prompt + lengths.output;
  } while (stream.unit() * settings.turns_mean >= 1);  // continues with probability 1 - 1 / mean: geometric

  const std::span<std::uint64_t> blocks =
      arena_.reserve(static_cast<std::size_t>(session.turns.back().prompt / kPrefixBlockTokens));
  const auto shared = static_cast<std::size_t>(settings.system_tokens / kPrefixBlockTokens);
  const std::uint64_t session_hash = stream.bits();
  const std::uint64_t system_hash = mix64(hash_text("workload.system"));
  for (std::size_t i = 0; i < blocks.size(); ++i) blocks[i] = mix64((i < shared ? system_hash : session_hash) + i);
  session.blocks = blocks;
  return session;
}

void SessionGenerator::begin(Instant at) {
  Session session = plan(sessions_++);
  std::uint32_t slot = static_cast<std::uint32_t>(running_.size());
  if (free_.empty()) {
    running_.emplace_back();
  } else {
    slot = free_.back();
    free_.pop_back();
  }
  due_.push({at, session.client, slot});
  running_[slot] = std::move(session);
}

bool SessionGenerator::next(Request& request) {
  while (start_ && (due_.empty() || *start_ <= due_.top().at)) {
    begin(*start_);
    draw_start();
  }
  if (due_.empty()) return false;
  const DueTurn due = due_.top();
  due_.pop();
  Session& session = running_[due.slot];
  const Turn& turn = session.turns[session.next_turn++];
  const std::span<const std::uint64_t> blocks =
      session.blocks.first(static_cast<std::size_t>(turn.prompt / kPrefixBlockTokens));
  request = {.arrival = due.at,
             .input_tokens = turn.prompt,
             .output_tokens = turn.answer,
             .client = session.client,
             .prefix_hashes = blocks};
  reached_ = due.at.since_start;
  bool continues = session.next_turn < session.turns.size();
  if (continues) {
    const Instant next_turn = due.at + session.turns[session.next_turn].gap;
    continues = next_turn.since_start < limit_;
    if (continues) due_.push({next_turn, session.client, due.slot});
  }
  if (!continues) free_.push_back(due.slot);
  return true;
}

double SessionGenerator::progress() const { return progress_of(reached_, limit_); }

}  // namespace capstan::workload
