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
/// Returns the signals that the scaler's policy needs from every replica.
std::vector<signals::SignalName> needed_signals(const InferenceScaler& scaler);

/// Reads the load of every serving replica from its page of metrics, or from a Prometheus server if the scaler names
/// one. A value older than three intervals counts as missing, because the HPA formula cannot tell a stale value from a
/// fresh one.
class SignalSources {
 public:
  /// @param transport  outlives the sources
  /// @param clock      counts from the Unix epoch
  SignalSources(net::Transport& transport, net::Clock clock);
  ~SignalSources();
  SignalSources(const SignalSources&) = delete;

  /// Sets the replicas to read from now on.
  void follow(const ClusterView& view, const std::vector<SnapshotBuilder::ServingPod>& serving,
              const std::map<model::ServiceId, ServiceOrigin>& services);

  /// Starts the scrapes and queries that are due.
  void tick();
  Instant next_due() const;

  /// Returns the known values, by UID of the pod.
  Readings readings() const;
  /// Returns the reasons why values are missing, by UID of the pod. An error in the settings of a scaler, or of its
  /// Prometheus server, is under the UID of the scaler.
  std::map<std::string, std::string> troubles() const;
  /// Returns whether every source has answered or failed at least once.
  bool have_all_answered() const;
  std::size_t targets() const { return pods_.size(); }
  signals::ScraperCounts counts() const;

 private:
  /// The rules by which the pages of a scaler's replicas are read.
  struct ReadingRules {
    /// Metrics of the engine "custom"; null: the bundled catalog.
    std::shared_ptr<const signals::MetricCatalog> custom;
    signals::TargetOptions options;
    std::string error;  ///< error in the settings of the scaler; empty: none
  };
  struct PodScrape {
    signals::Scraper* scraper = nullptr;
    signals::ScrapeId id;
    std::string key;  ///< URL and reading rules; a change of either makes a new target
    std::shared_ptr<const signals::MetricCatalog> custom;
  };
  struct QueriedServer {
    std::string key;
    Duration interval{};
    std::unique_ptr<signals::PrometheusClient> client;
    std::unique_ptr<signals::PrometheusSignals> signals;
    std::shared_ptr<const signals::MetricCatalog> custom;
    Instant due{};
    bool has_answered = false;
    std::string error;
  };
  struct Pod {
    std::optional<PodScrape> scraped;
    std::string scaler_uid;  ///< scaler whose Prometheus server is queried if the pod is not scraped
    std::string name;
    std::vector<signals::SignalName> needed;  ///< signals that the policy needs; a pod without them counts as silent
  };

  static ReadingRules reading_of(const InferenceScaler& scaler);
  void follow_pod(const InferenceScaler& scaler, const kube::Pod& pod, Pod& followed);
  void follow_server(const InferenceScaler& scaler);
  signals::Scraper& scraper(Duration interval);
  void query(QueriedServer& server);
  std::optional<signals::TargetReadings> latest_readings(const Pod& pod) const;
  static std::string silence_reason(const Pod& pod, const signals::TargetReadings& latest);

  net::Transport& transport_;
  net::Clock clock_;
  std::map<Duration, std::unique_ptr<signals::Scraper>> scrapers_;  ///< scrapers by interval
  std::map<std::string, std::unique_ptr<QueriedServer>> servers_;   ///< Prometheus servers by UID of the scaler
  std::map<std::string, Pod> pods_;                                 ///< followed pods by UID
  std::map<std::string, std::string> settings_errors_;              ///< errors in settings by UID of the scaler
};

}  // namespace capstan::op
