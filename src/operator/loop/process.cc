#include "operator/loop/process.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "base/unit_text.h"
#include "explain/words.h"
#include "operator/act/actuator.h"

namespace capstan::op {
namespace {

using Level = LogLine::Level;

constexpr std::string_view kLease = "capstan";

std::string scaler_words(const ScalerReport& report) {
  return "InferenceScaler " + kube::key_of(report.ns, report.name);
}

}  // namespace

Process::Process(Dependencies dependencies, Options options, Log log)
    : dependencies_(std::move(dependencies)),
      log_(std::move(log)),
      election_({.lease = {kube::resources::kLeases, options.ns, std::string(kLease)}, .identity = options.identity},
                RandomStream(dependencies_.random.bits(), "election")),
      events_({.instance = options.identity}),
      own_executor_(dependencies_.effects != nullptr ? nullptr
                                                     : std::make_unique<Actuator>(Actuator::Dependencies{
                                                           .client = dependencies_.client,
                                                           .clock = dependencies_.clock,
                                                           .wall = dependencies_.wall,
                                                           .fence = [this] { return permit(); },
                                                           .random = RandomStream(dependencies_.random.bits(), "act"),
                                                           .identity = options.identity})),
      loop_(dependencies_.transport, dependencies_.client, dependencies_.clock,
            RandomStream(dependencies_.random.bits(), "watch"), &effects()),
      checkpoint_(dependencies_.client, dependencies_.clock, options.ns, [this] { return leads(); }),
      identity_(options.identity) {
  loop_.set_detail(options.detail);
}

Process::~Process() {
  for (const kube::Client::CallId id : calls_) dependencies_.client.cancel(id);
}

bool Process::leads() const { return election_.may_write(dependencies_.clock()); }

/// Returns which writes to objects of other programs are allowed. It reads the kill switch from the watch, which is
/// newer than the view of the last decision.
actuate::Permit Process::permit() const {
  if (shutdown_phase_ != ShutdownPhase::not_yet || !leads()) return actuate::Permit::none;
  if (fleet_halted(loop_.watch().fleet())) return actuate::Permit::finish;
  return is_view_fresh() ? actuate::Permit::all : actuate::Permit::stale_view;
}

bool Process::is_view_fresh() const { return loop_.watch().oldest(dependencies_.clock()) <= ClusterWatch::kMaxAge; }

std::map<std::string, Duration> Process::too_old() const {
  std::map<std::string, Duration> ages = loop_.watch().ages(dependencies_.clock());
  std::erase_if(ages, [](const auto& kind) { return kind.second <= ClusterWatch::kMaxAge; });
  return ages;
}

bool Process::stopped() const { return shutdown_phase_ == ShutdownPhase::done; }

void Process::run_once() {
  if (shutdown_phase_ == ShutdownPhase::not_yet) elect();
  loop_.run_once();
  checkpoint_.run_once();
  log_refusals();
  log_view_ages();
  if (!is_sync_logged_ && loop_.synced()) {
    is_sync_logged_ = true;
    log_({.level = Level::info, .message = "all objects are known"});
  }
  if (shutdown_phase_ == ShutdownPhase::not_yet) {
    follow_lead();
    if (loop_.begun() && leads() && loop_.due()) decide();
  } else {
    end_in_order();
  }
  send_events();
  effects().run_once();
  dependencies_.client.run_once();
}

Instant Process::next_deadline() const {
  Instant next = std::min({election_.next_deadline(), loop_.next_deadline(), checkpoint_.next_deadline(),
                           dependencies_.client.next_deadline(), effects().next_deadline(), end_by_});
  if (leads()) next = std::min({next, events_.next_deadline(), election_.deadline()});
  return next;
}

/// Sends a request. The destructor of the process cancels it if there is no answer yet.
void Process::call(kube::ApiRequest request, kube::Client::Handler handler) {
  const auto id = std::make_shared<kube::Client::CallId>(0);
  *id = dependencies_.client.call(std::move(request), [this, id, handler = std::move(handler)](kube::Outcome outcome) {
    calls_.erase(*id);
    handler(std::move(outcome));
  });
  calls_.insert(*id);
}

/// Sends a write, unless the Lease has expired in the meantime.
void Process::write(kube::ApiRequest request, kube::Client::Handler handler) {
  request.may_send = [this] { return leads(); };
  call(std::move(request), std::move(handler));
}

void Process::elect() {
  if (std::optional<kube::ApiRequest> request = election_.poll(dependencies_.clock(), dependencies_.wall())) {
    call(std::move(*request),
         [this](const kube::Outcome& outcome) { election_.answered(outcome, dependencies_.clock()); });
  }
}

/// Begins to decide once this process leads, has read the checkpoint of its predecessor, and `DecisionLoop::ready` is
/// true. When the Lease is lost, stops deciding and forgets the memory and the reports.
void Process::follow_lead() {
  if (leads() != leading_) {
    leading_ = leads();
    log_({.level = leading_ ? Level::info : Level::warning,
          .message = leading_ ? "this process leads: it decides and writes"
                              : "this process no longer leads: without the Lease it writes nothing"});
    if (leading_) {
      checkpoint_.start_reading();
    } else {
      loop_.end();
      reports_.clear();
      meter_.end();
      fleet_status_.forget();
      queue_status_.forget();
    }
  }
  if (!leading_ || loop_.begun() || !loop_.ready()) return;
  if (const std::optional<Checkpoint> checkpoint = checkpoint_.read()) {
    log_({.level = Level::info,
          .message = "starts to decide with the checkpoint of " +
                     count_text(std::ssize(checkpoint->rows), "target", "targets")});
    loop_.begin(*checkpoint, dependencies_.input_observer, dependencies_.outcome_observer);
  }
}

void Process::decide() {
  loop_.decide();
  const control::Controller& controller = loop_.controller();
  meter_.note({.snapshot = loop_.world().snapshot(),
               .log = controller.log(),
               .placed = controller.place_decision(),
               .bought = controller.provision_decision(),
               .services = loop_.world().objects().services()});
  reports_ = loop_.reports();
  show();
  show_gangs();
  show_fleet();
  show_queues();
  log_readiness();
  checkpoint_.write(loop_.checkpoint(), false);
}

void Process::show() {
  StatusWriter::Output out = status_.update(reports_, loop_.view(), dependencies_.clock(), dependencies_.wall());
  for (StatusWriter::Write& write : out.writes) {
    this->write(std::move(write.request), [this, uid = write.uid](const kube::Outcome& outcome) {
      status_.answered(uid, outcome.ok());
      if (!outcome.ok() && !outcome.error.not_found()) {
        log_({.level = Level::warning,
              .message = "the status of an InferenceScaler was not written: " + outcome.error.text()});
      }
    });
  }
  for (const kube::EventNote& event : out.notes) note(event);
}

/// Records an Event and logs it.
void Process::note(const kube::EventNote& note) {
  log_({.level = Level::info,
        .message = note.note,
        .object = note.kind + " " + kube::key_of(note.ns, note.name),
        .reason = note.reason});
  events_.record(note, dependencies_.clock(), dependencies_.wall());
}

/// Writes Events, and the condition PodScheduled of pods, to show why gangs are pending. Pods belong to other programs,
/// so the kill switch also stops the writes to them.
void Process::show_gangs() {
  const Mode placement = fleet_policy(loop_.view().fleet).placement;
  GangVerdictWriter::Output out = gang_verdicts_.update(gang_verdicts(loop_.view(), loop_.world(), loop_.controller()),
                                                        placement, dependencies_.wall());
  for (kube::ApiRequest& request : out.writes) {
    request.may_send = [this] { return permit() == actuate::Permit::all; };
    call(std::move(request), [this](const kube::Outcome& outcome) {
      if (outcome.ok() || outcome.error.not_found()) return;
      log_({.level = Level::warning,
            .message = "the condition PodScheduled of a pod was not written: " + outcome.error.text()});
    });
  }
  for (const kube::EventNote& event : out.notes) note(event);
}

void Process::show_fleet() {
  const FleetPolicy& fleet = fleet_policy(loop_.view().fleet);
  const FleetReport report = fleet_report(loop_.world().snapshot(), identity_);
  std::optional<kube::ApiRequest> request =
      fleet_status_.update(report, fleet, dependencies_.clock(), dependencies_.wall());
  if (!request) return;
  write(std::move(*request), [this, uid = fleet.meta.uid](const kube::Outcome& outcome) {
    fleet_status_.answered(uid, outcome.ok());
    if (outcome.ok() || outcome.error.not_found()) return;
    log_({.level = Level::warning, .message = "the status of the fleet was not written: " + outcome.error.text()});
  });
}

void Process::show_queues() {
  for (QueueStatusWriter::Write& status : queue_status_.update(loop_.world().snapshot(), loop_.view().queues,
                                                               dependencies_.clock(), dependencies_.wall())) {
    write(std::move(status.request), [this, uid = status.uid](const kube::Outcome& outcome) {
      queue_status_.answered(uid, outcome.ok());
      if (outcome.ok() || outcome.error.not_found()) return;
      log_({.level = Level::warning, .message = "the status of a queue was not written: " + outcome.error.text()});
    });
  }
}

void Process::send_events() {
  if (!leads()) return;
  while (std::optional<kube::EventRecorder::Outgoing> outgoing = events_.poll(dependencies_.clock())) {
    write(std::move(outgoing->request), [this, id = outgoing->id](const kube::Outcome& outcome) {
      events_.answered(id, outcome, dependencies_.clock());
    });
  }
}

/// Logs for each scaler when its condition Ready or the reason of that condition changes. Also logs when the checkpoint
/// cannot be saved.
void Process::log_readiness() {
  std::map<std::string, std::string> now;
  for (const ScalerReport& report : reports_) {
    const StatusCondition& ready = report.verdicts.front();
    std::string& told = now[report.uid] = ready.reason;
    if (const auto before = logged_states_.find(report.uid); before != logged_states_.end() && before->second == told)
      continue;
    const bool well = ready.status == ConditionStatus::yes;
    log_({.level = well ? Level::info : Level::warning,
          .message = well ? "is ready" : "is not ready: " + ready.message,
          .object = scaler_words(report),
          .reason = ready.reason});
  }
  logged_states_ = std::move(now);
  if (logged_refusal_ == checkpoint_.refusal()) return;
  logged_refusal_ = checkpoint_.refusal();
  if (!logged_refusal_.empty()) {
    log_({.level = Level::warning, .message = "the checkpoint cannot be saved: " + logged_refusal_});
  }
}

/// Logs the kinds that have become impossible to watch, and the kinds that can be watched again.
void Process::log_refusals() {
  std::map<std::string, std::string> now = loop_.watch().refusals();
  if (now == logged_refusals_) return;
  for (const auto& [kind, words] : now) {
    const auto before = logged_refusals_.find(kind);
    if (before != logged_refusals_.end() && before->second == words) continue;
    log_({.level = Level::warning, .message = "cannot watch " + kind + ": " + words});
  }
  for (const auto& [kind, words] : logged_refusals_) {
    if (!now.contains(kind)) log_({.level = Level::info, .message = "watches " + kind + " again"});
  }
  logged_refusals_ = std::move(now);
}

/// Logs when the view of the cluster becomes too old to act on, and when it is fresh again.
void Process::log_view_ages() {
  const bool old = !is_view_fresh();
  if (std::exchange(is_stale_view_logged_, old) == old) return;
  const std::map<std::string, Duration> now = too_old();
  log_({.level = old ? Level::warning : Level::info,
        .message = old ? "the API server has sent nothing about " + now.begin()->first + " for " +
                             explain::time_text(now.begin()->second) + ": no object is changed until it does"
                       : "the API server sends all kinds again"});
}

void Process::stop() {
  if (shutdown_phase_ != ShutdownPhase::not_yet) return;
  log_({.level = Level::info, .message = "stops"});
  shutdown_phase_ = ShutdownPhase::saving;
  end_by_ = dependencies_.clock() + kStopMax;
  if (loop_.begun() && leads()) checkpoint_.write(loop_.checkpoint(), true);
}

void Process::end_in_order() {
  const bool late = dependencies_.clock() >= end_by_;
  if (shutdown_phase_ == ShutdownPhase::saving && (late || !checkpoint_.writing())) {
    shutdown_phase_ = ShutdownPhase::done;
    if (std::optional<kube::ApiRequest> request = election_.release(dependencies_.wall())) {
      shutdown_phase_ = ShutdownPhase::releasing;
      call(std::move(*request), [this](const kube::Outcome&) { shutdown_phase_ = ShutdownPhase::done; });
    }
  }
  if (late) shutdown_phase_ = ShutdownPhase::done;
}

}  // namespace capstan::op
