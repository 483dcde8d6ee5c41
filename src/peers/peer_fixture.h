#pragma once

#include <string>

#include "peers/autoscaler.h"

namespace capstan::peers {

/// Replicas and metrics for tests of the peers.
struct PeerFixture {
  decide::scale::WorkloadView role;
  std::optional<RequestCount> gateway_waiting = 0;
  promql::SeriesStore series;

  /// Sets the number of ready replicas, the requests of each, and spec.replicas.
  void serve(ReplicaCount replicas, RequestCount running, RequestCount waiting = 0) {
    role.replicas.clear();
    for (ReplicaCount i = 0; i < replicas; ++i) {
      decide::scale::WorkloadView::Replica replica;
      replica.id = {static_cast<std::uint32_t>(i)};
      replica.phase = model::Gang::Phase::ready;
      replica.signals.running = model::Signal::measured(running);
      replica.signals.waiting = model::Signal::measured(waiting);
      role.replicas.push_back(replica);
    }
    role.current = replicas;
    role.max = 100;
  }
  /// Adds a sample of the metric for every replica.
  void scrape(const std::string& metric, double value, Instant at) {
    for (const decide::scale::WorkloadView::Replica& replica : role.replicas) {
      promql::Labels labels;
      promql::set(labels, promql::kMetricName, metric);
      promql::set(labels, "pod", pod_name(replica.id));
      series.append(labels, {series_ms(at), value});
    }
  }
  ClusterView view() const { return {role, gateway_waiting, series}; }
};

}  // namespace capstan::peers
