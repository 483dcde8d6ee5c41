#include "operator/memory/checkpoint_store.h"

#include <algorithm>
#include <utility>

namespace capstan::op {

CheckpointStore::CheckpointStore(kube::Client& client, net::Clock clock, std::string ns,
                                 std::function<bool()> may_write)
    : client_(client), clock_(std::move(clock)), ns_(std::move(ns)), may_write_(std::move(may_write)) {}

CheckpointStore::~CheckpointStore() {
  for (const Part& part : parts_) client_.cancel(part.call);
}

void CheckpointStore::start_reading() {
  gathered_ = {};
  refusal_.clear();
  for (std::size_t at = 0; at < parts_.size(); ++at) {
    client_.cancel(parts_[at].call);
    parts_[at] = {};
    ask(at);
  }
}

void CheckpointStore::ask(std::size_t at) {
  parts_[at].call = client_.call(kube::get(place(at)), [this, at](const kube::Outcome& outcome) {
    parts_[at].call = 0;
    answered(at, outcome);
  });
}

void CheckpointStore::answered(std::size_t at, const kube::Outcome& outcome) {
  // A request is repeated after a temporary error, because the services of a missing part would lose their memory.
  const int code = outcome.error.code;
  if (!outcome.ok() && (code == 0 || code == 401 || code == 429 || code >= 500)) {
    parts_[at].retry_at = clock_() + kRetryAfter;
    return;
  }
  parts_[at].read = true;
  kube::JsonDocument document;
  const Result<kube::Json> object = outcome.ok() ? document.parse(outcome.body) : Result<kube::Json>(kube::Json());
  if (outcome.ok() && object) {
    read_config_map(*object, gathered_);
  } else if (!outcome.error.not_found()) {
    refusal_ = checkpoint_name(at) + ": " + outcome.error.text();
  }
}

void CheckpointStore::run_once() {
  for (std::size_t at = 0; at < parts_.size(); ++at) {
    Part& part = parts_[at];
    if (part.read || part.call != 0 || part.retry_at == Instant{} || clock_() < part.retry_at) continue;
    part.retry_at = {};
    ask(at);
  }
}

Instant CheckpointStore::next_deadline() const {
  Instant next = Instant::never();
  for (const Part& part : parts_) {
    if (!part.read && part.retry_at != Instant{}) next = std::min(next, part.retry_at);
  }
  return next;
}

std::optional<Checkpoint> CheckpointStore::read() const {
  const bool all = std::ranges::all_of(parts_, &Part::read);
  return all ? std::optional(gathered_) : std::nullopt;
}

void CheckpointStore::write(const Checkpoint& checkpoint, bool at_once) {
  const Instant now = clock_();
  const auto bodies = to_config_maps(checkpoint, left_out_);
  std::array<Recommended, Checkpoint::kParts> recommended;
  for (const auto& [key, row] : checkpoint.rows) recommended[part_of(key)][key] = row.memory.recommended;
  for (std::size_t at = 0; at < parts_.size(); ++at) {
    Part& part = parts_[at];
    const bool due = at_once || now - part.written_at >= kPeriod || recommended[at] != part.recommended;
    if (part.call != 0 || !due || bodies[at] == part.written) continue;
    part.written = bodies[at];
    part.written_at = now;
    part.recommended = std::move(recommended[at]);
    ++writes_;
    kube::ApiRequest request = kube::apply(place(at), bodies[at], true);  // force: only Capstan owns these ConfigMaps
    request.may_send = may_write_;
    part.call = client_.call(std::move(request), [this, at](const kube::Outcome& outcome) {
      parts_[at].call = 0;
      if (outcome.ok()) return;
      parts_[at].written.clear();
      parts_[at].recommended.clear();
      refusal_ = checkpoint_name(at) + ": " + outcome.error.text();
    });
  }
}

bool CheckpointStore::writing() const {
  return std::ranges::any_of(parts_, [](const Part& part) { return part.call != 0; });
}

}  // namespace capstan::op
