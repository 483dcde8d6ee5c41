#pragma once

#include <array>
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
  std::int64_t min_cpus_per_gpu = 0;    ///< CPUs per GPU of the size that has the fewest
  std::int64_t min_memory_per_cpu = 0;  ///< memory per CPU of the size that has the least, GiB
};
/// Returns the row of a family ("g6e") or of an instance type ("g6e.xlarge"); null if it has no GPU or is not in the
/// table.
const GpuFamily* gpu_family(std::string_view family_or_type);
std::span<const GpuFamily> gpu_families();

/// Returns the number of GPUs of an AWS instance type: 4 for "g5.12xlarge". Returns none if the family or the size is
/// unknown.
std::optional<std::int64_t> gpus_of_instance(std::string_view type);
/// Returns the number of CPUs of an AWS instance type: 48 for "g5.12xlarge". Returns none if the size is unknown.
std::optional<std::int64_t> cpus_of_instance(std::string_view type);

/// Returns the version since which a fact holds, such as "1.37". data/lint/versions.csv lists the facts by name.
std::string_view since_version(std::string_view fact);
/// Returns the minor version of the first version in a text: 37 for "1.37", 13 for "vLLM 0.13". Returns none if the
/// text has no version.
std::optional<std::uint32_t> minor_of(std::string_view text);
/// Returns the minor version of vLLM in the tag of an image: 8 for "vllm/vllm-openai:v0.8.5".
std::optional<std::uint32_t> vllm_minor_of(std::string_view image);
/// Returns the minor version of vLLM in the tag of an image with any name. The container must be known to run vLLM.
std::optional<std::uint32_t> minor_of_tag(std::string_view image);

/// Major, minor and patch number of a version.
using Version = std::array<std::uint32_t, 3>;
/// Returns the version in the tag of an image: {0, 11, 2} for "adapter:v0.11.2". A missing patch number is 0. Returns
/// none if the tag is no version.
std::optional<Version> version_of_tag(std::string_view image);

/// An API version of a kind that a release removed. `removed_in` is "never" if no release ever had it.
struct RemovedApi {
  std::string_view api_version, kind, removed_in, instead, product;
};
const RemovedApi* removed_api(std::string_view api_version, std::string_view kind);

/// A metric that a release of an engine removed or renamed.
struct RemovedMetric {
  std::string_view metric, instead, since, source;
};
/// Returns the row of a metric, or null. The name may have '_' in place of ':', as adapters write it.
const RemovedMetric* removed_metric(std::string_view name);

/// A flag that a version of an engine removed.
struct RemovedFlag {
  std::string_view engine, flag, removed_in, instead, source;
};
/// Returns the row of a flag, or null if the table does not list it as removed. '-' and '_' are equal, as in the
/// engines.
const RemovedFlag* removed_flag(std::string_view engine, std::string_view flag);

/// Returns the product that installs a PriorityClass of this name, for example "KAI"; empty if no known product does.
std::string_view priority_class_of(std::string_view name);

/// A metric that an engine or a router exposes.
struct KnownMetric {
  std::string_view engine, metric, type, unit;
  bool is_gauge() const { return type == "gauge"; }
  bool is_ratio() const { return unit == "ratio"; }
  /// Returns true for a counter of Triton or TGI. These engines expose counters without the ending `_total`.
  bool is_counter_without_total() const { return type == "counter" && (engine == "triton" || engine == "tgi"); }
  /// Returns true for a metric of a router in front of the engines. A router has metrics even while no engine runs.
  bool is_of_router() const { return engine == "production-stack"; }
};
/// Returns the row of a metric, with or without the endings of its type (`_total`, `_bucket`, ...); null if it is
/// unknown.
const KnownMetric* known_metric(std::string_view name);
/// Adds the ending that a metric's series has: returns "vllm:prompt_tokens_total" for "vllm:prompt_tokens". Returns an
/// empty text if the name needs no ending.
std::string missing_ending(std::string_view name);
/// Returns the prefix of a name, such as "vllm:", if the table has all metrics with this prefix; otherwise empty.
std::string_view engine_prefix(std::string_view name);
/// Returns the most similar series of known metrics, at most four: "vllm:prompt_tokens_total" for a counter, and for a
/// histogram its buckets, unless the name has another ending. Empty if no series is similar enough.
std::vector<std::string> nearest_metrics(std::string_view name);

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
