#include "operator/loop/decision_loop.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "base/known_row.h"
#include "operator/loop/slo_breach.h"
#include "operator/memory/remembered_replicas.h"
#include "operator/snapshot/catalog_builder.h"

namespace capstan::op {

DecisionLoop::DecisionLoop(net::Transport& transport, kube::Client& client, net::Clock clock, RandomStream random,
                           ActionExecutor* effects)
    : clock_(clock),
      effects_(effects),
      watch_(client, clock, random),
      sources_(transport, clock),
      standby_builder_(std::make_unique<SnapshotBuilder>()) {}

DecisionLoop::LeaderState::LeaderState(net::Clock clock, ActionExecutor* effects, const ClusterView& view,
                                       const Readings& readings, const Checkpoint& checkpoint, control::Options options)
    : world(std::move(clock), effects, remembered_pods(checkpoint, view)),
      controller((world.set_view(view, readings), world.policies()), world, std::move(options)) {}

void DecisionLoop::run_once() {
  watch_.run_once();
  if (synced_at_.is_never() && watch_.synced()) synced_at_ = clock_();
  if (watch_.synced() && leader_state_ == nullptr && due()) find_serving_replicas();
  sources_.tick();
}

/// Finds the serving replicas before `begin`, so that a standby can ask them for their load.
void DecisionLoop::find_serving_replicas() {
  pass_at_ = clock_();
  pass_version_ = watch_.version();
  view_ = watch_.view();
  const SnapshotBuilder::Output seen = standby_builder_->build(view_, {}, pass_at_);
  sources_.follow(view_, *seen.serving, standby_builder_->services());
}

Instant DecisionLoop::next_deadline() const {
  Instant next = std::min(watch_.next_deadline(), sources_.next_due());
  if (!watch_.synced()) return next;
  const bool changed = watch_.version() != pass_version_;
  next = std::min(next, pass_at_ + (changed ? kPassIntervalMin : kPassIntervalMax));
  if (leader_state_ != nullptr) next = std::min(next, leader_state_->controller.next_tick());
  return next;
}

bool DecisionLoop::due() const {
  const Instant now = clock_();
  const Duration pause = now - pass_at_;
  if (pause >= kPassIntervalMax || (watch_.version() != pass_version_ && pause >= kPassIntervalMin)) return true;
  return leader_state_ != nullptr && now >= leader_state_->controller.next_tick();
}

bool DecisionLoop::ready() const { return waiting_for().empty(); }

std::vector<std::string> DecisionLoop::waiting_for() const {
  std::vector<std::string> lines = watch_.waiting_for();
  if (!lines.empty()) return lines;
  const bool has_listed_replicas = pass_at_ >= synced_at_ && !synced_at_.is_never();
  const bool has_answers =
      has_listed_replicas && (sources_.have_all_answered() || clock_() - synced_at_ >= kFirstAnswersMax);
  if (!has_answers) lines.push_back("the first answer of every replica that serves");
  return lines;
}

void DecisionLoop::begin(const Checkpoint& checkpoint, control::InputObserver input_observer,
                         control::OutcomeObserver outcome_observer) {
  CAPSTAN_ASSERT(watch_.synced() && leader_state_ == nullptr);
  view_ = watch_.view();
  if (effects_ != nullptr) effects_->begin();
  control::Options options{.input_observer = std::move(input_observer),
                           .decider = std::make_unique<control::PolicyDecider>(decide::Options{.detail = detail_}),
                           .outcome_observer = std::move(outcome_observer)};
  leader_state_ =
      std::make_unique<LeaderState>(clock_, effects_, view_, sources_.readings(), checkpoint, std::move(options));
  standby_builder_.reset();
  ledgers_.clear();
  control::Memory memory;
  for (const auto& [id, origin] : leader_state_->world.objects().services()) {
    const auto row = checkpoint.rows.find(origin.key());
    if (row == checkpoint.rows.end()) continue;
    memory.scale.resize(std::max<std::size_t>(memory.scale.size(), id.value + 1));
    memory.scale[id.value] =
        from_checkpoint_row(row->second, leader_state_->world.objects(), leader_state_->world.snapshot());
    memory.slo.resize(memory.scale.size());
    memory.slo[id.value] = row->second.slo;
    ledgers_[origin.key()] = row->second.ledger;
  }
  leader_state_->controller.restore(std::move(memory));
}

void DecisionLoop::end() {
  leader_state_.reset();
  first_tokens_.clear();
  standby_builder_ = std::make_unique<SnapshotBuilder>();
}

void DecisionLoop::decide() {
  pass_at_ = clock_();
  pass_version_ = watch_.version();
  view_ = watch_.view();
  LeaderState& state = *leader_state_;
  const Readings readings = sources_.readings();
  state.world.set_view(view_, readings);
  if (effects_ != nullptr) effects_->set_view(view_, state.world.objects(), readings);
  sources_.follow(view_, state.world.serving(), state.world.objects().services());
  control::Policies policies = state.world.policies();
  add_slo_breach(policies, view_, state.world.objects().services());
  state.controller.set_policies(std::move(policies));
  state.controller.tick();
  account(pass_at_);
  measure(pass_at_);
}

/// Updates, for each scaler, the 99th percentile of the time to the first token at its slowest ready replica.
void DecisionLoop::measure(Instant now) {
  std::map<std::string, FirstTokens> measured;
  const auto& services = leader_state_->world.objects().services();
  const model::Snapshot& snapshot = leader_state_->world.snapshot();
  snapshot.gangs.for_each([&](model::GangId id, const model::Gang& gang) {
    const model::Signal& ttft = snapshot.signals_of(id).ttft_p99_us;
    const auto service = services.find(gang.service);
    if (gang.phase != model::Gang::Phase::ready || service == services.end() || !ttft.usable()) return;
    FirstTokens& slowest = measured[service->second.scaler_uid];
    slowest = {std::max(slowest.p99_us, ttft.value), now};
  });
  for (const auto& [uid, before] : first_tokens_) {
    if (now - before.at < kFirstTokensShown) measured.try_emplace(uid, before);
  }
  first_tokens_ = std::move(measured);
}

/// Adds to the ledgers how many more replicas are recommended than the targets request. The ledger of a deleted target
/// is dropped.
void DecisionLoop::account(Instant now) {
  const ScalersByUid scalers = scalers_by_uid(view_);
  const model::Snapshot& snapshot = leader_state_->world.snapshot();
  std::map<std::string, Ledger> before = std::exchange(ledgers_, {});
  for (const auto& [id, origin] : leader_state_->world.objects().services()) {
    Ledger& ledger = ledgers_[origin.key()] = before[origin.key()];
    const decide::scale::Decision& decision = leader_state_->controller.scale_decision(id);
    if (snapshot.services.find(id) == nullptr || !decision.service.valid()) continue;
    const model::Workload& workload = snapshot.catalog->service(id).workload;
    const std::vector<ScalerTarget> targets = targets_of(*known_row(scalers, origin.scaler_uid));
    const ScalerTarget& target = known_row(targets, origin.position);
    ledger.add(decision.desired - snapshot.services.at(id).desired_replicas, whole_gpus(workload.gpus_per_replica),
               target.variant->replica_price_per_hour, now);
  }
}

Checkpoint DecisionLoop::checkpoint() const {
  Checkpoint checkpoint;
  const control::Memory& memory = leader_state_->controller.memory();
  for (const auto& [id, origin] : leader_state_->world.objects().services()) {
    Checkpoint::Row& row = checkpoint.rows[origin.key()];
    if (id.value < memory.scale.size()) row = to_checkpoint_row(memory.scale[id.value], leader_state_->world.objects());
    if (id.value < memory.slo.size()) row.slo = memory.slo[id.value];
    if (const auto ledger = ledgers_.find(origin.key()); ledger != ledgers_.end()) row.ledger = ledger->second;
  }
  return checkpoint;
}

std::vector<ScalerReport> DecisionLoop::reports() const {
  const std::map<std::string, std::string> troubles = sources_.troubles();
  std::map<std::string, std::int64_t> ttft_us;
  for (const auto& [uid, seen] : first_tokens_) ttft_us[uid] = seen.p99_us;
  return reports_of({.view = view_,
                     .world = leader_state_->world,
                     .controller = leader_state_->controller,
                     .served = watch_.served(),
                     .troubles = troubles,
                     .ledgers = ledgers_,
                     .ttft_us = ttft_us});
}

}  // namespace capstan::op
