#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

// Facts that age, from the tables in data/lint, which the program carries.
namespace capstan::lint {

/// A family of instance types: "g6e" has one to eight L40S.
struct GpuFamily {
  std::string_view provider, family, gpu;
  std::int64_t memory_gib = 0;
  std::int64_t least_gpus = 0;
  std::int64_t most_gpus = 0;
};
/// Of a family ("g6e") or an instance type ("g6e.xlarge"); null where it has no GPU that we know.
const GpuFamily* gpu_family(std::string_view family_or_type);
std::span<const GpuFamily> gpu_families();

/// GPUs of an AWS instance type whose family comes in several sizes: "g5.12xlarge" has four.
std::optional<std::int64_t> gpus_of_instance(std::string_view type);

/// The version since which something holds, by its name in data/lint/versions.csv: "1.37".
std::string_view since_version(std::string_view fact);
/// The minor of the first version in words: 37 of "1.37", 13 of "vLLM 0.13"; none where there is none.
std::optional<std::uint32_t> minor_of(std::string_view words);
/// The minor of the vLLM that an image is tagged with, 8 of "vllm/vllm-openai:v0.8.5".
std::optional<std::uint32_t> vllm_minor_of(std::string_view image);

struct RemovedApi {
  std::string_view api_version, kind, removed_in, instead, product;
};
const RemovedApi* removed_api(std::string_view api_version, std::string_view kind);

struct RemovedMetric {
  std::string_view metric, instead, since, source;
};
/// Of a name as an adapter may write it, with '_' for ':'.
const RemovedMetric* removed_metric(std::string_view name);

/// A flag that an engine refuses from some version on.
struct RemovedFlag {
  std::string_view engine, flag, removed_in, instead, source;
};
/// Returns the row of a flag, with '-' or '_' as engines take both; null where the engine still has it.
const RemovedFlag* removed_flag(std::string_view engine, std::string_view flag);

/// Returns the product that installs a PriorityClass of this name, "KAI"; empty where none is known.
std::string_view priority_class_of(std::string_view name);

struct KnownMetric {
  std::string_view engine, metric, type, unit;
  bool is_gauge() const { return type == "gauge"; }
  bool is_ratio() const { return unit == "ratio"; }
  /// Returns true for counters that are exposed under their own name, without `_total`: those of Triton and TGI.
  bool is_counter_as_named() const { return type == "counter" && (engine == "triton" || engine == "tgi"); }
  /// Of a router in front of the engines, which is there while they are not.
  bool is_of_router() const { return engine == "production-stack"; }
};
/// A metric of an engine, with or without the endings that its kind has (`_total`, `_bucket`, ...).
const KnownMetric* known_metric(std::string_view name);
/// Returns the name of a series that was meant by a known metric's name without the ending that its series have:
/// "vllm:prompt_tokens_total" of "vllm:prompt_tokens"; empty where the name is one of a series.
std::string missing_ending(std::string_view name);
/// The prefix of an engine whose metrics are all known, "vllm:"; empty where the name has none.
std::string_view engine_prefix(std::string_view name);
/// The known name that was probably meant; empty where none is near.
std::string nearest_metric(std::string_view name);

/// A GPU that MIG divides, with how many of each profile it takes.
struct MigProduct {
  std::string_view product;
  std::vector<std::string_view> pci_devices;
  std::int64_t memory_slots = 8;
  std::vector<std::pair<std::string_view, std::int64_t>> profiles;

  std::optional<std::int64_t> most_of(std::string_view profile) const;
};
std::span<const MigProduct> mig_products();

}  // namespace capstan::lint
