#include "decide/scale/capstan/mix.h"

#include <algorithm>
#include <cstdlib>
#include <tuple>
#include <utility>

#include "base/assert.h"

namespace capstan::decide::scale {
namespace {

/// Returns the rank of a mix among mixes of equal cost; the mix with the smallest rank is preferred.
auto change_rank(std::span<const MixOption> options, const std::vector<ReplicaCount>& replicas) {
  ReplicaCount changes = 0, all = 0;
  std::vector<ReplicaCount> fewer;
  for (std::size_t i = 0; i < replicas.size(); ++i) {
    changes += std::abs(replicas[i] - options[i].current);
    all += replicas[i];
    fewer.push_back(-replicas[i]);
  }
  return std::tuple(changes, all, fewer);
}

/// Branch and bound over the variants in order. For the variants without a chosen count, the cost of their optimum with
/// fractions of replicas is a lower bound. For the last variant, the fewest sufficient replicas are optimal, because
/// each replica costs something.
class Search {
 public:
  /// @param may_start  false: no replica starts, except up to `least`, and changes are free
  Search(std::span<const MixOption> options, std::int64_t needed, const MixTerms& terms, bool may_start)
      : options_(options), needed_(needed), horizon_(terms.horizon.count()), lead_(may_start ? terms.lead.count() : 0) {
    for (const MixOption& option : options) {
      most_.push_back(may_start ? option.most : std::max(option.least, std::min(option.most, option.current)));
    }
    chosen_.resize(options.size());
    worth_from_.resize(options.size() + 1);
    for (std::size_t i = options.size(); i-- > 0;)
      worth_from_[i] = worth_from_[i + 1] + most_[i] * options[i].worth_milli;
    order_segments();
  }

  void run() {
    if (worth_from_[0] >= needed_) descend(0, needed_, 0);
  }
  bool found() const { return !best_.empty(); }
  bool exact() const { return nodes_ <= kMaxMixNodes; }
  const std::vector<ReplicaCount>& best() const { return best_; }

 private:
  /// Replicas of one variant that cost the same: the running ones above `least`, or the ones to start.
  struct Segment {
    std::size_t option = 0;
    ReplicaCount count = 0;
    __int128 cost = 0;  // cost of one replica
  };

  __int128 cost(std::size_t i, ReplicaCount n) const {
    const MixOption& option = options_[i];
    return static_cast<__int128>(option.price) *
           (static_cast<__int128>(horizon_) * n + static_cast<__int128>(lead_) * std::abs(n - option.current));
  }

  void order_segments() {
    for (std::size_t i = 0; i < options_.size(); ++i) {
      const MixOption& option = options_[i];
      if (option.worth_milli == 0) continue;
      const ReplicaCount runs = std::clamp(option.current, option.least, most_[i]);
      const auto price = static_cast<__int128>(option.price);
      if (runs > option.least) segments_.push_back({i, runs - option.least, price * (horizon_ - lead_)});
      if (most_[i] > runs) segments_.push_back({i, most_[i] - runs, price * (horizon_ + lead_)});
    }
    std::ranges::sort(segments_, [&](const Segment& a, const Segment& b) {
      const __int128 left = a.cost * options_[b.option].worth_milli;
      const __int128 right = b.cost * options_[a.option].worth_milli;
      return left != right ? left < right : a.option < b.option;
    });
  }

  /// Returns a lower bound on the cost at which the variants from `from` on carry `needed`: the cost of the fractional
  /// optimum, rounded down. Costs are convex, so the optimum takes the segments that are cheapest per worth.
  __int128 bound(std::size_t from, std::int64_t needed) const {
    __int128 total = 0;
    for (std::size_t i = from; i < options_.size(); ++i) {
      total += cost(i, options_[i].least);
      needed -= options_[i].least * options_[i].worth_milli;
    }
    for (const Segment& segment : segments_) {
      if (needed <= 0) break;
      if (segment.option < from) continue;
      const std::int64_t worth = options_[segment.option].worth_milli;
      const std::int64_t used = std::min(needed, segment.count * worth);
      total += segment.cost * used / worth;
      needed -= used;
    }
    return total;
  }

  /// Returns the replicas of variant `i` in the fractional optimum.
  ReplicaCount fractional_count(std::size_t i, std::int64_t needed) const {
    for (std::size_t k = i; k < options_.size(); ++k) needed -= options_[k].least * options_[k].worth_milli;
    ReplicaCount count = options_[i].least;
    for (const Segment& segment : segments_) {
      if (needed <= 0) break;
      if (segment.option < i) continue;
      const std::int64_t worth = options_[segment.option].worth_milli;
      const std::int64_t used = std::min(needed, segment.count * worth);
      if (segment.option == i) count += ceil_div(used, worth);
      needed -= used;
    }
    return std::clamp(count, options_[i].least, most_[i]);
  }

  void descend(std::size_t i, std::int64_t needed, __int128 so_far) {
    if (++nodes_ > kMaxMixNodes && found()) return;
    if (i + 1 == options_.size()) return close(i, needed, so_far);
    const ReplicaCount middle = fractional_count(i, needed);
    // The search goes from `middle` in both directions. It ends in a direction as soon as the bound exceeds the best
    // cost, because costs are convex.
    for (ReplicaCount n = middle; n <= most_[i] && try_one(i, n, needed, so_far); ++n) {
    }
    for (ReplicaCount n = middle - 1; n >= options_[i].least && try_one(i, n, needed, so_far); --n) {
    }
  }

  /// @return false: neither this count nor any further out in this direction can be better, or the search has reached
  /// its limit of steps
  bool try_one(std::size_t i, ReplicaCount n, std::int64_t needed, __int128 so_far) {
    const std::int64_t left = needed - n * options_[i].worth_milli;
    if (left > worth_from_[i + 1])
      return false;  // below the fractional optimum: this count and smaller ones are too few
    const __int128 with = so_far + cost(i, n);
    if (found() && with + bound(i + 1, left) > best_cost_) return false;
    chosen_[i] = n;
    descend(i + 1, left, with);
    return nodes_ <= kMaxMixNodes || !found();
  }

  void close(std::size_t i, std::int64_t needed, __int128 so_far) {
    const MixOption& option = options_[i];
    const ReplicaCount fewest = needed <= 0               ? 0
                                : option.worth_milli == 0 ? most_[i] + 1
                                                          : ceil_div(needed, option.worth_milli);
    chosen_[i] = std::max(fewest, option.least);
    if (chosen_[i] > most_[i]) return;
    const __int128 total = so_far + cost(i, chosen_[i]);
    if (found() && (total > best_cost_ || (total == best_cost_ && !changes_less()))) return;
    best_ = chosen_;
    best_cost_ = total;
  }

  bool changes_less() const { return change_rank(options_, chosen_) < change_rank(options_, best_); }

  std::span<const MixOption> options_;
  std::int64_t needed_;
  std::int64_t horizon_;
  std::int64_t lead_;
  std::vector<ReplicaCount> most_;
  std::vector<std::int64_t>
      worth_from_;                 // by variant: largest worth that this and all later variants can have together
  std::vector<Segment> segments_;  // segments, cheapest per worth first
  std::vector<ReplicaCount> chosen_;
  std::vector<ReplicaCount> best_;
  __int128 best_cost_ = 0;
  std::size_t nodes_ = 0;
};

Mix summed(std::span<const MixOption> options, std::vector<ReplicaCount> replicas, std::int64_t needed, bool exact) {
  Mix mix{.replicas = std::move(replicas), .exact = exact};
  for (std::size_t i = 0; i < options.size(); ++i) {
    mix.worth_milli += mix.replicas[i] * options[i].worth_milli;
    mix.price += mix.replicas[i] * options[i].price;
  }
  mix.covers = mix.worth_milli >= needed;
  return mix;
}

}  // namespace

__int128 mix_cost(std::span<const MixOption> options, std::span<const ReplicaCount> replicas, const MixTerms& terms) {
  __int128 keeps = 0, changes = 0;
  bool starts = false;
  for (std::size_t i = 0; i < options.size(); ++i) {
    const auto price = static_cast<__int128>(options[i].price);
    keeps += price * replicas[i];
    changes += price * std::abs(replicas[i] - options[i].current);
    starts = starts || replicas[i] > options[i].current;
  }
  return keeps * terms.horizon.count() + (starts ? changes * terms.lead.count() : 0);
}

std::optional<ReplicaCount> replicas_alone(const MixOption& option, std::int64_t needed_milli) {
  if (option.worth_milli == 0) return std::nullopt;
  const ReplicaCount count =
      std::max(option.least, ceil_div(std::max<std::int64_t>(needed_milli, 1), option.worth_milli));
  return count <= option.most ? std::optional(count) : std::nullopt;
}

Mix cheapest_mix(std::span<const MixOption> options, std::int64_t needed_milli, const MixTerms& terms) {
  for (const MixOption& option : options) {
    CAPSTAN_ASSERT(option.worth_milli >= 0 && option.price > 0 && option.least >= 0 && option.least <= option.most);
  }
  CAPSTAN_ASSERT(!options.empty() && terms.lead >= Duration{} && terms.lead < terms.horizon);
  Search stops(options, needed_milli, terms, false);
  Search all(options, needed_milli, terms, true);
  stops.run();
  all.run();
  if (!all.found()) {
    std::vector<ReplicaCount> most;
    for (const MixOption& option : options) most.push_back(option.worth_milli > 0 ? option.most : option.least);
    return summed(options, std::move(most), needed_milli, true);
  }
  const auto rank = [&](const std::vector<ReplicaCount>& replicas) {
    return std::tuple(mix_cost(options, replicas, terms), change_rank(options, replicas));
  };
  const bool stop = stops.found() && rank(stops.best()) <= rank(all.best());
  return summed(options, stop ? stops.best() : all.best(), needed_milli, stops.exact() && all.exact());
}

}  // namespace capstan::decide::scale
