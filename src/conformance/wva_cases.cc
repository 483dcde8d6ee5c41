#include "conformance/peers.h"
#include "peers/formula/wva_optimizer.h"
#include "peers/formula/wva_queue.h"
#include "peers/formula/wva_saturation.h"

namespace capstan::conformance {
namespace {

using namespace peers;

// Bounds that keep every sum and product over a hostile file within 64 bits.
constexpr std::int64_t kMaxReplicas = 1'000'000;
constexpr std::int64_t kMaxTokens = 1'000'000'000;

ReplicaCount wva_replicas(const CaseInput& given) { return given.integer(0, kMaxReplicas); }
std::int64_t tokens(const CaseInput& given) { return given.integer(0, kMaxTokens); }
double share(const CaseInput& given) { return given.number(-1e9, 1e9); }

/// Reads a member with `read`; returns `fallback` if the member is absent.
template <typename Read, typename Type>
Type or_else(const CaseInput& given, std::string_view key, Read read, Type fallback) {
  const CaseInput member = given.find(key);
  return member ? static_cast<Type>(read(member)) : fallback;
}

wva::SaturationConfig saturation_config(const CaseInput& given) {
  wva::SaturationConfig config;
  const auto bound = [](const CaseInput& number) { return number.number(0, 1e9); };
  config.kv_threshold = or_else(given, "kv_threshold", bound, config.kv_threshold);
  config.queue_threshold = or_else(given, "queue_threshold", bound, config.queue_threshold);
  config.kv_spare_trigger = or_else(given, "kv_spare_trigger", bound, config.kv_spare_trigger);
  config.queue_spare_trigger = or_else(given, "queue_spare_trigger", bound, config.queue_spare_trigger);
  config.scale_up_threshold = or_else(given, "scale_up_threshold", bound, config.scale_up_threshold);
  config.scale_down_boundary = or_else(given, "scale_down_boundary", bound, config.scale_down_boundary);
  return config;
}

Value saturation_v1(const CaseInput& given) {
  std::vector<wva::ReplicaLoad> loads;
  for (const CaseInput& replica : given["replicas"].list()) {
    loads.push_back({replica["variant"].text(), or_else(replica, "kv_used", share, 0.0),
                     or_else(replica, "queue_length", share, 0.0)});
  }
  const wva::Saturation all = wva::analyze_v1(saturation_config(given["config"]), loads);
  const auto variant_of = [](const wva::Saturation::Variant& variant) {
    return object({{"variant", variant.name},
                   {"replicas", variant.replicas},
                   {"non_saturated", variant.non_saturated},
                   {"saturated", variant.replicas - variant.non_saturated}});
  };
  return object({{"total", all.total},
                 {"non_saturated", all.non_saturated},
                 {"scale_up", all.scale_up},
                 {"scale_down_safe", all.scale_down_safe},
                 {"avg_spare_kv", all.spare_kv},
                 {"avg_spare_queue", all.spare_queue},
                 {"variants", array_of(all.variants, variant_of)}});
}

Value saturation_v1_targets(const CaseInput& given) {
  std::vector<wva::VariantState> variants;
  Value::Object unchanged, wanted;
  for (const CaseInput& variant : given["variants"].list()) {
    const wva::VariantState state{variant["variant"].text(),
                                  or_else(variant, "cost", share, 0.0),
                                  or_else(variant, "reporting", replicas, ReplicaCount{0}),
                                  wva_replicas(variant["current"]),
                                  or_else(variant, "desired", replicas, ReplicaCount{0}),
                                  or_else(variant, "pending", replicas, ReplicaCount{0})};
    unchanged.push_back({state.name, state.current});
    if (variant.find("reporting")) variants.push_back(state);
  }
  if (variants.empty()) return object({{"targets", std::move(unchanged)}});  // no variant was analyzed
  const auto targets = wva::targets_v1(given["scale_up"].boolean(), given["scale_down_safe"].boolean(), variants);
  for (std::size_t i = 0; i < variants.size(); ++i) wanted.push_back({variants[i].name, targets[i]});
  return object({{"targets", std::move(wanted)}});
}

wva::Supply analyze(wva::AnalyzerV2& analyzer, const wva::SaturationConfig& config, const CaseInput& given) {
  std::vector<wva::ReplicaTokens> all;
  for (const CaseInput& replica : given["replicas"].list()) {
    wva::ReplicaTokens measured;
    measured.variant = replica["variant"].text();
    measured.accelerator = replica["accelerator"].text();
    measured.tokens_in_use = tokens(replica["tokens_in_use"]);
    measured.total_kv_tokens = tokens(replica["total_kv_tokens"]);
    measured.queue_length = tokens(replica["queue_length"]);
    measured.avg_input = replica["avg_input"].number(0, 1e9);
    measured.avg_output = replica["avg_output"].number(0, 1e9);
    measured.prefix_hit = or_else(replica, "prefix_hit", share, 0.0);
    all.push_back(std::move(measured));
  }
  std::vector<wva::VariantReplicas> variants;
  for (const CaseInput& variant : given["variants"].list()) {
    variants.push_back({variant["variant"].text(), wva_replicas(variant["current"]),
                        or_else(variant, "pending", replicas, ReplicaCount{0})});
  }
  std::optional<wva::SchedulerQueue> queue;
  if (const CaseInput stated = given.find("scheduler_queue")) {
    queue = wva::SchedulerQueue{tokens(stated["size"]), tokens(stated["bytes"])};
  }
  return analyzer.analyze(config, all, variants, queue);
}

wva::CapacityRecord record_of(const CaseInput& given) {
  wva::CapacityRecord record;
  record.accelerator = given["accelerator"].text();
  record.gpus = or_else(given, "gpus", replicas, std::int64_t{1});
  record.live = given["origin"].one_of<bool>({{"live", true}, {"deployment", false}});
  record.effective_capacity = tokens(given["effective_capacity"]);
  record.total_kv_tokens = or_else(given, "total_kv_tokens", tokens, std::int64_t{0});
  record.max_batched_tokens = or_else(given, "max_batched_tokens", tokens, std::int64_t{0});
  record.max_seqs = or_else(given, "max_seqs", tokens, std::int64_t{0});
  if (const CaseInput key = given.find("params_key")) record.params_key = key.is_text() ? key.text() : key.as_json();
  return record;
}

Value saturation_v2(const CaseInput& given) {
  wva::AnalyzerV2 analyzer;
  const wva::SaturationConfig config = saturation_config(given["config"]);
  if (const CaseInput stored = given.find("stored")) {
    for (const CaseInput& record : stored.list()) analyzer.store(record["variant"].text(), record_of(record));
  }
  if (const CaseInput earlier = given.find("earlier")) {
    for (const CaseInput& replayed : earlier.list()) {
      const CaseInput own = replayed.find("config");
      analyze(analyzer, own ? saturation_config(own) : config, replayed);
    }
  }
  const wva::Supply supply = analyze(analyzer, config, given);
  Value::Object capacities;
  for (const auto& [variant, capacity] : supply.per_replica_capacity) capacities.push_back({variant, capacity});
  return object({{"per_replica_capacity", std::move(capacities)},
                 {"total_demand", supply.demand},
                 {"required_capacity", supply.required},
                 {"spare_capacity", supply.spare}});
}

Value cost_aware(const CaseInput& given) {
  Value::Object targets, actions;
  const auto amount = [](const CaseInput& number) { return number.number(); };
  for (const CaseInput& model : given["models"].list()) {
    std::vector<wva::VariantCost> variants;
    for (const CaseInput& variant : model["variants"].list()) {
      variants.push_back({variant["variant"].text(), share(variant["cost"]), share(variant["capacity"]),
                          wva_replicas(variant["current"])});
    }
    const auto wanted =
        wva::optimize(or_else(model, "required", amount, 0.0), or_else(model, "spare", amount, 0.0), variants);
    for (std::size_t i = 0; i < variants.size(); ++i) {
      const ReplicaCount current = variants[i].current;
      targets.push_back({variants[i].name, wanted[i]});
      actions.push_back({variants[i].name, wanted[i] > current ? "up" : wanted[i] < current ? "down" : "none"});
    }
  }
  return object({{"targets", std::move(targets)}, {"actions", std::move(actions)}});
}

/// Reads rows [name, cost, capacity].
std::vector<wva::VariantCost> costs_of(const CaseInput& given) {
  std::vector<wva::VariantCost> variants;
  for (const CaseInput& row : given.list()) {
    const std::vector<CaseInput> parts = row.list();
    if (parts.size() == 3)
      variants.push_back({parts[0].text(), share(parts[1]), share(parts[2]), 0});
    else
      row.fail("name, cost and capacity");
  }
  return variants;
}

Value order(const CaseInput& given) {
  const std::vector<wva::VariantCost> variants = costs_of(given["variants"]);
  const bool by_efficiency = given["by"].one_of<bool>({{"cost/capacity ascending", true}, {"cost descending", false}});
  const auto indices = by_efficiency ? wva::by_efficiency(variants) : wva::by_cost_descending(variants);
  return object({{"order", array_of(indices, [&](std::size_t i) { return variants[i].name; })}});
}

Value cheapest(const CaseInput& given) {
  const std::vector<wva::VariantCost> variants = costs_of(given["variants"]);
  const std::optional<std::size_t> found = wva::cheapest(variants);
  return object({{"cheapest", found ? variants[*found].name : ""}});
}

wva::GpusByType gpus_of(const CaseInput& given) {
  wva::GpusByType gpus;
  for (const auto& [type, count] : given.members()) gpus[type] = tokens(count);
  return gpus;
}

Value value_of(const wva::GpusByType& gpus) {
  Value::Object members;
  for (const auto& [type, count] : gpus) members.push_back({type, count});
  return members;
}

std::int64_t sum(const wva::GpusByType& gpus) {
  std::int64_t total = 0;
  for (const auto& [type, count] : gpus) total += count;
  return total;
}

Value merge_limits(const CaseInput& given) {
  std::vector<wva::GpusByType> limits;
  for (const CaseInput& limit : given["limits"].list()) {
    if (limit) limits.push_back(gpus_of(limit));  // null means a provider that does not answer
  }
  return object({{"available", value_of(wva::least_of(limits))}});
}

std::vector<wva::ScaleUp> wishes_of(const CaseInput& given) {
  const auto signed_gpus = [](const CaseInput& gpus) { return gpus.integer(-kMaxReplicas, kMaxReplicas); };
  std::vector<wva::ScaleUp> wishes;
  for (const CaseInput& wish : given.list()) {
    const CaseInput type = wish.find("type");
    wishes.push_back({wish["variant"].text(), type ? type.text() : "", wva_replicas(wish["current"]),
                      wva_replicas(wish["target"]), or_else(wish, "gpus_per_replica", signed_gpus, std::int64_t{0}),
                      or_else(wish, "spare", share, 0.0), or_else(wish, "cost", share, 0.0)});
  }
  return wishes;
}

Value decisions_of(const std::vector<wva::ScaleUp>& wishes, const std::vector<wva::GpuGrant>& granted) {
  Value::Object decisions;
  for (std::size_t i = 0; i < wishes.size(); ++i) {
    decisions.push_back(
        {wishes[i].name,
         object({{"gpus", granted[i].gpus}, {"target", granted[i].target}, {"limited", granted[i].limited}})});
  }
  return decisions;
}

Value limiter(const CaseInput& given) {
  wva::GpusByType pool = {{"", tokens(given["free_gpus"])}};  // one pool for all types
  std::vector<wva::ScaleUp> wishes = wishes_of(given["decisions"]);
  for (wva::ScaleUp& wish : wishes) wish.type.clear();
  const std::vector<wva::GpuGrant> granted = wva::limit(pool, wishes);
  return object({{"decisions", decisions_of(wishes, granted)}, {"remaining", pool[""]}});
}

Value limiter_inventory(const CaseInput& given) {
  const std::vector<wva::ScaleUp> wishes = wishes_of(given["decisions"]);
  const wva::GpusByType used = wva::gpus_in_use(wishes);
  wva::GpusByType free = wva::available(gpus_of(given["limit_by_type"]), used);
  const std::vector<wva::GpuGrant> granted = wva::limit(free, wishes);
  return object(
      {{"used", value_of(used)}, {"decisions", decisions_of(wishes, granted)}, {"remaining", value_of(free)}});
}

Value inventory(const CaseInput& given) {
  wva::GpusByType limits;
  for (const auto& [node, gpus] : given["nodes"].members()) {
    for (const auto& [product, count] : gpus_of(gpus)) limits[std::string(wva::accelerator_name(product))] += count;
  }
  const wva::GpusByType used = given.find("used") ? gpus_of(given["used"]) : wva::GpusByType();
  wva::GpusByType free = wva::available(limits, used);
  for (const auto& [type, count] : used) free.try_emplace(type, 0);
  // If more GPUs of a type are in use than its limit, the excess lowers `total_available`, but no type's `available`.
  return object({{"limit", value_of(limits)},
                 {"used", value_of(used)},
                 {"available", value_of(free)},
                 {"total_limit", sum(limits)},
                 {"total_used", sum(used)},
                 {"total_available", std::max<std::int64_t>(0, sum(limits) - sum(used))}});
}

Value pool_grant(const CaseInput& given) {
  wva::GpusByType pools = gpus_of(given["pools"]);
  Value::Array granted;
  Value error;
  for (const CaseInput& request : given["requests"].list()) {
    const CaseInput stated = request.find("type");
    const std::string type = stated ? stated.text() : "";
    const std::int64_t gpus = request["gpus"].integer(-kMaxTokens, kMaxTokens);
    if (type.empty() && gpus > 0) error = "the type is empty";
    granted.push_back(type.empty() ? 0 : wva::take(pools, type, gpus));
  }
  return object({{"granted", std::move(granted)}, {"remaining", value_of(pools)}, {"error", std::move(error)}});
}

Value enforcer(const CaseInput& given) {
  std::map<std::string, ReplicaCount> targets;
  std::map<std::string, double> costs;
  for (const auto& [name, target] : given["targets"].members()) targets[name] = wva_replicas(target);
  if (const CaseInput stated = given.find("costs")) {
    for (const auto& [name, cost] : stated.members()) costs[name] = share(cost);
  }
  const CaseInput enabled = given.find("enabled");
  const wva::EnforcedTargets enforced =
      wva::enforce(enabled ? std::optional(enabled.boolean()) : std::nullopt,
                   given.find("requests_in_retention").number_or_null(), std::move(targets), costs);
  Value::Object after;
  for (const auto& [name, target] : enforced.targets) after.push_back({name, target});
  return object({{"targets", std::move(after)}, {"applied", enforced.applied}});
}

float single(const CaseInput& given) { return static_cast<float>(given.number(-1e15, 1e15)); }
Value valid(bool is_valid) { return object({{"valid", is_valid}}); }

Value service_time(const CaseInput& given) {
  const wva::ServiceParameters service{single(given["alpha"]), single(given["beta"]), single(given["gamma"])};
  const wva::RequestSize size{single(given["avg_input"]), static_cast<float>(given["avg_output"].number(0, 1e15))};
  const float batch = single(given["batch"]);
  return object({{"prefill_ms", static_cast<double>(wva::prefill_ms(service, size, batch))},
                 {"decode_ms", static_cast<double>(wva::decode_ms(service, size, batch))}});
}

Value queue_validity(const CaseInput& given) {
  return valid(wva::is_valid_queue(single(given["K"]), single(given["lambda"]), single(given["mu"])));
}

Value request_size_check(const CaseInput& given) {
  return valid(wva::RequestSize{single(given["avg_input"]), single(given["avg_output"])}.valid());
}

Value queue_config_check(const CaseInput& given) {
  return valid(given["max_batch"].integer() > 0 && given["max_queue"].integer() >= 0 &&
               given["has_service_parameters"].boolean());
}

Value sizing_targets_check(const CaseInput& given) {
  const auto is_valid = [&](std::string_view target) {
    const CaseInput stated = given.find(target);
    return !stated || stated.number() >= 0;
  };
  return valid(is_valid("ttft_ms") && is_valid("itl_ms") && is_valid("tps"));
}

std::vector<std::int64_t> integers(const CaseInput& given) {
  std::vector<std::int64_t> all;
  if (!given) return all;
  for (const CaseInput& value : given.list()) all.push_back(value.integer());
  return all;
}

Value capacity_from_parameters(const CaseInput& given) {
  return object({{"tokens", wva::capacity_from_parameters(or_else(given, "max_batched_tokens", tokens, std::int64_t{0}),
                                                          or_else(given, "max_seqs", tokens, std::int64_t{0}),
                                                          given["avg_input"].number(0, 1e9),
                                                          given["avg_output"].number(0, 1e9))}});
}

Value median(const CaseInput& given) { return object({{"median", wva::median(integers(given["values"]))}}); }

Value accelerator_name(const CaseInput& given) {
  return object({{"short", wva::accelerator_name(given["name"].text())}});
}

constexpr Kind kWvaKinds[] = {
    {"saturation_v1", saturation_v1},
    {"saturation_v1_targets", saturation_v1_targets},
    {"saturation_v2", saturation_v2},
    {"capacity_from_parameters", capacity_from_parameters},
    {"median", median},
    {"cost_aware", cost_aware},
    {"order", order},
    {"cheapest", cheapest},
    {"merge_limits", merge_limits},
    {"limiter", limiter},
    {"limiter_inventory", limiter_inventory},
    {"inventory", inventory},
    {"pool_grant", pool_grant},
    {"accelerator_name", accelerator_name},
    {"enforcer", enforcer},
    {"service_time", service_time},
    {"queue_validity", queue_validity},
    {"request_size_check", request_size_check},
    {"queue_config_check", queue_config_check},
    {"sizing_targets_check", sizing_targets_check},
};

}  // namespace

std::span<const Kind> wva_kinds() { return kWvaKinds; }

}  // namespace capstan::conformance
