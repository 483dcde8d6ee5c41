#pragma once

#include <vector>

#include "decide/scale/capstan/capacity.h"
#include "decide/scale/capstan/load.h"
#include "decide/scale/scale.h"

// What a decision of Capstan's own policy works with, whether it is about one variant or about a mix: what is seen,
// what each variant carries, what is needed. The unit of all of it is a replica of the first variant.
namespace capstan::decide::scale {

inline constexpr double kTolerated = 0.05;        // of a replica, above a whole number
inline constexpr double kMarginTolerated = 0.25;  // of what is kept in hand may be used up before more is asked for
inline constexpr double kClearly = 0.5;  // of a replica, so much less than a whole one goes after the short window

/// One variant in a decision.
struct VariantStep {
  const RoleView* role = nullptr;  ///< with its own replicas and the most of them
  ReplicaCount min = 0;            ///< the least of them, with the floors that begin before one more could serve
  EngineBelief engine;
  Capacity carries;
  double worth = 1;  ///< of one of its replicas; 0: nothing is to be planned for them
  Lead lead;
  bool denied = false;  ///< its GPUs cannot be had now
};

struct Step {
  const RoleView& role;  ///< with the replicas of all variants
  const Capstan& policy;
  CapstanMemory& memory;
  Instant now;
  Duration since_last;
  Load load;
  Shape shape;
  std::vector<VariantStep> variants;  ///< by position, as in `load`
  Sizing sizing;
  bool lead_known = false;

  const Capacity& unit() const { return variants.front().carries; }
  double serving() const;            ///< what those that serve are worth
  double counted() const;            ///< with those that are on their way
  double sequences_serving() const;  ///< at the batches that they carry
  double queued() const;             ///< requests in flight beyond those
  double requests_per_s() const;     ///< that one replica serves
};

/// Reads what is to be read, once, and learns from it.
/// @param role  of a mix: the replicas of all variants together
Step observe(const RoleView& role, const Capstan& policy, CapstanMemory& memory, Instant now);

/// Demand, and what to be ready for: `needed`.
double size(Step& step);

/// A whole number of replicas.
ReplicaCount whole(double replicas, double tolerated = kTolerated);

/// The most that was needed in the time that a stop and a start again take, with what may come on top, and in the time
/// after which surplus goes in any case.
struct LookBack {
  Duration round_trip{};
  Duration longest{};
  Duration seen{};
  double soon = 0;
  double late = 0;
};
LookBack look_back(Step& step, double needed);
void tell_window(Step& step, Duration window);

/// How many have to serve at the moment, where more can come out of the other role, and go there, within seconds: no
/// forecast, and what waits is to be gone within a few conversions.
ReplicaCount needed_now(const Step& step);

/// Nothing has been asked for in so long that the last one could go: where none is allowed, and a gateway that is heard
/// holds what comes.
bool could_sleep(const Step& step);

/// That stay while nothing is asked for, as a start from fewer would make more late than the SLO lets miss.
ReplicaCount kept_warm(const Step& step);

/// Why those are kept warm.
model::Reason too_late(const WarmSizing& warm);

/// Of a service of several variants: how many of each, in one decision.
Decision decide_mix(const Capstan& policy, const RoleView& role, CapstanMemory& memory, Instant now);

}  // namespace capstan::decide::scale
