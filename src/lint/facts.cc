#include "lint/facts.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <map>

#include "base/similar_names.h"
#include "base/sort_unique.h"
#include "base/split.h"
#include "lint/bundled_facts.h"
#include "lint/fact_rows.h"

namespace capstan::lint {
namespace {

using Row = std::vector<std::string_view>;

std::int64_t number(std::string_view text) {
  std::int64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

/// Returns a metric's name with '_' in place of ':'. Adapters write it so, because they cannot serve a ':'.
std::string with_underscores(std::string_view name) {
  std::string out(name);
  std::ranges::replace(out, ':', '_');
  return out;
}

template <typename Fact>
std::map<std::string, Fact> by_name(const std::vector<Fact>& facts) {
  std::map<std::string, Fact> index;
  for (const Fact& fact : facts) index.emplace(with_underscores(fact.metric), fact);
  return index;
}

std::vector<KnownMetric> known_metrics() {
  std::vector<KnownMetric> metrics;
  for (const Row& row : fact_rows(kMetricsCsv)) metrics.push_back({row[0], row[1], row[2], row[3]});
  return metrics;
}

MigProduct mig_product(const Row& row) {
  MigProduct product{
      .product = row[0], .pci_devices = split(row[1], ' '), .memory_slots = number(row[2]), .profiles = {}};
  for (const std::string_view profile : split(row[3], ' ')) {
    const std::size_t colon = profile.find(':');
    product.profiles.emplace_back(profile.substr(0, colon), number(profile.substr(colon + 1)));
  }
  return product;
}

}  // namespace

std::span<const GpuFamily> gpu_families() {
  static const std::vector<GpuFamily> families = [] {
    std::vector<GpuFamily> list;
    for (const Row& row : fact_rows(kGpuFamiliesCsv)) {
      list.push_back(
          {row[0], row[1], row[2], number(row[3]), number(row[4]), number(row[5]), number(row[7]), number(row[8])});
    }
    return list;
  }();
  return families;
}

const GpuFamily* gpu_family(std::string_view name) {
  name = name.substr(0, name.find('.'));
  const auto families = gpu_families();
  const auto found = std::ranges::find(families, name, &GpuFamily::family);
  return found == families.end() ? nullptr : &*found;
}

std::optional<std::int64_t> gpus_of_instance(std::string_view type) {
  const GpuFamily* family = gpu_family(type);
  const std::size_t dot = type.find('.');
  if (family == nullptr || dot == type.npos) return std::nullopt;
  if (family->min_gpus == family->max_gpus) return family->min_gpus;
  const std::string_view size = type.substr(dot + 1);
  // In most families, xlarge, 2xlarge, 4xlarge, 8xlarge and 16xlarge have one GPU, but 12xlarge and 24xlarge have four.
  // The conditions on a family handle the exceptions.
  if (size == "metal" || size == "48xlarge") return family->max_gpus;
  if (family->family == "p3") return size == "2xlarge" ? 1 : size == "8xlarge" ? 4 : 8;
  if (family->family == "g3") return size == "8xlarge" ? 2 : size == "16xlarge" ? 4 : 1;
  if (family->family == "g5g") return size == "16xlarge" ? 2 : 1;
  if (family->family.starts_with("g7") && size == "12xlarge") return 2;
  if (family->family == "p2") return size == "xlarge" ? 1 : size == "8xlarge" ? 8 : 16;
  if (size == "12xlarge") return 4;
  if (size == "24xlarge") return 4;
  if (family->family == "p5" && size == "4xlarge") return 1;
  return size == "xlarge" || size == "2xlarge" || size == "4xlarge" || size == "8xlarge" || size == "16xlarge"
             ? std::optional<std::int64_t>(1)
             : std::nullopt;
}

std::optional<std::int64_t> cpus_of_instance(std::string_view type) {
  constexpr std::int64_t kCpusOfXlarge = 4;
  const std::string_view size = type.substr(std::min(type.find('.'), type.size()));
  if (size == ".xlarge") return kCpusOfXlarge;
  if (!size.ends_with("xlarge")) return std::nullopt;
  const std::int64_t multiple = number(size.substr(1));
  return multiple > 0 ? std::optional(multiple * kCpusOfXlarge) : std::nullopt;
}

std::string_view since_version(std::string_view fact) {
  static const std::map<std::string_view, std::string_view> versions = [] {
    std::map<std::string_view, std::string_view> index;
    for (const Row& row : fact_rows(kVersionsCsv)) index.emplace(row[0], row[1]);
    return index;
  }();
  const auto found = versions.find(fact);
  return found == versions.end() ? std::string_view() : found->second;
}

std::optional<std::uint32_t> minor_of(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789";
  const std::size_t major = text.find_first_of(kDigits);
  const std::size_t dot = text.find_first_not_of(kDigits, std::min(major, text.size()));
  if (dot == text.npos || text[dot] != '.') return std::nullopt;
  std::uint32_t minor = 0;
  const auto [end, error] = std::from_chars(text.data() + dot + 1, text.data() + text.size(), minor);
  return error == std::errc() ? std::optional(minor) : std::nullopt;
}

std::optional<std::uint32_t> vllm_minor_of(std::string_view image) {
  return image.find("vllm") == image.npos ? std::nullopt : minor_of_tag(image);
}

std::optional<std::uint32_t> minor_of_tag(std::string_view image) {
  const std::size_t tag = image.rfind(":v0.");
  return tag == image.npos ? std::nullopt : minor_of(image.substr(tag));
}

std::optional<Version> version_of_tag(std::string_view image) {
  image = image.substr(0, image.find('@'));
  const std::size_t colon = image.rfind(':');
  std::string_view rest = colon == image.npos ? std::string_view() : image.substr(colon + 1);
  if (rest.starts_with('v')) rest.remove_prefix(1);
  Version version{};
  for (std::size_t part = 0; part < version.size(); ++part) {
    if (part > 0 && !rest.starts_with('.')) return part == 2 ? std::optional(version) : std::nullopt;
    if (part > 0) rest.remove_prefix(1);
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), version[part]);
    if (error != std::errc()) return std::nullopt;
    rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
  }
  return version;
}

const RemovedApi* removed_api(std::string_view api_version, std::string_view kind) {
  static const std::vector<RemovedApi> apis = [] {
    std::vector<RemovedApi> list;
    for (const Row& row : fact_rows(kRemovedApisCsv)) list.push_back({row[0], row[1], row[2], row[3], row[4]});
    return list;
  }();
  const auto found = std::ranges::find_if(
      apis, [&](const RemovedApi& api) { return api.api_version == api_version && api.kind == kind; });
  return found == apis.end() ? nullptr : &*found;
}

const RemovedMetric* removed_metric(std::string_view name) {
  static const std::map<std::string, RemovedMetric> index = [] {
    std::vector<RemovedMetric> metrics;
    for (const Row& row : fact_rows(kRemovedMetricsCsv)) metrics.push_back({row[0], row[1], row[2], row[3]});
    return by_name(metrics);
  }();
  for (const std::string_view ending : {"", "_bucket", "_sum", "_count"}) {
    if (!name.ends_with(ending)) continue;
    const auto found = index.find(with_underscores(name.substr(0, name.size() - ending.size())));
    if (found != index.end()) return &found->second;
  }
  return nullptr;
}

const RemovedFlag* removed_flag(std::string_view engine, std::string_view flag) {
  static const std::vector<RemovedFlag> flags = [] {
    std::vector<RemovedFlag> list;
    for (const Row& row : fact_rows(kRemovedFlagsCsv)) list.push_back({row[0], row[1], row[2], row[3], row[4]});
    return list;
  }();
  std::string name(flag);
  std::ranges::replace(name, '_', '-');
  const auto found =
      std::ranges::find_if(flags, [&](const RemovedFlag& row) { return row.engine == engine && row.flag == name; });
  return found == flags.end() ? nullptr : &*found;
}

std::string_view priority_class_of(std::string_view name) {
  for (const Row& row : fact_rows(kPriorityClassesCsv)) {
    if (row[0] == name) return row[1];
  }
  return {};
}

const KnownMetric* known_metric(std::string_view name) {
  static const std::map<std::string, KnownMetric> index = by_name(known_metrics());
  const std::string key = with_underscores(name);
  if (const auto found = index.find(key); found != index.end()) return &found->second;
  for (const std::string_view ending : {"_total", "_bucket", "_sum", "_count", "_created"}) {
    if (!key.ends_with(ending)) continue;
    const auto found = index.find(key.substr(0, key.size() - ending.size()));
    if (found == index.end()) continue;
    const bool is_counter_ending = ending == "_total" || ending == "_created";
    const KnownMetric& metric = found->second;
    if (metric.is_gauge() || (metric.type == "counter" && (!is_counter_ending || metric.is_counter_without_total())))
      continue;
    return &found->second;
  }
  return nullptr;
}

std::string missing_ending(std::string_view name) {
  const KnownMetric* metric = known_metric(name);
  if (metric == nullptr || with_underscores(metric->metric) != with_underscores(name)) return {};
  if (metric->type == "histogram") return std::string(name) + "_bucket";
  return metric->type == "counter" && !metric->is_counter_without_total() ? std::string(name) + "_total"
                                                                          : std::string();
}

std::string_view engine_prefix(std::string_view name) {
  for (const std::string_view prefix : {"vllm:", "sglang:", "trtllm_", "nv_inference_", "tgi_"}) {
    if (name.starts_with(prefix)) return prefix;
  }
  return {};
}

namespace {

/// Returns the names of all series of a metric. The first one is what a query most likely means.
std::vector<std::string> series_of(const KnownMetric& metric) {
  const std::string name(metric.metric);
  if (metric.type == "histogram") return {name + "_bucket", name + "_sum", name + "_count"};
  const bool has_total = metric.type == "counter" && !metric.is_counter_without_total();
  return {has_total && !name.ends_with("_total") ? name + "_total" : name};
}

}  // namespace

std::vector<std::string> nearest_metrics(std::string_view name) {
  constexpr std::size_t kMaxNames = 4;
  static const std::vector<KnownMetric> metrics = known_metrics();
  static const std::vector<std::string> series = [] {
    std::vector<std::string> list;
    for (const KnownMetric& metric : metrics) std::ranges::move(series_of(metric), std::back_inserter(list));
    return list;
  }();
  std::vector<std::string> found;
  // A known name that begins with this name is most likely the intended one.
  for (const KnownMetric& metric : metrics) {
    if (metric.metric.starts_with(name)) found.push_back(series_of(metric).front());
  }
  if (found.empty()) {
    const std::vector<std::string_view> names(series.begin(), series.end());
    for (const std::string_view near : similar_names(name, names)) found.emplace_back(near);
  }
  sort_unique(found);
  if (found.size() > kMaxNames) found.resize(kMaxNames);
  return found;
}

std::optional<std::int64_t> MigProduct::max_of(std::string_view profile) const {
  const auto found = std::ranges::find_if(profiles, [&](const auto& entry) { return entry.first == profile; });
  return found == profiles.end() ? std::nullopt : std::optional(found->second);
}

std::span<const MigProduct> mig_products() {
  static const std::vector<MigProduct> products = [] {
    std::vector<MigProduct> list;
    for (const Row& row : fact_rows(kMigCsv)) list.push_back(mig_product(row));
    return list;
  }();
  return products;
}

}  // namespace capstan::lint
