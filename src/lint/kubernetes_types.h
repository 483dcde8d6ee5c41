#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "lint/object.h"

// The fields of Kubernetes' own workloads, Services, ConfigMaps, autoscalers and disruption budgets, from
// data/lint/kubernetes_fields.csv.
namespace capstan::lint {

/// The newest minor version of Kubernetes whose fields are in the table.
constexpr std::uint32_t kNewestKnownMinor = 37;

/// A value that Kubernetes' API server refuses.
struct TypeFault {
  enum class Kind : std::uint8_t {
    unknown_field,  ///< no such field
    not_text,       ///< number or boolean where a text is expected, or a mapping or list
    not_integer,
    not_boolean,
    not_mapping,
    not_list,
  };
  Kind kind = Kind::unknown_field;
  const Value* value = nullptr;
  const Value* parent = nullptr;  ///< mapping that holds an unknown field
  std::string path{};             ///< "spec.template.spec.containers[0].resource"
  /// Names of fields that an unknown field may mean, the most similar ones.
  std::vector<std::string_view> similar{};
  /// Place that has a field of this name: "each container"; empty if no place has one.
  std::string_view other_place{};
};

/// Compares an object with the fields and types that Kubernetes gives its kind. In custom resources with pod templates
/// of Kubernetes, such as a LeaderWorkerSet, only unknown fields of the templates are found. Finds nothing in an object
/// of another kind or version. A null counts as an absent value, and a variable that is filled in later as a value of
/// any type.
std::vector<TypeFault> type_faults(const Object& object);

/// Returns true if Kubernetes' YAML reader takes the value for a number or a boolean: it has no quotes and is 5, 0x10,
/// 1e3, true or yes.
bool is_number_or_boolean(const Value& value);

/// Returns true for a variable that is filled in later: `${REPLICAS}`, `<count>`, REPLICAS.
bool is_variable(std::string_view text);

}  // namespace capstan::lint
