#pragma once

#include <algorithm>
#include <utility>

#include "base/hash.h"
#include "base/random.h"
#include "sim/cluster/api_server.h"
#include "sim/cluster/cluster_config.h"
#include "sim/cluster/cluster_meter.h"
#include "sim/cluster/event_queue.h"
#include "sim/cluster/gpu_account.h"
#include "sim/cluster/gpu_user.h"

namespace capstan::sim {

/// The state that all components of a cluster share.
struct Basics {
  explicit Basics(ClusterConfig with)
      : config(std::move(with)), api(config.catalog), account(api.catalog(), config.job_classes.size()) {}

  ClusterConfig config;
  EventQueue events;
  ApiServer api;
  GpuAccount account;  ///< GPU time of periods that have ended; each component adds its open ones on request
  ClusterMeter meter;  ///< counts only; times and costs follow from the account
};

/// The base of a component of the cluster. A component owns its state and knows others only by their public functions.
class Component {
 public:
  explicit Component(Basics& basics)
      : config_(basics.config),
        events_(basics.events),
        api_(basics.api),
        account_(basics.account),
        meter_(basics.meter) {}

 protected:
  Instant now() const { return events_.now(); }
  const model::Snapshot& rows() const { return api_.rows(); }
  const model::Catalog& catalog() const { return api_.catalog(); }
  model::ServiceId service_of(model::GangId id) const { return rows().gangs.at(id).service; }
  /// Returns the position of the gang's service or class of jobs in `ClusterMeter::by_user`.
  std::size_t user_of(model::GangId id) const { return gpu_user(config_, rows().gangs.at(id)); }
  const VariantStart& start_of(model::ServiceId service) const {
    const auto it = std::ranges::find(config_.starts, service, &VariantStart::service);
    CAPSTAN_ASSERT(it != config_.starts.end());
    return *it;
  }

  const ClusterConfig& config_;
  EventQueue& events_;
  ApiServer& api_;
  GpuAccount& account_;
  ClusterMeter& meter_;
};

/// Adds the state of a random stream to the hash: the next number that a copy of it draws. Two runs that have drawn
/// different numbers of values then get different hashes.
inline void add_draw(StateHash& hash, RandomStream stream) { hash.add(stream.bits()); }

}  // namespace capstan::sim
