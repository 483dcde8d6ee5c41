#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// Facts that change with time. They come from the tables in data/lint, which are compiled into the program.
namespace capstan::lint {

/// A family of instance types. Instances of "g6e" have one to eight L40S.
struct GpuFamily {
  std::string_view provider, family, gpu;
  std::int64_t memory_gib = 0;
  std::int64_t min_gpus = 0;
  std::int64_t max_gpus = 0;
};
/// Returns the row of a family ("g6e") or of an instance type ("g6e.xlarge"); null if it has no GPU or is not in the
/// table.
const GpuFamily* gpu_family(std::string_view family_or_type);
std::span<const GpuFamily> gpu_families();

/// Returns the number of GPUs of an AWS instance type: 4 for "g5.12xlarge". Returns none if the family is unknown.
std::optional<std::int64_t> gpus_of_instance(std::string_view type);

/// Returns the version since which a fact holds, by its name in data/lint/versions.csv: "1.37".
std::string_view since_version(std::string_view fact);
/// Returns the minor version of the first version in a text: 37 of "1.37", 13 of "vLLM 0.13"; none if the text has
/// none.
std::optional<std::uint32_t> minor_of(std::string_view text);
/// Returns the minor version of vLLM in the tag of an image: 8 of "vllm/vllm-openai:v0.8.5".
std::optional<std::uint32_t> vllm_minor_of(std::string_view image);

/// An API version of a kind that a release removed.
struct RemovedApi {
  std::string_view api_version, kind, removed_in, instead, product;
};
const RemovedApi* removed_api(std::string_view api_version, std::string_view kind);

/// A metric that a release of an engine removed or renamed.
struct RemovedMetric {
  std::string_view metric, instead, since, source;
};
/// Returns the row of a metric, or null. The name may be written as adapters do, with '_' instead of ':'.
const RemovedMetric* removed_metric(std::string_view name);

/// A flag that an engine refuses from some version on.
struct RemovedFlag {
  std::string_view engine, flag, removed_in, instead, source;
};
/// Returns the row of a flag, or null if the engine still accepts it. '-' and '_' are equal, as they are for the
/// engines.
const RemovedFlag* removed_flag(std::string_view engine, std::string_view flag);

/// Returns the product that installs a PriorityClass of this name, for example "KAI"; empty if no known product does.
std::string_view priority_class_of(std::string_view name);

/// A metric that an engine or a router exposes.
struct KnownMetric {
  std::string_view engine, metric, type, unit;
  bool is_gauge() const { return type == "gauge"; }
  bool is_ratio() const { return unit == "ratio"; }
  /// Returns true for counters that are exposed without the ending `_total`, which are those of Triton and TGI.
  bool is_counter_as_named() const { return type == "counter" && (engine == "triton" || engine == "tgi"); }
  /// Returns true for metrics of a router in front of the engines. The router runs even if no engine does.
  bool is_of_router() const { return engine == "production-stack"; }
};
/// Returns the row of a metric, with or without the endings of its type (`_total`, `_bucket`, ...); null if it is
/// unknown.
const KnownMetric* known_metric(std::string_view name);
/// Returns the name of the series for a metric's name that lacks the ending of its series: "vllm:prompt_tokens_total"
/// for "vllm:prompt_tokens". Returns an empty text if the name is already that of a series.
std::string missing_ending(std::string_view name);
/// Returns the prefix of an engine whose metrics are all in the table, for example "vllm:"; empty if the name has no
/// such prefix.
std::string_view engine_prefix(std::string_view name);
/// Returns the known name that is most similar; empty if none is similar enough.
std::string nearest_metric(std::string_view name);

/// A GPU that MIG can divide, with the maximum number of instances of each profile.
struct MigProduct {
  std::string_view product;
  std::vector<std::string_view> pci_devices;
  std::int64_t memory_slots = 8;
  std::vector<std::pair<std::string_view, std::int64_t>> profiles;

  std::optional<std::int64_t> max_of(std::string_view profile) const;
};
std::span<const MigProduct> mig_products();

}  // namespace capstan::lint
