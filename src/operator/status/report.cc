#include "operator/status/report.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "base/known_row.h"
#include "explain/words.h"
#include "operator/snapshot/catalog_builder.h"
#include "operator/snapshot/engine_prior.h"
#include "operator/view/competing_controllers.h"

namespace capstan::op {
namespace {

using model::ReasonCode;

StatusCondition verdict(const char* type, ConditionStatus status, const char* reason, std::string message) {
  return {type, status, reason, std::move(message)};
}

std::string target_words(const InferenceScaler& scaler, const kube::TargetRef& target) {
  return target.kind + " " + kube::key_of(scaler.meta.ns, target.name);
}

/// Tables that the reports of all scalers share.
struct Lookups {
  explicit Lookups(const ReportSources& from)
      : targets(from.view), competitors(from.view), names(from.world.objects().names()) {
    if (from.world.snapshot().catalog != nullptr) {
      summarizer.emplace(from.world.snapshot(), names, from.controller.place_decision(),
                         from.controller.provision_decision());
    }
    from.world.snapshot().gangs.for_each([&](model::GangId id, const model::Gang& gang) {
      if (gang.service.valid()) gangs[gang.service].push_back(id);
    });
  }
  Targets targets;
  CompetingControllers competitors;
  model::Names names;
  std::optional<explain::Summarizer> summarizer;  // none before the first decision
  std::map<model::ServiceId, std::vector<model::GangId>> gangs;
};

/// Makes the report of one scaler.
class Reporter {
 public:
  Reporter(const ReportSources& from, const Lookups& lookups, const InferenceScaler& scaler)
      : from_(from), lookups_(lookups), scaler_(scaler) {}

  ScalerReport report() {
    out_.ns = scaler_.meta.ns;
    out_.name = scaler_.meta.name;
    out_.uid = scaler_.meta.uid;
    out_.generation = scaler_.meta.generation;
    out_.mode = std::min(fleet_mode(from_.view), scaler_.mode);
    out_.policy = scaler_.policy;
    for (const ScalerTarget& target : targets_of(scaler_)) add(target);
    conclude();
    return std::move(out_);
  }

 private:
  void add(const ScalerTarget& target) {
    const kube::TargetRef& ref = target.variant->target;
    TargetReport& row = out_.targets.emplace_back();
    row.name = ref.name;
    row.role = target.role->role;
    const auto& services = from_.world.objects().services();
    const auto service = std::ranges::find_if(services, [&](const auto& entry) {
      return entry.second.scaler_uid == scaler_.meta.uid && entry.second.position + 1 == out_.targets.size();
    });
    const kube::Workload* workload = lookups_.targets.find(scaler_.meta.ns, ref);
    if (workload == nullptr) return note_missing_target(target);
    row.current = row.recommended = row.desired = workload->replicas;
    if (const std::string_view competitor = lookups_.competitors.find(scaler_.meta.ns, ref); !competitor.empty()) {
      conflict(target, std::string(competitor));
    }
    if (service != services.end() && is_decided(service->first)) {
      return decided(service->first, service->second, target, row);
    }
    if (out_.mode != Mode::off) conflict(target, holder_of(ref));
  }

  bool is_decided(model::ServiceId id) const { return from_.world.snapshot().services.find(id) != nullptr; }

  /// Returns the scaler that already scales a target which this scaler names too.
  std::string holder_of(const kube::TargetRef& target) const {
    for (const auto& [id, origin] : from_.world.objects().services()) {
      const bool same = origin.ns == scaler_.meta.ns && origin.target.kind == target.kind &&
                        origin.target.name == target.name && is_decided(id);
      if (same) return "InferenceScaler " + kube::key_of(origin.ns, origin.scaler) + ", which is older";
    }
    return "another InferenceScaler";
  }

  void decided(model::ServiceId id, const ServiceOrigin& origin, const ScalerTarget& target, TargetReport& row) {
    out_.mode = std::min(out_.mode, origin.mode);
    const decide::scale::Decision& decision = from_.controller.scale_decision(id);
    if (decision.service.valid()) {
      row.recommended = decision.desired;
      row.why = decision.why;
      if (lookups_.summarizer) {
        const bool acts = out_.mode == Mode::active;
        row.summary =
            lookups_.summarizer->service(decision, acts ? explain::Environment::active : explain::Environment::shadow);
      }
      if (origin.mode == Mode::active) row.desired = decision.desired;
    }
    const std::vector<control::SloMemory>& slo = from_.controller.memory().slo;
    if (id.value < slo.size() && slo[id.value].rolled_back() && !breach_) breach_ = {row.name, slo[id.value]};
    needed_ = decide::scale::needed_signals(known_row(from_.world.objects().policies(), id.value));
    if (const auto gangs = lookups_.gangs.find(id); gangs != lookups_.gangs.end()) {
      for (const model::GangId gang : gangs->second) count(gang, row);
    }
    const model::Catalog& catalog = *from_.world.snapshot().catalog;
    const EnginePrior prior = engine_prior(catalog, catalog.service(id).workload, origin.gpu_known);
    if (!prior_ || prior_->known) prior_ = prior;
    if (!prior.known && prior_field_.empty()) prior_field_ = variant_field(target) + ".";
    if (const auto ledger = from_.ledgers.find(origin.key()); ledger != from_.ledgers.end()) {
      out_.ledger.add(ledger->second);
    }
  }

  void count(model::GangId id, TargetReport& row) {
    using Phase = model::Gang::Phase;
    const model::Gang& gang = from_.world.snapshot().gangs.at(id);
    const model::ReplicaSignals& signals = from_.world.snapshot().signals_of(id);
    if (gang.phase == Phase::draining) ++row.draining;
    if (gang.phase == Phase::pending || gang.phase == Phase::starting) ++row.starting;
    if (gang.phase != Phase::ready) return;
    ++row.ready;
    const bool fresh =
        std::ranges::all_of(needed_, [&](model::SignalField field) { return (signals.*field).usable(); });
    fresh ? ++out_.fresh : ++out_.missing;
    if (!fresh && trouble_.empty()) trouble_ = trouble_of(gang);
    if (!fresh) return;
    for (const model::SignalField field : needed_) {
      out_.oldest = std::max(out_.oldest.value_or(Duration{}), (signals.*field).age);
    }
  }

  /// Returns the field of the variant: "spec.roles[0].variants[1]".
  static std::string variant_field(const ScalerTarget& target) {
    return target.field.substr(0, target.field.rfind('.'));
  }

  std::string trouble_of(const model::Gang& gang) const {
    if (const auto own = from_.troubles.find(scaler_.meta.uid); own != from_.troubles.end()) return own->second;
    const ObjectKey* pod = from_.world.objects().pod(gang.pods.front());
    const auto found = pod == nullptr ? from_.troubles.end() : from_.troubles.find(pod->uid);
    return found == from_.troubles.end() ? std::string() : found->second;
  }

  /// Records the reason why a target was not found.
  void note_missing_target(const ScalerTarget& target) {
    const kube::TargetRef& ref = target.variant->target;
    const std::string group = ref.api_version.contains('/') ? ref.api_version.substr(0, ref.api_version.find('/')) : "";
    const kube::ServedResource* kind = from_.served.find_kind(group, ref.kind);
    const auto trouble = from_.view.scaled->troubles.find(target_key(ref.kind, scaler_.meta.ns, ref.name));
    if (kind == nullptr) {
      target_problem_ = {"NoSuchKind", target.field + ": the API server has no kind " + ref.kind + " in " +
                                           ref.api_version +
                                           ": install its CustomResourceDefinition or correct targetRef"};
    } else if (!kind->has_subresource("scale")) {
      target_problem_ = {"NoScaleSubresource", target.field + ": " + ref.kind +
                                                   " has no /scale subresource: name a Deployment, StatefulSet, "
                                                   "LeaderWorkerSet or another kind that has one"};
    } else if (trouble != from_.view.scaled->troubles.end()) {
      target_problem_ = {"ScaleNotRead", target.field + ": " + target_words(scaler_, ref) + ": " + trouble->second};
    } else {
      target_problem_ = {"TargetNotFound", target.field + ": " + target_words(scaler_, ref) +
                                               " does not exist: create it or correct targetRef"};
    }
  }

  void conflict(const ScalerTarget& target, const std::string& who) {
    if (conflict_.empty()) {
      conflict_ = target.field + ": " + target_words(scaler_, target.variant->target) + " is also scaled by " + who +
                  ": remove one of the two; until then this InferenceScaler does not scale it";
    }
  }

  void conclude() {
    std::vector<StatusCondition> rest;
    const bool found = target_problem_.second.empty();
    const bool silent = out_.missing > 0;
    rest.push_back(
        found ? verdict("TargetsFound", ConditionStatus::yes, "Found", "")
              : verdict("TargetsFound", ConditionStatus::no, target_problem_.first.c_str(), target_problem_.second));
    rest.push_back(silent           ? verdict("SignalsFresh", ConditionStatus::no, "SignalMissing", trouble_)
                   : out_.fresh > 0 ? verdict("SignalsFresh", ConditionStatus::yes, "Fresh", "")
                                    : verdict("SignalsFresh", ConditionStatus::unknown, "NoReplicaServes", ""));
    rest.push_back(conflict_.empty() ? verdict("Conflict", ConditionStatus::no, "None", "")
                                     : verdict("Conflict", ConditionStatus::yes, "ScaledByAnother", conflict_));
    rest.push_back(verdict("Active", out_.mode == Mode::active ? ConditionStatus::yes : ConditionStatus::no,
                           conflict_.empty() ? std::string(name_of(out_.mode)).c_str() : "Conflict", ""));
    rest.push_back(slo());
    rest.push_back(engine_known());
    rest.push_back(slo_breach());
    rest.push_back(limit());
    out_.verdicts.push_back(
        !scaler_.fault.empty() ? verdict("Ready", ConditionStatus::no, "InvalidSpec", scaler_.fault)
        : !found ? verdict("Ready", ConditionStatus::no, target_problem_.first.c_str(), target_problem_.second)
        : !conflict_.empty() ? verdict("Ready", ConditionStatus::no, "Conflict", conflict_)
        : silent             ? verdict("Ready", ConditionStatus::no, "SignalMissing", trouble_)
                             : verdict("Ready", ConditionStatus::yes, "Decided", ""));
    std::ranges::move(rest, std::back_inserter(out_.verdicts));
  }

  /// Returns the condition SLOMet. It compares the SLO with the 99th percentile of the time to the first token that the
  /// engine of the slowest replica reports.
  StatusCondition slo() const {
    const auto seen = from_.ttft_us.find(scaler_.meta.uid);
    if (scaler_.slo.ttft == Duration{} || seen == from_.ttft_us.end()) {
      return verdict("SLOMet", ConditionStatus::unknown, "NotMeasured", "");
    }
    const std::string text = "on the slowest replica the 99th percentile of the time to first token is " +
                             explain::time_text(std::chrono::microseconds(seen->second)) + ", the SLO is " +
                             explain::time_text(scaler_.slo.ttft);
    const bool met = std::chrono::microseconds(seen->second) <= scaler_.slo.ttft;
    return verdict("SLOMet", met ? ConditionStatus::yes : ConditionStatus::no, met ? "Met" : "TooSlow", text);
  }

  /// Returns the condition EngineKnown: True if the engine table has a row for every target. The message is about the
  /// first target without one.
  StatusCondition engine_known() const {
    if (scaler_.policy != InferenceScaler::Policy::capstan) {
      return verdict("EngineKnown", ConditionStatus::unknown, "NotUsed",
                     "policy " + std::string(name_of(scaler_.policy)) + " does not use the engine table");
    }
    if (!prior_) return verdict("EngineKnown", ConditionStatus::unknown, "NothingDecided", "");
    return verdict("EngineKnown", prior_->known ? ConditionStatus::yes : ConditionStatus::no, prior_->reason.c_str(),
                   prior_field_ + prior_->message);
  }

  /// Returns the condition SLOBreach: whether a roll-back is in force, since when, and how a person ends it.
  StatusCondition slo_breach() const {
    if (!breach_) return verdict(kSloBreach.data(), ConditionStatus::no, "None", "");
    const auto& [target, memory] = *breach_;
    const auto shown = [](Instant at) {
      return kube::wall_time_seconds({at.since_start / std::chrono::microseconds(1)});
    };
    const std::string since = shown(memory.rolled_back_at);
    const std::string settings = memory.good ? "the settings of " + shown(memory.good->at) + " are in force"
                                             : "no earlier settings are known that held the SLO";
    return verdict(kSloBreach.data(), ConditionStatus::yes, "RolledBack",
                   target + ": the SLO was breached, and the settings were rolled back at " + since + ": " + settings +
                       ". Replicas are not lowered until a person acknowledges the breach: kubectl -n " +
                       scaler_.meta.ns + " annotate isc " + scaler_.meta.name + " --overwrite " +
                       std::string(kSloAcknowledged) + "=" + since);
  }

  StatusCondition limit() const {
    for (const TargetReport& row : out_.targets) {
      const bool limited =
          row.why && (row.why->code == ReasonCode::at_maximum || row.why->code == ReasonCode::at_minimum);
      if (limited) {
        return verdict("AtLimit", ConditionStatus::yes, camel_case(name(row.why->code)).c_str(),
                       row.name + ": " + (row.summary ? explain::one_line(*row.summary) : sentence(*row.why)));
      }
    }
    return verdict("AtLimit", ConditionStatus::no, "None", "");
  }

  const ReportSources& from_;
  const Lookups& lookups_;
  const InferenceScaler& scaler_;
  ScalerReport out_;
  std::vector<model::SignalField> needed_;  // signals that the target in progress needs
  // The estimate for the first target without a row of the engine table. If every target has a row, it is the estimate
  // for the last target.
  std::optional<EnginePrior> prior_;
  std::string prior_field_;
  std::optional<std::pair<std::string, control::SloMemory>> breach_;  // first target with a roll-back, and its memory
  std::string trouble_;
  std::pair<std::string, std::string> target_problem_;  // reason and message
  std::string conflict_;
};

}  // namespace

ReplicaCount ScalerReport::recommended() const {
  ReplicaCount sum = 0;
  for (const TargetReport& target : targets) sum += target.recommended;
  return sum;
}

const TargetReport* ScalerReport::shown_target() const {
  const TargetReport* shown = nullptr;
  for (const TargetReport& target : targets) {
    if (!target.why) continue;
    if (target.recommended != target.current) return &target;
    if (shown == nullptr) shown = &target;
  }
  return shown;
}

std::vector<ScalerReport> reports_of(const ReportSources& sources) {
  const Lookups lookups(sources);
  std::vector<ScalerReport> reports;
  sources.view.scalers.for_each([&](kube::RowId, const InferenceScaler& scaler) {
    reports.push_back(Reporter(sources, lookups, scaler).report());
  });
  return reports;
}

std::string camel_case(std::string_view code) {
  std::string out;
  bool upper = true;
  for (const char c : code) {
    if (c == '_') {
      upper = true;
      continue;
    }
    out += upper && c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
    upper = false;
  }
  return out;
}

}  // namespace capstan::op
