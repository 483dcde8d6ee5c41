#include "decide/provision/context.h"

#include <utility>

namespace capstan::decide::provision {
namespace {

/// Returns true if a step is due, and notes its time.
bool begin_if_due(Instant& last, Duration every, Instant now) {
  if (!last.is_never() && now - last < every) return false;
  last = now;
  return true;
}

}  // namespace

Context::Context(Index& rooms_index, const model::Snapshot& from, const place::Decision& placement, const Policy& with,
                 Memory& known, Instant at, std::vector<model::Action> to_release)
    : index(rooms_index),
      snapshot(from),
      placed(placement),
      policy(with),
      memory(known),
      now(at),
      releases(std::move(to_release)),
      capacity(rooms_index, from, known, at),
      nominated(placement.nominated) {
  decision.expected_gpus = capacity.expected_nodes().gpus();
  scans = begin_if_due(memory.last_scan, policy.scan_interval, now);
  consolidates =
      policy.consolidation.enabled && begin_if_due(memory.last_consolidation, policy.consolidation.poll, now);
}

}  // namespace capstan::decide::provision
