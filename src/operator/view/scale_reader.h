#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "kube/client.h"
#include "kube/discovery.h"
#include "net/monotonic.h"
#include "operator/view/cluster_view.h"

namespace capstan::op {

/// Reads targets of kinds that are not watched but have a /scale subresource. Discovery shows which kinds have one.
/// Every few seconds it reads each target: first the object (annotations, owners, UID), then its /scale (replicas,
/// selector). The number of targets and of concurrent requests is limited.
class ScaleReader {
 public:
  static constexpr Duration kPeriod = std::chrono::seconds(5);
  static constexpr std::size_t kMaxInFlight = 8;
  static constexpr std::size_t kMaxTargets = 1'000;

  /// The client must outlive the reader.
  ScaleReader(kube::Client& client, net::Clock clock) : client_(client), clock_(std::move(clock)) {}
  ~ScaleReader();
  ScaleReader(const ScaleReader&) = delete;

  /// Sets the targets to read.
  void follow(const kube::StoreSnapshot<InferenceScaler>& scalers, const kube::ServedResources& served);
  void run_once();
  Instant next_deadline() const;

  /// Returns true if every target was read once.
  bool synced() const;
  std::shared_ptr<const ScaledTargets> targets() const { return targets_; }
  std::uint64_t version() const { return version_; }  ///< grows with every change of `targets`

 private:
  struct FollowedTarget {
    kube::ObjectRef object;
    std::string target_kind;
    kube::Client::CallId call = 0;
    Instant due{};
    bool read = false;
    std::optional<kube::Workload> found;
    std::string trouble;  ///< reason why it could not be read; empty: it was read or does not exist
    bool is_followed = true;
  };

  void ask(FollowedTarget& followed);
  void ask_scale(FollowedTarget& followed, kube::Workload workload);
  void end(FollowedTarget& followed, std::optional<kube::Workload> found, std::string trouble);
  void failed(FollowedTarget& followed, const kube::ApiError& error);
  void publish();

  kube::Client& client_;
  net::Clock clock_;
  kube::JsonDocument document_;
  std::map<std::string, std::unique_ptr<FollowedTarget>> followed_;  ///< followed targets by `target_key`
  std::size_t in_flight_ = 0;
  std::shared_ptr<const ScaledTargets> targets_ = std::make_shared<const ScaledTargets>();
  std::uint64_t version_ = 0;
};

}  // namespace capstan::op
