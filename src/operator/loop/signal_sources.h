#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "net/http.h"
#include "net/monotonic.h"
#include "operator/snapshot/snapshot_builder.h"
#include "operator/view/cluster_view.h"
#include "signals/metric_catalog.h"
#include "signals/prometheus_client.h"
#include "signals/prometheus_signals.h"
#include "signals/scraper.h"

namespace capstan::op {

/// Returns the address of the page of metrics of a pod.
std::string page_url(const InferenceScaler& scaler, const kube::Pod& pod);
/// Returns the signals that the policy of the scaler needs from every replica.
std::vector<signals::SignalName> needed_signals(const InferenceScaler& scaler);

/// Asks for the load of every replica that serves: its own page of metrics, or a Prometheus server where its scaler
/// names one. A value that is older than three intervals counts as missing: HPA's arithmetic would take a stale value
/// for a fresh one.
class SignalSources {
 public:
  /// @param clock  counts from the Unix epoch; `transport` outlives the sources
  SignalSources(net::Transport& transport, net::Clock clock);
  ~SignalSources();
  SignalSources(const SignalSources&) = delete;

  /// Whom to ask from now on.
  void follow(const ClusterView& view, const std::vector<SnapshotBuilder::Serving>& serving,
              const std::map<model::ServiceId, ServiceOrigin>& services);

  /// Asks where it is time to.
  void tick();
  Instant next_due() const;

  /// What is known now, by the uid of the pod.
  Readings readings() const;
  /// Why a pod's load is not known, by its uid; of a scaler's own mistake by the scaler's.
  std::map<std::string, std::string> troubles() const;
  /// Everybody has answered once, or has failed to.
  bool heard_all() const;
  std::size_t targets() const { return pods_.size(); }
  signals::ScraperCounts counts() const;

 private:
  /// How the pages of a scaler's replicas are understood.
  struct Reading {
    std::shared_ptr<const signals::MetricCatalog> custom;  ///< of engine custom; else the bundled one
    signals::TargetOptions options;
    std::string error;  ///< what the scaler states and nobody can follow
  };
  struct Scraped {
    signals::Scraper* scraper = nullptr;
    signals::ScrapeId id;
    std::string what;  ///< url and all that decides how it is read: changed, it is another target
    std::shared_ptr<const signals::MetricCatalog> custom;
  };
  struct Asked {
    std::string what;
    Duration interval{};
    std::unique_ptr<signals::PrometheusClient> client;
    std::unique_ptr<signals::PrometheusSignals> signals;
    std::shared_ptr<const signals::MetricCatalog> custom;
    Instant due{};
    bool heard = false;
    std::string error;
  };
  struct Pod {
    std::optional<Scraped> scraped;
    std::string scaler_uid;  ///< whose server is asked, where nothing is scraped
    std::string name;
    std::vector<signals::SignalName> needed;  ///< by whoever decides about it: without them it is silent
  };

  static Reading reading_of(const InferenceScaler& scaler);
  void follow_pod(const InferenceScaler& scaler, const kube::Pod& pod, Pod& followed);
  void follow_server(const InferenceScaler& scaler);
  signals::Scraper& scraper(Duration interval);
  void ask(Asked& asked);
  std::optional<signals::TargetReadings> heard_of(const Pod& pod) const;
  static std::string trouble_of(const Pod& pod, const signals::TargetReadings& heard);

  net::Transport& transport_;
  net::Clock clock_;
  std::map<Duration, std::unique_ptr<signals::Scraper>> scrapers_;  ///< by interval
  std::map<std::string, std::unique_ptr<Asked>> servers_;           ///< by the scaler's uid
  std::map<std::string, Pod> pods_;                                 ///< by uid
  std::map<std::string, std::string> mistakes_;                     ///< by the scaler's uid
};

}  // namespace capstan::op
