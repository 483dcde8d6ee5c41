#include "operator/memory/remembered_replicas.h"
#include "base/known_row.h"

#include <algorithm>
#include <set>
#include <utility>

namespace capstan::op {
namespace {

using decide::scale::CapstanMemory;

/// Returns the gangs with a row in the memory, in the order of their ids.
std::set<model::GangId> remembered_gangs(const CapstanMemory& memory) {
  std::set<model::GangId> ids;
  for (const auto& row : memory.counters) ids.insert(row.id);
  for (const auto& row : memory.starting) ids.insert(row.id);
  return ids;
}

bool fell(const model::Signal& counter, std::int64_t remembered) {
  return counter.usable() && counter.value < remembered;
}

void forget_reset_counters(CapstanMemory& memory, const model::Snapshot& snapshot) {
  std::erase_if(memory.counters, [&](const CapstanMemory::Counters& row) {
    const model::ReplicaSignals& now = snapshot.signals_of(row.id);
    return fell(now.prompt_tokens_total, row.prompt_tokens) || fell(now.generated_tokens_total, row.generated_tokens);
  });
}

}  // namespace

Checkpoint::Row to_checkpoint_row(decide::scale::Memory memory, const SnapshotBuilder& objects) {
  Checkpoint::Row row;
  if (memory.capstan) {
    std::map<model::GangId, model::GangId> positions;
    for (const model::GangId id : remembered_gangs(*memory.capstan)) {
      const ObjectKey* gang = objects.gang(id);
      if (gang == nullptr) continue;
      positions[id] = {static_cast<std::uint32_t>(row.replicas.size())};
      row.replicas.push_back(gang->uid);
    }
    renumber(*memory.capstan, [&](model::GangId id) {
      const auto found = positions.find(id);
      return found == positions.end() ? model::GangId{} : found->second;
    });
  }
  row.memory = std::move(memory);
  return row;
}

std::vector<const kube::Pod*> remembered_pods(const Checkpoint& checkpoint, const ClusterView& view) {
  std::map<std::string_view, const kube::Pod*> by_uid;
  for (const auto& [key, row] : checkpoint.rows) {
    for (const std::string& uid : row.replicas) by_uid.emplace(uid, nullptr);
  }
  if (by_uid.empty()) return {};
  view.pods.for_each([&](kube::RowId, const kube::Pod& pod) {
    if (const auto wanted = by_uid.find(pod.meta.uid); wanted != by_uid.end()) wanted->second = &pod;
  });
  std::vector<const kube::Pod*> pods;
  for (const auto& [key, row] : checkpoint.rows) {
    for (const std::string& uid : row.replicas) {
      if (const kube::Pod* pod = known_row(by_uid, uid)) pods.push_back(pod);
    }
  }
  return pods;
}

decide::scale::Memory from_checkpoint_row(const Checkpoint::Row& row, const SnapshotBuilder& objects,
                                          const model::Snapshot& snapshot) {
  decide::scale::Memory memory = row.memory;
  if (!memory.capstan) return memory;
  std::map<std::string_view, model::GangId> by_uid;
  for (const std::string& uid : row.replicas) by_uid.emplace(uid, model::GangId{});
  snapshot.gangs.for_each([&](model::GangId id, const model::Gang&) {
    const auto found = by_uid.find(objects.gang(id)->uid);
    if (found != by_uid.end()) found->second = id;
  });
  renumber(*memory.capstan, [&](model::GangId position) {
    return position.value < row.replicas.size() ? known_row(by_uid, row.replicas[position.value]) : model::GangId{};
  });
  forget_reset_counters(*memory.capstan, snapshot);
  return memory;
}

}  // namespace capstan::op
