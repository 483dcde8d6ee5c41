#include "decide/place/queue_budget.h"

namespace capstan::decide::place {

QueueBudget::QueueBudget(const model::Catalog& catalog, const std::map<QueueId, MilliGpu>& held)
    : catalog_(catalog), rows_(catalog.queues.size()) {
  for (const auto& [queue, gpus] : held) place(queue, gpus);
}

template <typename Look>
std::optional<model::Reason> QueueBudget::look_up(QueueId queue, MilliGpu more, Look counted) const {
  for (QueueId id = queue; id.valid(); id = catalog_.queue(id).parent) {
    const model::Queue& row = catalog_.queue(id);
    if (row.closed) return model::Reason{model::ReasonCode::queue_closed, {}};
    const MilliGpu has = counted(rows_[id.value]);
    if (row.limit && has + more > *row.limit) {
      return model::Reason{model::ReasonCode::queue_limit, {gpus_up(has), gpus_up(more), gpus_up(*row.limit)}};
    }
  }
  return std::nullopt;
}

std::optional<model::Reason> QueueBudget::refuses(QueueId queue, MilliGpu more) const {
  return look_up(queue, more, [](const Row& row) { return row.held; });
}

std::optional<model::Reason> QueueBudget::refuses_promise(QueueId queue, MilliGpu more) const {
  return look_up(queue, more, [](const Row& row) { return row.held + row.promised; });
}

void QueueBudget::place(QueueId queue, MilliGpu gpus) {
  for (QueueId id = queue; id.valid(); id = catalog_.queue(id).parent) rows_[id.value].held += gpus;
}

void QueueBudget::promise(QueueId queue, MilliGpu gpus) {
  for (QueueId id = queue; id.valid(); id = catalog_.queue(id).parent) rows_[id.value].promised += gpus;
}

}  // namespace capstan::decide::place
