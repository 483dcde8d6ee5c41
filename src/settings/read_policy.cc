#include "settings/policy.h"

#include "settings/names.h"

namespace capstan::settings {

using manifest::ErrorList;
using manifest::Fields;
using manifest::Node;
using namespace std::chrono_literals;

namespace scale = decide::scale;
namespace place = decide::place;
namespace provision = decide::provision;

Node as_mapping(const Node& node) {
  if (node.kind != Node::Kind::scalar) return node;
  Node mapping;
  mapping.kind = Node::Kind::mapping;
  mapping.place = node.place;
  mapping.entries.push_back({"policy", node.place, node});
  return mapping;
}

namespace {

void read_rules(const Node& node, std::string title, scale::HpaRules& rules, ErrorList& errors) {
  Fields fields(node, std::move(title), errors);
  fields.duration("stabilization", rules.stabilization, 0s, 1h);
  using Select = scale::HpaRules::Select;
  fields.choice<Select>("select", rules.select,
                        {named_value(kSelectKeys, Select::max), named_value(kSelectKeys, Select::min),
                         named_value(kSelectKeys, Select::disabled)});
  const auto policies = fields.non_empty_list("policies");
  if (!policies.empty()) rules.policies.clear();
  for (const Node& item : policies) {
    scale::HpaRatePolicy policy;
    Fields rate(item, fields.what() + ".policies", errors);
    using Kind = scale::HpaRatePolicy::Kind;
    rate.choice<Kind>("kind", policy.kind, {named_value(kRateKeys, Kind::pods), named_value(kRateKeys, Kind::percent)});
    rate.integer("value", policy.value, 1, 1'000'000);
    rate.duration("period", policy.period, 1s, 30min);
    rate.finish();
    rules.policies.push_back(policy);
  }
  fields.finish();
}

/// Reads a share that the policy stores in steps of `step_ppm`. A value between two steps is an error.
void read_share(Fields& fields, std::string_view key, std::int64_t& out, std::int64_t step_ppm, std::int64_t low_ppm,
                ErrorList& errors) {
  std::int64_t ppm = out * step_ppm;
  const bool read = fields.share_ppm(key, ppm, low_ppm, 1'000'000);
  if (const Node* node = fields.take(key); read && ppm % step_ppm != 0) {
    errors.fail(node->place, fields.what() + "." + std::string(key) + ": found " + node->words() +
                                 ", expected steps of " + (step_ppm == 1'000 ? "0.1 %" : "1 %"));
  }
  out = ppm / step_ppm;
}

void read_hpa(Fields& fields, scale::HpaSettings& hpa, ErrorList& errors) {
  fields.duration("sync_period", hpa.sync_period, 100ms, 1h);
  read_share(fields, "tolerance", hpa.tolerance_up_per_mille, 1'000, 0, errors);
  hpa.tolerance_down_per_mille = hpa.tolerance_up_per_mille;
  fields.boolean("silence_holds", hpa.blocks_scale_down_if_silent);
  const Node* behavior = fields.take("behavior");
  // With `behavior` this key is not allowed, because `behavior` has a stabilization window for each direction.
  if (behavior == nullptr) fields.duration("downscale_stabilization", hpa.downscale_stabilization, 0s, 24h);
  if (behavior != nullptr) {
    hpa.behavior.emplace();
    Fields rules(*behavior, fields.what() + ".behavior", errors);
    rules.check("scale_up", [&](const Node& n, ErrorList& v) {
      read_rules(n, fields.what() + ".behavior.scale_up", hpa.behavior->up, v);
    });
    rules.check("scale_down", [&](const Node& n, ErrorList& v) {
      read_rules(n, fields.what() + ".behavior.scale_down", hpa.behavior->down, v);
    });
    rules.finish();
  }
}

const provision::Consolidation kNoConsolidation = [] {
  provision::Consolidation never;
  never.enabled = false;
  return never;
}();

void read_consolidation(const Node& source, provision::Consolidation& out, ErrorList& errors) {
  const Node node = as_mapping(source);
  Fields fields(node, "provision.consolidation", errors);
  enum class Kind : std::uint8_t { never, when_empty, underutilized };
  using model::ConsolidationPolicy;
  Kind kind = !out.enabled                                                     ? Kind::never
              : out.policy == ConsolidationPolicy::when_empty_or_underutilized ? Kind::underutilized
                                                                               : Kind::when_empty;
  fields.choice<Kind>(
      "policy", kind,
      {{"never", Kind::never},
       {enum_name(kConsolidationKeys, ConsolidationPolicy::when_empty), Kind::when_empty},
       {enum_name(kConsolidationKeys, ConsolidationPolicy::when_empty_or_underutilized), Kind::underutilized}});
  fields.keys_depend_on("policy");
  if (kind == Kind::never) {
    out = kNoConsolidation;
    return fields.finish();
  }
  out.enabled = true;
  out.policy =
      kind == Kind::underutilized ? ConsolidationPolicy::when_empty_or_underutilized : ConsolidationPolicy::when_empty;
  fields.duration("after", out.after, 0s, 720h);
  fields.duration("poll", out.poll, 1s, 1h);
  fields.integer("budget_percent", out.budget_percent, 0, 100);
  if (kind == Kind::underutilized) {
    fields.share_ppm("use_below", out.use_below_ppm, 0, 1'000'000);
  } else {
    out.use_below_ppm = provision::Consolidation{}.use_below_ppm;
  }
  fields.finish();
}

/// Checks that the bound for scaling down is below the bound for scaling up.
void check_order(const Fields& fields, const Node& node, const char* below, std::int64_t low, const char* above,
                 std::int64_t high, ErrorList& errors) {
  if (low < high || !fields.ok()) return;
  errors.fail(node.place, fields.what() + ": " + below + " is not below " + above +
                              ", expected a lower value: between the two bounds nothing changes");
}

scale::Rules read_rules_policy(Fields& fields, const Node& node, ErrorList& errors) {
  scale::Rules rules;
  using On = scale::Rules::ScaleOn;
  const Node* on = fields.take("scale_on");
  const std::string scale_on = on == nullptr ? "" : on->text;
  if (scale_on == "duty_cycle" || scale_on == "memory") {
    errors.fail(on->place, scale_on == "memory"
                               ? "scale.scale_on: GPU memory says nothing about load, because engines fill it before "
                                 "the first request; expected kv or queue"
                               : "scale.scale_on: the GPU duty cycle says nothing about load, because it is 100 % at "
                                 "ten requests and at a hundred; expected queue, kv, latency or goodput");
  } else {
    fields.choice<On>(
        "scale_on", rules.scale_on,
        {named_value(kScaleOnKeys, On::all), named_value(kScaleOnKeys, On::queue), named_value(kScaleOnKeys, On::kv),
         named_value(kScaleOnKeys, On::latency), named_value(kScaleOnKeys, On::goodput)});
  }
  fields.integer("waiting_above", rules.waiting_above, 1, 1'000'000);
  fields.integer("waiting_below", rules.waiting_below, 0, 1'000'000);
  fields.share_ppm("kv_above", rules.kv_above_ppm, 1, 1'000'000);
  fields.share_ppm("kv_below", rules.kv_below_ppm, 1, 1'000'000);
  read_share(fields, "latency_below", rules.latency_below_percent, 10'000, 10'000, errors);
  if (fields.take("goodput_below") != nullptr) {
    fields.share_ppm("goodput_below", rules.goodput_below_ppm, 1, 1'000'000);
  }
  fields.duration("cool_down", rules.cool_down, 0s, 24h);
  fields.duration("sync_period", rules.sync_period, 100ms, 1h);
  check_order(fields, node, "waiting_below", rules.waiting_below, "waiting_above", rules.waiting_above, errors);
  check_order(fields, node, "kv_below", rules.kv_below_ppm, "kv_above", rules.kv_above_ppm, errors);
  return rules;
}

}  // namespace

scale::Policy read_scale(const Node& source, ErrorList& errors, std::span<const std::string_view> others) {
  const Node node = as_mapping(source);
  Fields fields(node, "scale", errors);
  enum class Kind : std::uint8_t { fixed, duty_cycle_hpa, queue_hpa, memory_hpa, capstan, rules } kind = Kind::fixed;
  if (fields.take_required("policy") != nullptr) {
    fields.choice<Kind>("policy", kind,
                        {{"fixed", Kind::fixed},
                         {"duty_cycle_hpa", Kind::duty_cycle_hpa},
                         {"queue_hpa", Kind::queue_hpa},
                         {"memory_hpa", Kind::memory_hpa},
                         {"capstan", Kind::capstan},
                         {"rules", Kind::rules}},
                        others);
  }
  fields.keys_depend_on("policy");
  scale::Policy policy;
  switch (kind) {
    case Kind::fixed: {
      scale::Fixed fixed;
      fields.integer("replicas", fixed.replicas, 0, 100'000);
      fields.duration("period", fixed.period, 1s, 1h);
      policy = fixed;
      break;
    }
    case Kind::duty_cycle_hpa: {
      scale::DutyCycleHpa duty;
      read_share(fields, "target", duty.target_percent, 10'000, 10'000, errors);
      read_hpa(fields, duty.hpa, errors);
      policy = duty;
      break;
    }
    case Kind::queue_hpa: {
      scale::QueueHpa queue;
      fields.integer("waiting_per_replica", queue.waiting_per_replica, 1, 1'000'000);
      if (fields.take("running_per_replica") != nullptr) {
        fields.integer("running_per_replica", queue.running_per_replica.emplace(1), 1, 1'000'000);
      }
      read_hpa(fields, queue.hpa, errors);
      policy = queue;
      break;
    }
    case Kind::memory_hpa: {
      scale::MemoryHpa memory;
      read_share(fields, "target", memory.target_percent, 10'000, 10'000, errors);
      read_hpa(fields, memory.hpa, errors);
      policy = memory;
      break;
    }
    case Kind::capstan: {
      scale::Capstan capstan;
      fields.duration("sync_period", capstan.sync_period, 100ms, 1h);
      if (fields.take("attainment") != nullptr) fields.share_ppm("attainment", capstan.attainment_ppm, 1, 1'000'000);
      using ScaleToZero = scale::Capstan::ScaleToZero;
      fields.choice<ScaleToZero>("to_zero", capstan.to_zero,
                                 {named_value(kScaleToZeroKeys, ScaleToZero::within_slo),
                                  named_value(kScaleToZeroKeys, ScaleToZero::after_idle)});
      policy = capstan;
      break;
    }
    case Kind::rules: {
      policy = read_rules_policy(fields, node, errors);
      break;
    }
  }
  fields.finish();
  return policy;
}

namespace {

/// Reads `passes: {evict_broken: off}`, whose keys are the names of passes.
void read_passes(Fields& fields, const std::vector<std::string_view>& names, decide::PassesOff& off,
                 ErrorList& errors) {
  const Node* node = fields.take("passes");
  if (node == nullptr) return;
  Fields passes(*node, fields.what() + ".passes", errors);
  for (const std::string_view name : names) {
    bool is_on = true;
    passes.choice<bool>(name, is_on, {{"on", true}, {"off", false}});
    if (!is_on) off.emplace(name);
  }
  passes.finish();
}

}  // namespace

place::Policy read_place(const Node& source, ErrorList& errors) {
  const Node node = as_mapping(source);
  Fields fields(node, "place", errors);
  place::Policy policy;
  using Kind = place::Policy::Kind;
  if (fields.take_required("policy") != nullptr) {
    fields.choice<Kind>("policy", policy.kind,
                        {{place::name(Kind::first_fit), Kind::first_fit}, {place::name(Kind::gang), Kind::gang}});
  }
  fields.duration("period", policy.period, 10ms, 1h);
  fields.duration("assume_for", policy.assume_for, 1s, 1h);
  fields.duration("broken_for", policy.broken_for, 1s, 24h);
  read_passes(fields, place::pass_names(policy.kind), policy.off, errors);
  fields.finish();
  return policy;
}

provision::Policy read_provision(const Node& source, std::string name, ErrorList& errors) {
  const Node mapping = as_mapping(source);
  Fields fields(mapping, std::move(name), errors);
  Provisioner provisioner = Provisioner::none;
  provision::Policy policy = read_provision(fields, provisioner, errors);
  fields.finish();
  return policy;
}

provision::Policy read_provision(Fields& fields, Provisioner& provisioner, ErrorList& errors) {
  if (fields.take_required("policy") != nullptr) {
    fields.choice<Provisioner>("policy", provisioner,
                               {{"none", Provisioner::none},
                                {"cluster_autoscaler", Provisioner::cluster_autoscaler},
                                {"karpenter", Provisioner::karpenter},
                                {"group", Provisioner::group}});
  }
  provision::Policy policy = provisioner == Provisioner::cluster_autoscaler ? provision::cluster_autoscaler()
                             : provisioner == Provisioner::group            ? provision::whole_groups()
                                                                            : provision::karpenter();
  fields.keys_depend_on("policy");
  if (provisioner == Provisioner::none) {
    policy.consolidation = kNoConsolidation;
    return policy;
  }
  fields.duration("scan_interval", policy.scan_interval, 0s, 1h);
  if (provisioner == Provisioner::group) {
    fields.duration("hold", policy.hold, 1s, 24h);
  } else {
    fields.duration("batch_idle", policy.batch_idle, 0s, 1h);
    fields.duration("batch_max", policy.batch_max, 0s, 1h);
  }
  fields.duration("backoff", policy.backoff, 0s, 24h);
  fields.duration("backoff_max", policy.backoff_max, 0s, 24h);
  fields.duration("ask_timeout", policy.ask_timeout, 1s, 1h);
  fields.integer("min_nodes", policy.min_nodes, 0, 100'000);
  if (const Node* consolidation = fields.take("consolidation")) {
    read_consolidation(*consolidation, policy.consolidation, errors);
  }
  read_passes(fields, provision::pass_names(policy.kind), policy.off, errors);
  return policy;
}

}  // namespace capstan::settings
