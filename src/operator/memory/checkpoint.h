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

/// The state that lets the next leader continue the decisions of this one: the memory and the ledger of every service.
/// It is stored in a fixed number of ConfigMaps in the namespace of the Lease, one line per service, so that a change
/// rewrites only one of them (docs/decisions).
struct Checkpoint {
  static constexpr std::size_t kParts = 8;
  /// Largest text of a part. It is below the API server's limit of 1 MiB per object. Rows that do not fit are left out,
  /// and the next leader starts their services without memory.
  static constexpr std::size_t kPartBytes = 900'000;

  struct Row {
    decide::scale::Memory memory;  ///< a gang id is an index into `replicas`, because ids differ between processes
    std::vector<std::string> replicas{};  ///< UID of the first pod of each gang, in the order of the gang ids
    Ledger ledger;
    control::SloMemory slo;
    friend bool operator==(const Row&, const Row&) = default;
  };
  std::map<std::string, Row> rows;  ///< rows by `ServiceOrigin::key`
  friend bool operator==(const Checkpoint&, const Checkpoint&) = default;
};

/// Returns the name of the ConfigMap of a part.
std::string checkpoint_name(std::size_t part);
/// Returns the part that holds a row.
std::size_t part_of(std::string_view row_key);

/// Returns the bodies of the ConfigMaps, for server-side apply.
/// @param left_out  set to the number of rows that did not fit
std::array<std::string, Checkpoint::kParts> to_config_maps(const Checkpoint& checkpoint, std::size_t& left_out);

/// Adds the rows of a ConfigMap. A line that cannot be parsed comes from another version and is skipped.
/// @return number of skipped lines
std::size_t read_config_map(kube::Json object, Checkpoint& into);

}  // namespace capstan::op
