#pragma once

// Effects against an API server in memory: what a server does with bindings, evictions and conditions, the permit to
// write as a variable, and outcomes as words.

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

  /// Puts an effect to work; its outcome is that of the token.
  void submit(std::string key, std::uint32_t token, std::unique_ptr<Effect> effect) {
    runner->submit(std::move(key), model::ActionToken{token}, std::move(effect));
  }
  /// Lets time pass. `each` is called ten times a second.
  void run(Duration duration, const std::function<void()>& each = [] {});

  void add_pod(const std::string& name, json fields = json::object()) { server.put(kPods, "ml", name, fields); }
  json pod(const std::string& name) { return object(kPods, name); }
  json object(const std::string& collection, const std::string& name);  ///< null where it is not
  Ref ref(const kube::Resource& resource, const std::string& name);
  /// "applied", "refused gang_taken_back 3 8", and so on; "" without one. More than one by "; ".
  std::string outcome(std::uint32_t token) const;
  /// Methods and paths of the writes that arrived, without queries, by the status of their answers.
  std::vector<std::string> writes() const;

  kube::fake::Bench kube;
  FakeServer& server = kube.server;
  Permit permit = Permit::anything;
  std::int64_t disruptions_allowed = 1'000;
  /// An answer before all others: a status, 0 for none.
  std::function<int(const FakeServer::Write&)> refuse = [](const FakeServer::Write&) { return 0; };
  std::unique_ptr<Runner> runner;
  std::map<std::uint32_t, std::vector<std::string>> outcomes;

  /// The process ends and another begins: what was on its way is nobody's any more.
  void restart();

 private:
  std::optional<std::pair<int, json>> act(const FakeServer::Write& write);
  std::uint64_t seed_;
  std::uint64_t restarts_ = 0;
};

}  // namespace capstan::actuate::testing
