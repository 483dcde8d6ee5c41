#include "experiment/run/refusals.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <utility>

#include "base/number_text.h"
#include "base/unit_text.h"
#include "experiment/text/words.h"

namespace capstan::experiment {
namespace {

/// The least number and share of refusals for a warning. Fewer are normal, because the world changes while an action is
/// on its way.
constexpr std::int64_t kFewest = 10;
constexpr std::int64_t kSmallestSharePercent = 10;

/// Names in the order of the alternatives of `model::Action::effect`.
constexpr std::array<std::pair<const char*, const char*>, sim::kActionKinds> kKinds = {
    {{"scaling", "scalings"},
     {"binding", "bindings"},
     {"launch", "launches"},
     {"release of a group of nodes", "releases of groups of nodes"},
     {"node termination", "node terminations"},
     {"eviction", "evictions"},
     {"change of a role", "changes of roles"}}};
constexpr std::size_t kBind = 1;

/// Returns the most frequent reason of the refused bindings.
std::string bind_cause(const sim::ClusterMeter& meter, std::int64_t refused, std::string_view level) {
  const std::int64_t gone = refused - meter.binds_refused_spread - meter.binds_refused_full;
  const std::int64_t most = std::max({gone, meter.binds_refused_spread, meter.binds_refused_full});
  if (most == meter.binds_refused_spread) {
    return fmt::format("a replica's pods would have stood in several {}s, which cluster.enforce_together refuses",
                       level);
  }
  return most == meter.binds_refused_full ? "the nodes had no room for the pods"
                                          : "the pods or the nodes were gone, or bound and not ready";
}

/// A user, and its part of a number that a sentence states.
struct Share {
  std::size_t user;
  std::int64_t count;
};

/// Returns the users with a number that is not 0, the largest first.
std::vector<Share> shares_of(const std::vector<std::int64_t>& by_user) {
  std::vector<Share> shares;
  for (std::size_t i = 0; i < by_user.size(); ++i) {
    if (by_user[i] > 0) shares.push_back({i, by_user[i]});
  }
  std::ranges::stable_sort(shares, std::ranges::greater{}, &Share::count);
  return shares;
}

/// Returns "; 2,000 of them of chat, 700 of eval". Of many users, it names three. Empty for a user without a name.
std::string names_of(const std::vector<Share>& shares, const std::vector<NamedUser>& users) {
  constexpr std::size_t kMaxNames = 3;
  std::string text;
  for (std::size_t i = 0; i < std::min(shares.size(), kMaxNames); ++i) {
    const std::string& name = users[shares[i].user].name;
    if (name.empty()) return "";
    text += fmt::format("{}{} {}of {}", i == 0 ? "; " : ", ", grouped_text(shares[i].count), i == 0 ? "of them " : "",
                        name);
  }
  return text;
}

std::string spread_warning(std::int64_t replicas, std::string_view level, const std::string& key) {
  return fmt::format(
      "the pods of {} stood in several {}s: the placement does not know {}, and no API server refuses "
      "it; such replicas are simulated as fast as others, and are slower on a real network",
      count_text(replicas, "replica", "replicas"), level, key);
}

/// Adds a warning for the replicas that were spread: one for the service that has the cluster alone, otherwise one for
/// each service.
void add_spread_warnings(const sim::ClusterMeter& meter, const std::vector<NamedUser>& users,
                         std::vector<std::string>& warnings) {
  const std::vector<Share> shares = shares_of(meter.replicas_spread);
  if (shares.empty()) return;
  if (users[shares.front().user].name.empty()) {
    warnings.push_back(
        spread_warning(meter.all_replicas_spread(), users[shares.front().user].level, "service.together"));
    return;
  }
  for (const Share& share : shares) {
    const NamedUser& user = users[share.user];
    warnings.push_back(user.name + ": " + spread_warning(share.count, user.level, "its key together"));
  }
}

}  // namespace

std::vector<NamedUser> named_users(const sim::ClusterConfig& config, bool has_cluster_alone) {
  const model::Catalog& catalog = *config.catalog;
  std::vector<NamedUser> users;
  for (const model::Service& service : catalog.services) {
    users.push_back({has_cluster_alone ? "" : service.name, catalog.level_words(service.workload.required_level)});
  }
  for (const sim::JobClass& jobs : config.job_classes)
    users.push_back({jobs.name, catalog.level_words(jobs.required_level)});
  return users;
}

std::vector<std::string> refusal_warnings(const sim::ClusterMeter& meter, const std::vector<NamedUser>& users) {
  std::vector<std::string> warnings;
  for (std::size_t kind = 0; kind < sim::kActionKinds; ++kind) {
    const auto [asked, refused] = meter.actions[kind];
    if (refused < kFewest || refused * 100 < asked * kSmallestSharePercent) continue;
    const std::vector<Share> shares = shares_of(meter.refused_by_user[kind]);
    const std::size_t first = shares.empty() ? 0 : shares.front().user;
    const std::string cause = kind == kBind ? bind_cause(meter, refused, users[first].level)
                                            : "the object was gone, or its state no longer allowed the action";
    warnings.push_back(fmt::format("{} of {} were refused: {}{}", grouped_text(refused),
                                   count_text(asked, kKinds[kind].first, kKinds[kind].second), cause,
                                   names_of(shares, users)));
  }
  add_spread_warnings(meter, users, warnings);
  return warnings;
}

}  // namespace capstan::experiment
