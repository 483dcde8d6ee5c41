#include "operator/status/fleet_meter.h"

#include <algorithm>
#include <variant>

#include "explain/summary.h"
#include "model/reason.h"

namespace capstan::op {

void FleetMeter::end() {
  seen_ = 0;
  summed_at_.reset();
  open_.clear();
  waits_.open = 0;
  waiting_.clear();
  queue_lengths_.clear();
}

void FleetMeter::note(const Pass& pass) {
  note_nodes(pass.snapshot);
  note_actions(pass.log);
  note_gangs(pass.snapshot, pass.placed);
  note_costs(pass);
}

void FleetMeter::note_nodes(const model::Snapshot& snapshot) {
  const auto is_ready = [&](const model::Claim& claim) {
    const model::Node* node = snapshot.nodes.find(claim.node);
    return node != nullptr && !node->ready_at.is_never();
  };
  snapshot.claims.for_each([&](model::ClaimId id, const model::Claim& claim) {
    // Measures a claim only if this process saw it before its node was ready.
    if (claim.phase != model::Claim::Phase::failed && !is_ready(claim)) open_.try_emplace(id, claim.requested_at);
  });
  std::erase_if(open_, [&](const auto& entry) {
    const auto& [id, requested_at] = entry;
    const model::Claim* claim = snapshot.claims.find(id);
    if (claim != nullptr && is_ready(*claim)) {
      ++waits_.ready;
      const Instant ready_at = snapshot.nodes.find(claim->node)->ready_at;
      waits_.sum += std::max(std::min(ready_at, snapshot.at) - requested_at, Duration{});
      return true;
    }
    const bool has_failed = claim == nullptr || claim->phase == model::Claim::Phase::failed;
    waits_.failed += has_failed ? 1 : 0;
    return has_failed;
  });
  waits_.open = std::ssize(open_);
}

void FleetMeter::note_actions(const control::ActionLog& log) {
  const auto& entries = log.entries();
  for (auto entry = entries.rbegin(); entry != entries.rend() && entry->number >= seen_; ++entry) {
    const std::string_view reason = model::name(entry->action.why.code);
    if (const auto* launch = std::get_if<model::LaunchNodes>(&entry->action.effect)) {
      actions_[{"launch", reason}] += launch->count;
    } else if (std::holds_alternative<model::TerminateNode>(entry->action.effect)) {
      ++actions_[{"terminate", reason}];
    } else if (std::holds_alternative<model::ReleaseGroup>(entry->action.effect)) {
      ++actions_[{"release_group", reason}];
    }
  }
  seen_ = log.count();
}

void FleetMeter::note_gangs(const model::Snapshot& snapshot, const decide::place::Decision& placed) {
  std::map<model::GangId, Verdict> before = std::exchange(waiting_, {});
  queue_lengths_.clear();
  for (const model::Queue& queue : snapshot.catalog->queues) {
    if (!queue.name.empty()) queue_lengths_[queue.name] = 0;
  }
  for (const decide::place::PlacementResult& verdict : placed.verdicts) {
    const model::Gang* gang = snapshot.gangs.find(verdict.gang);
    if (gang == nullptr || std::ranges::find(kWaitingVerdicts, verdict.kind) == kWaitingVerdicts.end()) continue;
    waiting_[verdict.gang] = verdict.kind;
    const auto earlier = before.find(verdict.gang);
    if (earlier == before.end() || earlier->second != verdict.kind)
      ++deferrals_[static_cast<std::size_t>(verdict.kind)];
    const model::Pod* pod = gang->pods.empty() ? nullptr : snapshot.pods.find(gang->pods.front());
    if (pod != nullptr && pod->queue.valid()) ++queue_lengths_[snapshot.catalog->queue(pod->queue).name];
  }
}

void FleetMeter::note_costs(const Pass& pass) {
  const Instant now = pass.snapshot.at;
  if (summed_at_ && now - *summed_at_ < kCostPeriod) return;
  const bool is_seen = summed_at_ && now - *summed_at_ <= kMaxGap;
  for (auto& [owner, cost] : costs_) {
    if (is_seen) {
      cost.micro_usd_ns +=
          static_cast<unsigned __int128>(cost.per_hour.count) * static_cast<std::uint64_t>((now - *summed_at_).count());
    }
    cost.per_hour = {};
  }
  summed_at_ = now;
  const explain::Summarizer summarizer(pass.snapshot, {}, pass.placed, pass.bought);
  for (const auto& [service, origin] : pass.services) {
    costs_[{origin.ns, origin.scaler}].per_hour += summarizer.states_of(service).held.per_hour;
  }
}

std::map<FleetMeter::Owner, MicroUsd> FleetMeter::costs() const {
  constexpr unsigned __int128 kHour = std::uint64_t{3600} * 1'000'000'000;
  std::map<Owner, MicroUsd> all;
  for (const auto& [owner, cost] : costs_) all[owner] = {static_cast<std::int64_t>(cost.micro_usd_ns / kHour)};
  return all;
}

std::int64_t FleetMeter::waiting(Verdict verdict) const {
  return std::ranges::count(waiting_, verdict, [](const auto& entry) { return entry.second; });
}

}  // namespace capstan::op
