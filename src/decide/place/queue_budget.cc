#include "decide/place/queue_budget.h"

#include "model/queue_fault.h"
#include "model/queue_path.h"

namespace capstan::decide::place {

template <typename Visit>
void QueueBudget::visit_queues(const QueueDemand& ask, Visit visit) const {
  for (const auto& [queue, gpus] : ask) {
    for (const QueueId id : model::QueuePath(catalog_.queues, queue)) visit(id, gpus);
  }
}

QueueBudget::QueueBudget(const model::Snapshot& snapshot, const Index& index)
    : snapshot_(snapshot), catalog_(*snapshot.catalog), assumed_(index.assumed), rows_(catalog_.queues.size()) {
  if (rows_.empty()) return;
  for (const QueueDemand* held : {&index.gpus_by_queue, &assumed_.gpus_by_queue()}) {
    visit_queues(*held, [&](QueueId id, MilliGpu gpus) { rows_[id.value].held += gpus; });
  }
}

QueueDemand QueueBudget::demand_of(std::span<const PodId> pods) const {
  QueueDemand ask;
  if (rows_.empty()) return ask;
  for (const PodId id : pods) {
    const model::Pod* pod = snapshot_.pods.find(id);
    const bool unbound = pod != nullptr && pod->phase == model::Pod::Phase::pending && !pod->node.valid();
    if (!unbound || !pod->queue.valid() || assumed_.has(id) || placed_.contains(id)) continue;
    ask[pod->queue] += pod->gpus;
  }
  return ask;
}

std::optional<model::Reason> QueueBudget::refusal_of(const QueueDemand& ask, bool promised) const {
  for (const auto& [id, gpus] : ask) {
    if (std::optional<model::Reason> fault = model::fault_reason(catalog_.queues, id)) return fault;
  }
  std::map<QueueId, MilliGpu> more;
  visit_queues(ask, [&](QueueId id, MilliGpu gpus) { more[id] += gpus; });
  for (const auto& [id, gpus] : more) {
    const model::Queue& queue = catalog_.queue(id);
    const Row& row = rows_[id.value];
    const MilliGpu has = promised ? row.held + row.promised : row.held;
    if (queue.gpus.limit && gpus > MilliGpu{} && has + gpus > *queue.gpus.limit) {
      return model::Reason{model::ReasonCode::queue_limit,
                           {gpus_up(has), gpus_up(gpus), gpus_up(*queue.gpus.limit), id.value}};
    }
  }
  return std::nullopt;
}

std::optional<model::Reason> QueueBudget::refusal_of(const QueueDemand& ask) const { return refusal_of(ask, false); }
std::optional<model::Reason> QueueBudget::refusal_of_promise(const QueueDemand& ask) const {
  return refusal_of(ask, true);
}

void QueueBudget::place(std::span<const PodId> pods) {
  if (rows_.empty()) return;
  visit_queues(demand_of(pods), [&](QueueId id, MilliGpu gpus) { rows_[id.value].held += gpus; });
  placed_.insert(pods.begin(), pods.end());
}

void QueueBudget::promise(const QueueDemand& ask) {
  visit_queues(ask, [&](QueueId id, MilliGpu gpus) { rows_[id.value].promised += gpus; });
}

}  // namespace capstan::decide::place
