#include "operator/status/queue_status.h"

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include <nlohmann/json.hpp>

#include "model/queue_fault.h"
#include "model/queue_path.h"
#include "model/reason_sentence.h"
#include "operator/status/condition_since.h"

namespace capstan::op {

using Json = nlohmann::ordered_json;

std::vector<QueueReport> queue_reports(const model::Snapshot& snapshot) {
  const model::Catalog& catalog = *snapshot.catalog;
  std::vector<QueueReport> reports;
  for (std::uint32_t id = 0; id < catalog.queues.size(); ++id) {
    const std::optional<model::Reason> fault = model::fault_reason(catalog.queues, {id});
    reports.push_back({.name = catalog.queues[id].name,
                       .held = {},
                       .waiting = {},
                       .fault = fault ? model::sentence(*fault, catalog) : std::string()});
  }
  snapshot.pods.for_each([&](model::PodId, const model::Pod& pod) {
    const bool waits = pod.phase == model::Pod::Phase::pending && !pod.node.valid();
    for (const model::QueueId id : model::QueuePath(catalog.queues, pod.queue)) {
      QueueReport& report = reports[id.value];
      (waits ? report.waiting : report.held) += pod.gpus;
    }
  });
  return reports;
}

std::string queue_status_json(const QueueReport& report, const Queue& queue, kube::WallTime wall) {
  const bool is_sound = report.fault.empty();
  const Json ready = {{"type", "Ready"},
                      {"status", is_sound ? "True" : "False"},
                      {"observedGeneration", queue.meta.generation},
                      {"lastTransitionTime", condition_since(queue.conditions, "Ready", is_sound, !is_sound, wall)},
                      {"reason", is_sound ? "Described" : "ParentNotFound"},
                      {"message", report.fault}};
  const Json status = {{"observedGeneration", queue.meta.generation},
                       {"gpus", {{"held", gpus_up(report.held)}, {"waiting", gpus_up(report.waiting)}}},
                       {"conditions", Json::array({ready})}};
  return status.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::vector<QueueStatusWriter::Write> QueueStatusWriter::update(const model::Snapshot& snapshot,
                                                                const kube::StoreSnapshot<Queue>& queues, Instant now,
                                                                kube::WallTime wall) {
  std::vector<Write> writes;
  if (snapshot.catalog->queues.empty()) return writes;
  std::map<std::string, QueueReport> by_name;
  for (QueueReport& report : queue_reports(snapshot)) by_name.emplace(report.name, std::move(report));
  std::set<std::string> uids;
  queues.for_each([&](kube::RowId, const Queue& queue) {
    uids.insert(queue.meta.uid);
    const auto found = by_name.find(queue.meta.name);
    if (found == by_name.end()) return;  // the queue is newer than the last pass
    const QueueReport& report = found->second;
    if (!gate_.begin_write(queue.meta.uid, queue.meta.generation, report, now)) return;
    const std::string status = queue_status_json(report, queue, wall);
    writes.push_back({queue.meta.uid, kube::apply_status({kQueues, {}, queue.meta.name}, queue.meta.uid, status)});
  });
  gate_.forget_unless([&](const std::string& uid) { return uids.contains(uid); });
  return writes;
}

}  // namespace capstan::op
