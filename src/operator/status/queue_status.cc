#include "operator/status/queue_status.h"

#include <map>
#include <set>
#include <utility>

#include <nlohmann/json.hpp>

#include "operator/status/condition_since.h"

namespace capstan::op {

using Json = nlohmann::ordered_json;

std::vector<QueueReport> queue_reports(const model::Snapshot& snapshot) {
  const model::Catalog& catalog = *snapshot.catalog;
  std::vector<QueueReport> reports;
  for (const model::Queue& queue : catalog.queues) {
    const bool above_closed = queue.parent.valid() && reports[queue.parent.value].closed;
    reports.push_back({.name = queue.name, .held = {}, .waiting = {}, .closed = queue.closed || above_closed});
  }
  snapshot.pods.for_each([&](model::PodId, const model::Pod& pod) {
    const bool waits = pod.phase == model::Pod::Phase::pending && !pod.node.valid();
    for (model::QueueId id = pod.queue; id.valid(); id = catalog.queue(id).parent) {
      QueueReport& report = reports[id.value];
      (waits ? report.waiting : report.held) += pod.gpus;
    }
  });
  return reports;
}

std::string queue_status_json(const QueueReport& report, const Queue& queue, kube::WallTime wall) {
  const Json ready = {
      {"type", "Ready"},
      {"status", report.closed ? "False" : "True"},
      {"observedGeneration", queue.meta.generation},
      {"lastTransitionTime", condition_since(queue.conditions, "Ready", !report.closed, report.closed, wall)},
      {"reason", report.closed ? "ParentNotFound" : "Described"},
      {"message", report.closed ? "a parent queue does not exist, or the parents form a loop: correct spec.parent; no "
                                  "pod of this queue is placed until then"
                                : ""}};
  const Json status = {{"observedGeneration", queue.meta.generation},
                       {"gpus", {{"held", gpus_up(report.held)}, {"waiting", gpus_up(report.waiting)}}},
                       {"conditions", Json::array({ready})}};
  return status.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::vector<QueueStatusWriter::Write> QueueStatusWriter::look(const model::Snapshot& snapshot,
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
    if (found == by_name.end()) return;  // the queue is newer than the last look
    const QueueReport& report = found->second;
    if (!gate_.opens(queue.meta.uid, queue.meta.generation, report, now)) return;
    const std::string status = queue_status_json(report, queue, wall);
    writes.push_back({queue.meta.uid, kube::apply_status({kQueues, {}, queue.meta.name}, queue.meta.uid, status)});
  });
  gate_.keep([&](const std::string& uid) { return uids.contains(uid); });
  return writes;
}

}  // namespace capstan::op
