#include "experiment/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "experiment/prepare.h"
#include "model/role_names.h"
#include "model/topology_names.h"

namespace capstan::experiment {

namespace {

std::string load_words(const workload::WorkloadSpec& load) {
  std::string words;
  if (const auto* trace = std::get_if<workload::TraceSpec>(&load.from)) {
    words = "trace " + trace->path.substr(trace->path.find_last_of('/') + 1);
  } else if (const auto* profile = std::get_if<workload::ProfileSpec>(&load.from)) {
    words = "profile " + profile->name.substr(profile->name.find_last_of('/') + 1);
  } else if (const auto* loop = std::get_if<workload::ClosedLoopSpec>(&load.from)) {
    words = fmt::format("{} clients in a closed loop", loop->concurrency);
  } else {
    words = "generated";
  }
  if (load.scale != 1) words += fmt::format(", {} times", load.scale);
  return words;
}

std::string replica_words(const model::Variant& variant, const RoleSpec& role) {
  std::string words = fmt::format("TP{} on {}", variant.tensor_parallel, role.engine->gpu_name);
  if (variant.pods > 1) {
    words += fmt::format(", gangs of {} pods in one {}", variant.pods, model::name(variant.together).words);
  }
  return words;
}

std::string service_words(const Scenario& scenario) {
  std::string words = scenario.variant().model;
  for (std::size_t i = 0; i < scenario.roles.size(); ++i) {
    const model::Variant& variant = scenario.catalog->services[i].variants.front();
    const std::string& name = scenario.roles[i].name;
    if (scenario.roles.size() > 1) {
      const bool last = i + 1 == scenario.roles.size();
      words += fmt::format("{} {}", i == 0 || !last ? "," : " and",
                           name.empty() ? model::name(variant.role) : std::string_view(name));
    }
    words += " " + replica_words(variant, scenario.roles[i]);
  }
  return words;
}

const PolicySpec& policy_of(const Scenario& scenario, const RunResult& result) {
  return *std::ranges::find_if(scenario.policies,
                               [&](const PolicySpec& policy) { return policy.policies.name == result.policy; });
}

/// The progress of all policies in one: the mean clock and part, the sums of requests and of simulated time.
class Joined {
 public:
  Joined(std::size_t policies, const ProgressCallback& callback) : each_(policies), callback_(callback) {}

  void note(std::size_t index, const Progress& progress) {
    const std::lock_guard lock(mutex_);
    each_[index] = progress;
    Progress all;
    for (const Progress& one : each_) {
      all.part += one.part / static_cast<double>(each_.size());
      all.arrived += one.arrived;
      all.simulated += one.simulated;
    }
    all.at = Instant{all.simulated / static_cast<std::int64_t>(each_.size())};
    callback_(all);
  }

 private:
  std::mutex mutex_;
  std::vector<Progress> each_;
  const ProgressCallback& callback_;
};

}  // namespace

Comparison describe(const Scenario& scenario) {
  return {.scenario = scenario.name,
          .title = scenario.title,
          .seed = scenario.seed,
          .load = load_words(scenario.load),
          .service = service_words(scenario),
          .slo = scenario.service().slo,
          .results = {},
          .clairvoyant = {}};
}

void rank(std::vector<RunResult>& results) {
  std::sort(results.begin(), results.end(), [](const RunResult& a, const RunResult& b) {
    if (a.score_milli() != b.score_milli()) return a.score_milli() > b.score_milli();
    return a.policy < b.policy;
  });
}

Result<Comparison> compare(const Scenario& scenario, unsigned jobs, const ProgressCallback& progress) {
  const std::size_t count = scenario.policies.size();
  std::vector<std::optional<Result<RunResult>>> outcomes(count);
  std::atomic<std::size_t> next{0};
  Joined joined(count, progress);
  const auto work = [&] {
    for (std::size_t i = next++; i < count; i = next++) {
      const ProgressCallback mine = [&, i](const Progress& p) { joined.note(i, p); };
      outcomes[i] = run(scenario, scenario.policies[i], scenario.seed, progress ? mine : ProgressCallback());
    }
  };
  if (jobs == 0) jobs = std::max(1u, std::thread::hardware_concurrency());
  const std::size_t threads = std::min<std::size_t>(jobs, count);
  {
    std::vector<std::jthread> helpers;
    for (std::size_t i = 1; i < threads; ++i) helpers.emplace_back(work);
    work();
  }

  Comparison comparison = describe(scenario);
  for (std::optional<Result<RunResult>>& outcome : outcomes) {
    if (!*outcome) return std::unexpected(std::move(outcome->error()));
    comparison.results.push_back(std::move(**outcome));
  }
  rank(comparison.results);
  if (scenario.bound) {
    Result<Clairvoyant> clairvoyant = foresee(scenario, policy_of(scenario, comparison.results.front()), progress);
    if (!clairvoyant) return std::unexpected(std::move(clairvoyant.error()));
    comparison.clairvoyant = std::move(*clairvoyant);
  }
  return comparison;
}

}  // namespace capstan::experiment
