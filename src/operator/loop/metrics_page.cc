#include "operator/loop/metrics_page.h"

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

namespace capstan::op {
namespace {

using Labels = std::vector<std::pair<std::string_view, std::string>>;

/// Returns "-1.500" for the value -1500 with 3 digits, exactly. A conversion to floating point would round.
std::string decimal(std::int64_t value, int digits) {
  std::string text = std::to_string(value < 0 ? -value : value);
  const auto places = static_cast<std::size_t>(digits);
  if (text.size() <= places) text.insert(0, places + 1 - text.size(), '0');
  text.insert(text.size() - places, ".");
  return value < 0 ? "-" + text : text;
}

class Page {
 public:
  void family(std::string_view name, std::string_view type, std::string_view help) {
    name_ = name;
    text_ += "# HELP " + name_ + " " + std::string(help) + "\n# TYPE " + name_ + " " + std::string(type) + "\n";
  }
  void sample(const Labels& labels, const std::string& value) {
    text_ += name_;
    for (std::size_t i = 0; i < labels.size(); ++i) {
      text_ += (i == 0 ? "{" : ",") + std::string(labels[i].first) + "=\"" + escaped(labels[i].second) + "\"";
    }
    text_ += (labels.empty() ? " " : "} ") + value + "\n";
  }
  void sample(const Labels& labels, std::int64_t value) { sample(labels, std::to_string(value)); }
  void only(std::string_view name, std::string_view type, std::string_view help, std::int64_t value) {
    family(name, type, help);
    sample({}, value);
  }
  /// Adds a sample without labels, whose name is that of the family and a suffix, such as "_sum".
  void suffixed_sample(std::string_view suffix, const std::string& value) {
    text_.append(name_).append(suffix).append(" ").append(value).append("\n");
  }
  std::string take() { return std::move(text_); }

 private:
  static std::string escaped(const std::string& text) {
    std::string out;
    for (const char c : text) {
      if (c == '\\' || c == '"') out += '\\';
      out += c == '\n' ? ' ' : c;
    }
    return out;
  }
  std::string text_;
  std::string name_;
};

Labels labels_of(const ScalerReport& report) { return {{"namespace", report.ns}, {"scaler", report.name}}; }

Labels with(Labels labels, std::string_view name, std::string value) {
  labels.emplace_back(name, std::move(value));
  return labels;
}

void add_targets(Page& page, const std::vector<ScalerReport>& reports) {
  page.family(
      "capstan_target_replicas", "gauge",
      "Replicas of a target by state: asked (in its spec now), starting, ready, draining, recommended, desired (set "
      "by Capstan).");
  for (const ScalerReport& report : reports) {
    for (const TargetReport& target : report.targets) {
      const Labels labels = with(labels_of(report), "target", target.name);
      const std::pair<const char*, ReplicaCount> rows[] = {
          {"asked", target.current},     {"starting", target.starting},       {"ready", target.ready},
          {"draining", target.draining}, {"recommended", target.recommended}, {"desired", target.desired}};
      for (const auto& [state, replicas] : rows) page.sample(with(labels, "state", state), replicas);
    }
  }
}

void add_scalers(Page& page, const std::vector<ScalerReport>& reports) {
  page.family("capstan_signals", "gauge", "Serving replicas with fresh or missing signals.");
  for (const ScalerReport& report : reports) {
    page.sample(with(labels_of(report), "state", "fresh"), report.fresh);
    page.sample(with(labels_of(report), "state", "missing"), report.missing);
  }
  page.family("capstan_condition", "gauge", "1 if a condition of a scaler is True.");
  for (const ScalerReport& report : reports) {
    for (const StatusCondition& verdict : report.verdicts) {
      page.sample(with(labels_of(report), "type", verdict.type), verdict.status == ConditionStatus::yes ? 1 : 0);
    }
  }
  page.family("capstan_ledger_gpu_hours", "gauge",
              "GPU-hours that the recommendations would have added; negative: saved.");
  for (const ScalerReport& report : reports)
    page.sample(labels_of(report), decimal(report.ledger.gpu_hours_milli(), 3));
  page.family(
      "capstan_ledger_usd", "gauge",
      "US dollars that the recommendations would have added; negative: saved. Replicas without a price count 0.");
  for (const ScalerReport& report : reports) page.sample(labels_of(report), decimal(report.ledger.cost().count, 6));
}

void add_process(Page& page, const Process& process) {
  page.only("capstan_leader", "gauge", "1 in the process that leads.", process.leads() ? 1 : 0);
  page.only("capstan_synced", "gauge", "1 when all objects are known.", process.synced() ? 1 : 0);
  page.only("capstan_decisions_total", "counter", "Passes of the decision loop; 0 while another process leads.",
            process.loop().begun() ? process.loop().controller().stats().ticks : 0);
  const ClusterWatch::Counters watched = process.loop().watch().counters();
  page.only("capstan_watch_events_total", "counter", "Changes of objects received from watches.",
            static_cast<std::int64_t>(watched.events));
  page.only("capstan_watch_relists_total", "counter",
            "Times that all objects of a kind were read again because a watch could not be resumed.",
            static_cast<std::int64_t>(watched.relists));
  page.family("capstan_watch_age_seconds", "gauge", "Time since the API server last sent something about a kind.");
  for (const auto& [kind, age] : process.ages()) page.sample({{"kind", kind}}, whole_seconds(age));
  page.family("capstan_api_answers_total", "counter", "Answers of the API server; code 0: no answer.");
  for (const auto& [what, count] : process.api_counters().answers) {
    page.sample({{"verb", std::string(kube::name_of(what.first))}, {"code", std::to_string(what.second)}},
                static_cast<std::int64_t>(count));
  }
  const signals::ScraperCounts scrapes = process.loop().sources().counts();
  page.family(
      "capstan_scrapes_total", "counter",
      "Scrapes of engine metrics by result: started; of these failed and refused (page not usable); skipped (not "
      "started within an interval).");
  page.sample({{"result", "started"}}, static_cast<std::int64_t>(scrapes.started));
  page.sample({{"result", "failed"}}, static_cast<std::int64_t>(scrapes.failed));
  page.sample({{"result", "refused"}}, static_cast<std::int64_t>(scrapes.refused));
  page.sample({{"result", "skipped"}}, static_cast<std::int64_t>(scrapes.skipped));
  page.only("capstan_status_writes_total", "counter", "Status writes that were sent.",
            static_cast<std::int64_t>(process.status().writes()));
  page.only("capstan_checkpoint_writes_total", "counter", "Checkpoint parts that were sent.",
            static_cast<std::int64_t>(process.checkpoint().writes()));
  page.only("capstan_checkpoint_rows_left_out", "gauge",
            "Targets without room in the checkpoint; they lose their history at a restart.",
            static_cast<std::int64_t>(process.checkpoint().left_out()));
  page.only("capstan_events_dropped_total", "counter",
            "Kubernetes Events that were not written because they exceeded the limits on Events.",
            static_cast<std::int64_t>(process.events().dropped()));
}

void add_fleet(Page& page, const FleetMeter& meter) {
  page.family("capstan_cost_usd_total", "counter",
              "Cost in US dollars of the GPUs that replicas held, as far as their price is known.");
  for (const auto& [owner, cost] : meter.costs()) {
    page.sample({{"team", owner.first}, {"service", owner.second}}, decimal(cost.count, 6));
  }
  const FleetMeter::NodeWaits& waits = meter.node_waits();
  page.family("capstan_node_wait_seconds", "summary", "Time from the request of a node until it was ready.");
  page.suffixed_sample("_sum", decimal(waits.sum.count(), 9));
  page.suffixed_sample("_count", std::to_string(waits.ready));
  page.only("capstan_node_requests_failed_total", "counter", "Requests of nodes that ended without a node.",
            waits.failed);
  page.only("capstan_nodes_awaited", "gauge", "Nodes that were requested and are not ready yet.", waits.open);
  page.family("capstan_node_decisions_total", "counter", "Nodes that were decided to launch or to give back.");
  for (const auto& [what, count] : meter.node_actions()) {
    page.sample({{"action", std::string(what.first)}, {"reason", std::string(what.second)}}, count);
  }
  page.family("capstan_gang_deferrals_total", "counter", "How often a gang began to wait, by the reason.");
  for (const FleetMeter::Verdict verdict : FleetMeter::kWaitingVerdicts) {
    page.sample({{"verdict", std::string(decide::place::name(verdict))}}, meter.deferrals(verdict));
  }
  page.family("capstan_gangs_waiting", "gauge", "Gangs that wait, by the reason.");
  for (const FleetMeter::Verdict verdict : FleetMeter::kWaitingVerdicts) {
    page.sample({{"verdict", std::string(decide::place::name(verdict))}}, meter.waiting(verdict));
  }
  page.family("capstan_queue_length", "gauge", "Gangs that wait in a queue, without those of queues below it.");
  for (const auto& [queue, gangs] : meter.queue_lengths()) page.sample({{"queue", queue}}, gangs);
}

void add_recording(Page& page, const RecordingFigures& recording) {
  page.only("capstan_recording", "gauge",
            "1 while the recording is written; 0 after an error, until an attempt succeeds.",
            recording.is_recording ? 1 : 0);
  page.only("capstan_recording_states_lost_total", "counter", "Decisions that are missing in the recording.",
            recording.lost);
}

}  // namespace

std::string metrics_page(const Process& process, const std::optional<RecordingFigures>& recording) {
  Page page;
  add_process(page, process);
  add_targets(page, process.reports());
  add_scalers(page, process.reports());
  add_fleet(page, process.meter());
  if (recording) add_recording(page, *recording);
  return page.take();
}

}  // namespace capstan::op
