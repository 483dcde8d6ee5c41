#pragma once

// Runs effects against an API server in memory, which also handles bindings, evictions and conditions. The test sets
// the permit to write. Outcomes are texts.

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "actuate/runner.h"
#include "kube/bench.h"

namespace capstan::actuate::testing {

using kube::fake::FakeServer;
using nlohmann::json;

inline constexpr const char* kPods = "/api/v1/pods";
inline constexpr const char* kDeployments = "/apis/apps/v1/deployments";
inline constexpr const char* kNodeClaims = "/apis/karpenter.sh/v1/nodeclaims";

struct Bench {
  explicit Bench(std::uint64_t seed);

  /// Submits an effect; its outcome is recorded for the token.
  void submit(std::string key, std::uint32_t token, std::unique_ptr<Effect> effect) {
    runner->submit(std::move(key), model::ActionToken{token}, std::move(effect));
  }
  /// Advances the time. `on_step` is called ten times a second.
  void run(Duration duration, const std::function<void()>& on_step = [] {});

  void add_pod(const std::string& name, json fields = json::object()) { server.put(kPods, "ml", name, fields); }
  json pod(const std::string& name) { return object(kPods, name); }
  json object(const std::string& collection, const std::string& name);  ///< the object; null if it does not exist
  Ref ref(const kube::Resource& resource, const std::string& name);
  /// Returns the outcomes of a token, such as "applied" or "refused gang_taken_back 3 8", joined by "; ". Empty if
  /// there is none yet.
  std::string outcome(std::uint32_t token) const;
  /// Returns method, path (without query) and status of all writes that arrived.
  std::vector<std::string> writes() const;

  kube::fake::Bench kube;
  FakeServer& server = kube.server;
  Permit permit = Permit::all;
  std::int64_t disruptions_allowed = 1'000;
  /// Returns the status with which the server refuses a write, or 0 if the server handles it.
  std::function<int(const FakeServer::Write&)> refuse = [](const FakeServer::Write&) { return 0; };
  std::unique_ptr<Runner> runner;
  std::map<std::uint32_t, std::vector<std::string>> outcomes;

  /// Replaces the process: effects in progress are lost.
  void restart();

 private:
  std::optional<std::pair<int, json>> act(const FakeServer::Write& write);
  std::uint64_t seed_;
  std::uint64_t restarts_ = 0;
};

}  // namespace capstan::actuate::testing
