#include "emulator/engine.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "base/known_row.h"

namespace capstan::emulator {

Engine::Engine(const EngineSettings& settings, Instant started)
    : settings_(settings),
      started_(started),
      replica_(settings.replica, *settings.model, started + settings.refusing + settings.loading),
      metrics_(settings.dialect) {}

Phase Engine::phase(Instant now) const {
  if (now < accepts_from()) return Phase::refusing;
  return now < accepts_from() + settings_.loading ? Phase::loading : Phase::ready;
}

std::expected<RequestId, Refusal> Engine::submit(Generation generation, Instant now) {
  if (phase(now) != Phase::ready) return std::unexpected(Refusal::not_ready);
  const RequestId id = next_id_++;
  Request& request = requests_[id];
  request.generation = std::move(generation);
  request.arrived = now;
  const sim::OfferOutcome outcome =
      replica_.offer({.id = id,
                      .input_tokens = static_cast<std::int32_t>(request.generation.prompt.tokens),
                      .output_tokens = request.generation.output_tokens,
                      .prefix_hashes = request.generation.prompt.prefix_hashes},
                     now);
  if (outcome.result != sim::OfferResult::accepted) {
    requests_.erase(id);
    const bool full = outcome.result == sim::OfferResult::queue_full;
    return std::unexpected(full ? Refusal::queue_full : Refusal::too_long);
  }
  request.slot = outcome.slot;
  queue_.push_back(id);
  record_scheduled(now);  // an idle replica begins a step at once
  update_next_event(now);
  return id;
}

void Engine::abort(RequestId id, Instant now) {
  const auto found = requests_.find(id);
  if (found == requests_.end()) return;
  Request& request = found->second;
  if (request.in_replica) {
    std::erase(queue_, id);
    std::erase(streams_, id);
    replica_.cancel(request.slot, id, now);
    hashes_of_aborted_.push_back({std::move(request.generation.prompt.prefix_hashes), replica_.step_end(now)});
    record_scheduled(now);
  }
  ++metrics_.aborted;
  requests_.erase(found);
  update_next_event(now);
}

void Engine::advance(Instant to, std::vector<Progress>& out) {
  while (replica_.next_event() <= to) run_event(replica_.next_event());
  std::erase_if(hashes_of_aborted_, [&](const AbortedHashes& hashes) { return hashes.until <= to; });
  report_streams(to);
  while (!in_front_end_.empty() && in_front_end_.front().at <= to) {
    const Progress progress = in_front_end_.front();
    in_front_end_.pop_front();
    if (!requests_.contains(progress.id)) continue;  // aborted
    out.push_back(progress);
    count_received(progress);
  }
  update_next_event(to);
}

/// Runs the replica's event at `at`: the end of a step or of a series of steps.
void Engine::run_event(Instant at) {
  emissions_.clear();
  replica_.advance(at, emissions_);
  record_steps(at);
  for (const sim::Emission& emission : emissions_) {
    const auto found = requests_.find(emission.id);
    if (found == requests_.end()) continue;
    Request& request = found->second;
    switch (emission.kind) {
      case sim::EmissionKind::first_token:
        request.first = emission.at;
        if (request.generation.progress_every > 0) streams_.push_back(emission.id);
        report(emission.at, emission.id, 1, false);
        break;
      case sim::EmissionKind::finished:
      case sim::EmissionKind::handed_over:
        request.first = std::min(request.first, emission.at);
        request.in_replica = false;
        std::erase(streams_, emission.id);
        report(emission.at, emission.id, request.generation.output_tokens, true);
        break;
      case sim::EmissionKind::preempted:
        queue_.push_front(emission.id);
        break;
    }
  }
  record_scheduled(at);
}

/// Records the first step of the requests that the replica has admitted. It admits from the front of its queue, so
/// these are the requests at the front of `queue_` that the replica no longer counts as waiting.
void Engine::record_scheduled(Instant at) {
  CAPSTAN_ASSERT(std::cmp_greater_equal(queue_.size(), replica_.waiting()));
  while (std::cmp_greater(queue_.size(), replica_.waiting())) {
    Request& request = known_row(requests_, queue_.front());
    request.scheduled = std::min(request.scheduled, at);
    queue_.pop_front();
  }
}

/// Records the time between tokens of the steps since the last call. All steps have the same batch, so their mean is
/// used for each of them.
void Engine::record_steps(Instant at) {
  const sim::ReplicaSample sample = replica_.sample(at);
  const std::int64_t tokens = sample.inter_token_count - std::exchange(inter_token_count_, sample.inter_token_count);
  const Duration total = sample.inter_token_total - std::exchange(inter_token_total_, sample.inter_token_total);
  if (tokens > 0) metrics_.inter_token.add(total / tokens, tokens);
}

void Engine::report_streams(Instant now) {
  for (const RequestId id : streams_) {
    const Request& request = known_row(requests_, id);
    const std::int32_t tokens = replica_.generated(request.slot, now);
    if (tokens - request.reported_tokens >= request.generation.progress_every) report(now, id, tokens, false);
  }
}

void Engine::report(Instant at, RequestId id, std::int32_t tokens, bool finished) {
  known_row(requests_, id).reported_tokens = tokens;
  in_front_end_.push_back({at + settings_.front_end, id, tokens, finished});
}

/// Counts progress that a client has just received.
void Engine::count_received(const Progress& progress) {
  const Request& request = known_row(requests_, progress.id);
  if (progress.tokens == 1) metrics_.ttft.add(progress.at - request.arrived);
  if (!progress.finished) return;
  const Instant last = progress.at - settings_.front_end;
  metrics_.e2e.add(progress.at - request.arrived);
  metrics_.queue.add(request.scheduled - request.arrived);
  metrics_.prefill.add(request.first - request.scheduled);
  metrics_.decode.add(last - request.first);
  metrics_.inference.add(last - request.scheduled);
  metrics_.token_mean.add((last - request.first) / std::max(progress.tokens - 1, 1));  // 0 for one token, as in vLLM
  metrics_.prompt_tokens.add(request.generation.prompt.tokens);
  metrics_.generated_tokens.add(progress.tokens);
  ++(request.generation.stops ? metrics_.stopped : metrics_.reached_limit);
  requests_.erase(progress.id);
}

void Engine::update_next_event(Instant now) {
  next_event_ = streams_.empty() ? replica_.next_event() : replica_.step_end(now);
  if (!in_front_end_.empty()) next_event_ = std::min(next_event_, in_front_end_.front().at);
}

}  // namespace capstan::emulator
