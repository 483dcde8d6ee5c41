#include "sim/cluster/api_server.h"

#include <utility>

#include "base/sort_unique.h"

namespace capstan::sim {
void ApiServer::set(model::ServiceId id, model::ServiceState row) {
  rows_.services.set(id, std::move(row));
  changed_.services.push_back(id);
}
void ApiServer::set(model::NodeId id, model::Node row) {
  rows_.nodes.set(id, std::move(row));
  changed_.nodes.push_back(id);
}
void ApiServer::set(model::ClaimId id, model::Claim row) {
  rows_.claims.set(id, std::move(row));
  changed_.claims.push_back(id);
}
void ApiServer::set(model::GangId id, model::Gang row) {
  rows_.gangs.set(id, std::move(row));
  changed_.gangs.push_back(id);
}
void ApiServer::set(model::GangId id, const model::ReplicaSignals& row) {
  rows_.signals.set(id, row);
  changed_.signals.push_back(id);
}
void ApiServer::set(model::PodId id, model::Pod row) {
  rows_.pods.set(id, std::move(row));
  changed_.pods.push_back(id);
}

void ApiServer::erase(model::NodeId id) {
  rows_.nodes.erase(id);
  changed_.nodes.push_back(id);
}
void ApiServer::erase(model::ClaimId id) {
  rows_.claims.erase(id);
  changed_.claims.push_back(id);
}
void ApiServer::erase(model::GangId id) {
  rows_.gangs.erase(id);
  changed_.gangs.push_back(id);
  if (rows_.signals.find(id) == nullptr) return;
  rows_.signals.erase(id);
  changed_.signals.push_back(id);
}
void ApiServer::erase(model::PodId id) {
  rows_.pods.erase(id);
  changed_.pods.push_back(id);
}

void ApiServer::fail(model::ClaimId id) {
  model::Claim claim = rows_.claims.at(id);
  claim.phase = model::Claim::Phase::failed;
  set(id, claim);
  failed_claims_.push_back(id);
}

ports::Observation ApiServer::observe(Instant now, std::vector<ports::Outcome> outcomes) {
  sort_unique(changed_.services);
  sort_unique(changed_.nodes);
  sort_unique(changed_.claims);
  sort_unique(changed_.gangs);
  sort_unique(changed_.pods);
  sort_unique(changed_.signals);
  changed_.from_version = rows_.version;
  if (!changed_.empty()) ++rows_.version;
  changed_.to_version = rows_.version;
  rows_.at = now;
  ports::Observation observation{rows_, std::exchange(changed_, {}), std::move(outcomes)};
  for (model::ClaimId id : std::exchange(failed_claims_, {})) erase(id);
  return observation;
}

}  // namespace capstan::sim
