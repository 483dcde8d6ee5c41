#include "operator/status/status_writer.h"

#include <algorithm>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/hash.h"
#include "base/number_text.h"
#include "model/role_names.h"
#include "operator/status/condition_since.h"

namespace capstan::op {
namespace {

using Json = nlohmann::ordered_json;

std::string text_of(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

std::string hex(std::uint64_t value) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text(16, '0');
  for (std::size_t i = text.size(); i-- > 0; value >>= 4) text[i] = kDigits[value & 15];
  return text;
}

/// Returns the number of an amount: "1043.90" for "1,043.90 USD".
std::string number_of(std::string amount) {
  std::erase(amount, ',');
  return amount.substr(0, amount.find(' '));
}

std::string_view word(ConditionStatus status) {
  constexpr std::string_view kWords[] = {"False", "True", "Unknown"};
  return kWords[static_cast<std::size_t>(status)];
}

Json conditions(const ScalerReport& report, const InferenceScaler& scaler, kube::WallTime wall, bool exact) {
  Json list = Json::array();
  for (const StatusCondition& verdict : report.verdicts) {
    Json row = {{"type", verdict.type},
                {"status", word(verdict.status)},
                {"observedGeneration", report.generation},
                {"reason", verdict.reason}};
    // A message may hold a number that changes with every scrape. Only a change of the state is worth a write.
    if (exact) row["message"] = verdict.message;
    if (exact) {
      row["lastTransitionTime"] =
          condition_since(scaler.conditions, verdict.type, verdict.status == ConditionStatus::yes,
                          verdict.status == ConditionStatus::no, wall);
    }
    list.push_back(std::move(row));
  }
  return list;
}

Json targets(const ScalerReport& report) {
  Json list = Json::array();
  for (const TargetReport& target : report.targets) {
    Json row = {{"name", target.name},
                {"role", model::name(target.role)},
                {"current", target.current},
                {"starting", target.starting},
                {"ready", target.ready},
                {"draining", target.draining},
                {"recommended", target.recommended},
                {"desired", target.desired}};
    if (target.why) row["reason"] = model::name(target.why->code);
    list.push_back(std::move(row));
  }
  return list;
}

Json sums(const ScalerReport& report) {
  ReplicaCount current = 0, ready = 0, desired = 0;
  for (const TargetReport& target : report.targets) {
    current += target.current;
    ready += target.ready;
    desired += target.desired;
  }
  return {{"observedGeneration", report.generation},
          {"effectiveMode", name_of(report.mode)},
          {"policy", name_of(report.policy)},
          {"replicas", current},
          {"ready", ready},
          {"recommended", report.recommended()},
          {"desired", desired}};
}

std::string reason_of(const ScalerReport& report) {
  const TargetReport* shown = report.shown_target();
  return shown == nullptr ? std::string() : std::string(model::name(shown->why->code));
}

/// Returns the message about a target: the summary of its last decision in one line, or the reason if there is none.
std::string message_of(const TargetReport& target) {
  return target.summary ? explain::one_line(*target.summary) : target.name + ": " + model::sentence(*target.why);
}

}  // namespace

std::string status_json(const ScalerReport& report, const InferenceScaler& scaler,
                        const InferenceScaler::LastDecision& decision, kube::WallTime wall, bool exact) {
  Json status = sums(report);
  if (const std::string reason = reason_of(report); !reason.empty()) {
    status["reason"] = reason;
    if (exact) status["message"] = message_of(*report.shown_target());
  }
  status["variants"] = targets(report);
  status["signals"] = {{"fresh", report.fresh}, {"missing", report.missing}};
  if (!decision.id.empty()) {
    status["lastDecision"] = {{"id", decision.id},
                              {"time", decision.time},
                              {"recommended", decision.recommended},
                              {"reason", decision.reason}};
  }
  status["conditions"] = conditions(report, scaler, wall, exact);
  if (!exact) return text_of(status);
  if (report.oldest) {
    status["signals"]["oldestSeconds"] = whole_seconds(*report.oldest);
  }
  if (!report.ledger.since().is_never()) {
    const kube::WallTime begun{report.ledger.since().since_start / std::chrono::microseconds(1)};
    status["ledger"] = {{"since", kube::wall_time_seconds(begun)},
                        {"gpuHours", decimal_text(report.ledger.gpu_hours_milli())},
                        {"usd", number_of(usd_text(report.ledger.cost()))},
                        {"gpuHoursMilli", report.ledger.gpu_hours_milli()},
                        {"microUsd", report.ledger.cost().count}};
  }
  return text_of(status);
}

/// Returns an Event when a roll-back begins and when it ends.
std::optional<kube::EventNote> StatusWriter::roll_back(const ScalerReport& report, ScalerState& state) const {
  const auto verdict = std::ranges::find(report.verdicts, kSloBreach, &StatusCondition::type);
  const bool now = verdict != report.verdicts.end() && verdict->status == ConditionStatus::yes;
  if (std::exchange(state.rolled_back, now) == now) return std::nullopt;
  return kube::EventNote{
      .api_version = kInferenceScalers.api_version(),
      .kind = kInferenceScalers.kind,
      .ns = report.ns,
      .name = report.name,
      .uid = report.uid,
      .warning = now,
      .reason = now ? "SloRollBack" : "SloAcknowledged",
      .action = "RollBack",
      .note =
          now ? verdict->message : "the SLO breach was acknowledged: the settings of the InferenceScaler apply again"};
}

/// Returns an Event if the recommendation differs from the last one. A change of the reason alone renews only the last
/// decision in the status.
std::optional<kube::EventNote> StatusWriter::decide(const ScalerReport& report, ScalerState& state,
                                                    kube::WallTime wall) const {
  const TargetReport* shown = report.shown_target();
  if (shown == nullptr) return std::nullopt;
  const ReplicaCount recommended = report.recommended();
  const std::string reason = reason_of(report);
  InferenceScaler::LastDecision& last = state.decision;
  if (!last.id.empty() && last.recommended == recommended && last.reason == reason) return std::nullopt;
  const bool changed = last.id.empty() ? shown->recommended != shown->current : last.recommended != recommended;
  StateHash hash;
  hash.add(report.uid);
  hash.add(static_cast<std::uint64_t>(wall.unix_us));
  last = {.id = hex(hash.value()), .time = kube::wall_time_seconds(wall), .reason = reason, .recommended = recommended};
  if (!changed) return std::nullopt;
  const bool acts = report.mode == Mode::active;
  return kube::EventNote{.api_version = kInferenceScalers.api_version(),
                         .kind = kInferenceScalers.kind,
                         .ns = report.ns,
                         .name = report.name,
                         .uid = report.uid,
                         .warning = false,
                         .reason = camel_case(reason),
                         .action = acts ? "Scale" : "Recommend",
                         .note = message_of(*shown)};
}

StatusWriter::Output StatusWriter::update(const std::vector<ScalerReport>& reports, const ClusterView& view,
                                          Instant now, kube::WallTime wall) {
  const ScalersByUid scalers = scalers_by_uid(view);
  Output out;
  for (auto& [uid, state] : scaler_states_) state.seen = false;
  for (const ScalerReport& report : reports) {
    const auto scaler = scalers.find(report.uid);
    if (scaler == scalers.end()) continue;
    const auto [at, inserted] = scaler_states_.try_emplace(report.uid);
    ScalerState& state = at->second;
    if (inserted) {  // continue from the status that a predecessor wrote
      state.decision = scaler->second->last_decision;
      const kube::Condition* breach = kube::find_condition(scaler->second->conditions, kSloBreach);
      state.rolled_back = breach != nullptr && breach->is_true;
    }
    state.seen = true;
    if (const auto note = roll_back(report, state)) out.notes.push_back(*note);
    if (const auto note = decide(report, state, wall)) out.notes.push_back(*note);
    const std::string content = status_json(report, *scaler->second, state.decision, wall, false);
    const Duration pause = now - state.written_at;
    const bool due = inserted || (content != state.written ? pause >= kMinInterval : pause >= kRefresh);
    if (state.in_flight || !due) continue;
    state.written = content;
    state.written_at = now;
    state.in_flight = true;
    ++writes_;
    const std::string status = status_json(report, *scaler->second, state.decision, wall, true);
    // The apply is forced, because no other program writes this status.
    out.writes.push_back(
        {report.uid, kube::apply_status({kInferenceScalers, report.ns, report.name}, report.uid, status)});
  }
  std::erase_if(scaler_states_, [](const auto& entry) { return !entry.second.seen; });
  return out;
}

void StatusWriter::answered(const std::string& uid, bool written) {
  const auto found = scaler_states_.find(uid);
  if (found == scaler_states_.end()) return;
  found->second.in_flight = false;
  if (!written) found->second.written.clear();
}

}  // namespace capstan::op
