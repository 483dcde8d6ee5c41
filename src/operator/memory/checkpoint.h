#pragma once

#include <array>
#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "control/slo_watch.h"
#include "decide/scale/scale.h"
#include "kube/json.h"
#include "kube/resource.h"
#include "operator/memory/ledger.h"

namespace capstan::op {

inline const kube::Resource kConfigMaps{"", "v1", "configmaps", "ConfigMap", true};

/// What a successor needs to decide the same: the memory of every service, and its ledger. It is kept in a fixed number
/// of ConfigMaps beside the Lease, a line a service, so that one change rewrites a part (docs/decisions).
struct Checkpoint {
  static constexpr std::size_t kParts = 8;
  /// Below the API server's bound of 1 MiB for an object. Lines that do not fit are left out: their services begin
  /// anew.
  static constexpr std::size_t kPartBytes = 900'000;

  struct Row {
    decide::scale::Memory memory;         ///< gangs are named by their position in `replicas`: an id is a process's own
    std::vector<std::string> replicas{};  ///< uids of the pods that speak for them, in the order of their ids
    Ledger ledger;
    control::SloMemory slo;
    friend bool operator==(const Row&, const Row&) = default;
  };
  std::map<std::string, Row> rows;  ///< by `ServiceOrigin::key`
  friend bool operator==(const Checkpoint&, const Checkpoint&) = default;
};

std::string checkpoint_name(std::size_t part);  ///< of its ConfigMap
std::size_t part_of(std::string_view row_key);  ///< where a row stands

/// The bodies of the ConfigMaps, for server-side apply.
/// @param left_out  is set to how many rows did not fit
std::array<std::string, Checkpoint::kParts> to_config_maps(const Checkpoint& checkpoint, std::size_t& left_out);

/// Adds what a ConfigMap holds. Lines that cannot be read are left out: another version wrote them.
/// @return how many were left out
std::size_t read_config_map(kube::Json object, Checkpoint& into);

}  // namespace capstan::op
