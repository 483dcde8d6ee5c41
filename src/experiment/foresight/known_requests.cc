#include "experiment/foresight/known_requests.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_set>

#include "workload/source.h"

namespace capstan::experiment {
namespace {

/// The prefixes that some replica has computed so far.
class Prefixes {
 public:
  /// Returns how many tokens of the prompt were computed before, and adds the prefixes of the prompt.
  std::int32_t note(const workload::Request& request) {
    const auto whole = std::min<std::size_t>(
        request.prefix_hashes.size(), static_cast<std::size_t>(request.input_tokens) / workload::kPrefixBlockTokens);
    const auto usable =
        std::min<std::size_t>(whole, static_cast<std::size_t>(request.input_tokens - 1) / workload::kPrefixBlockTokens);
    std::size_t hits = 0;
    while (hits < usable && known_.contains(request.block(hits))) ++hits;
    for (std::size_t i = hits; i < whole; ++i) known_.insert(request.block(i));
    return static_cast<std::int32_t>(hits) * workload::kPrefixBlockTokens;
  }

  std::size_t blocks() const { return known_.size(); }

 private:
  std::unordered_set<std::uint64_t> known_;
};

}  // namespace

Result<std::vector<bound::KnownRequest>> known_requests(const scenario::Scenario& scenario, std::uint64_t seed,
                                                        const KnownRequestLimits& most) {
  const auto refused = [&](std::string message) {
    return std::unexpected(Error{.kind = ErrorKind::infeasible, .file = scenario.file, .message = std::move(message)});
  };
  if (workload::is_closed_loop(scenario.endpoint().load)) {
    return refused(
        "bound: the clients of a closed loop wait for their answers, so there are no arrivals to know "
        "beforehand, expected a trace, a profile or a generator");
  }
  Result<std::unique_ptr<workload::Source>> source = workload::open(scenario.endpoint().load, seed);
  if (!source) return std::unexpected(source.error());
  std::vector<bound::KnownRequest> requests;
  Prefixes prefixes;
  workload::Request request;
  while ((*source)->next(request)) {
    if (requests.size() == most.requests || prefixes.blocks() > most.blocks) {
      const bool many = requests.size() == most.requests;
      return refused(
          fmt::format("bound: more than {} {}, expected load.duration or load.scale to keep them within that",
                      many ? most.requests : most.blocks, many ? "requests" : "blocks of prompts"));
    }
    requests.push_back({.arrival = request.arrival,
                        .input_tokens = request.input_tokens,
                        .output_tokens = request.output_tokens,
                        .cached_tokens = scenario.role().replica.prefix_cache ? prefixes.note(request) : 0});
  }
  if (const auto error = (*source)->error()) return std::unexpected(*error);
  return requests;
}

bool shares_prefixes(const scenario::Scenario& scenario, const std::vector<bound::KnownRequest>& requests) {
  const auto shares = [](const bound::KnownRequest& request) { return request.cached_tokens > 0; };
  return scenario.role().replica.prefix_cache && std::ranges::any_of(requests, shares);
}

}  // namespace capstan::experiment
