#include "settings/policy.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace capstan::settings {
namespace {

using namespace std::chrono_literals;
using decide::scale::HpaRules;
using manifest::ErrorList;

manifest::Node yaml(std::string_view text) { return *manifest::parse(text, "policy.yaml"); }

Duration any_seconds(int low, int high) { return std::chrono::seconds(*rc::gen::inRange(low, high)); }

HpaRules any_rules() {
  HpaRules rules;
  rules.stabilization = any_seconds(0, 3600);
  rules.select = *rc::gen::element(HpaRules::Select::max, HpaRules::Select::min, HpaRules::Select::disabled);
  using Kind = decide::scale::HpaRatePolicy::Kind;
  rules.policies.clear();
  for (int i = *rc::gen::inRange(1, 4); i > 0; --i) {
    rules.policies.push_back(
        {*rc::gen::element(Kind::pods, Kind::percent), *rc::gen::inRange(1, 1000), any_seconds(1, 1800)});
  }
  return rules;
}

decide::scale::HpaSettings any_hpa() {
  decide::scale::HpaSettings hpa;
  hpa.sync_period = any_seconds(1, 3600);
  hpa.tolerance_up_per_mille = hpa.tolerance_down_per_mille = *rc::gen::inRange(0, 1001);
  hpa.blocks_scale_down_if_silent = *rc::gen::arbitrary<bool>();
  if (*rc::gen::arbitrary<bool>()) {
    hpa.behavior = {any_rules(), any_rules()};
  } else {
    hpa.downscale_stabilization = any_seconds(0, 86'400);
  }
  return hpa;
}

decide::scale::Policy any_scale() {
  switch (*rc::gen::inRange(0, 6)) {
    case 5: {
      decide::scale::Rules rules;
      using On = decide::scale::Rules::ScaleOn;
      rules.scale_on = *rc::gen::element(On::all, On::queue, On::kv, On::latency, On::goodput);
      rules.waiting_above = *rc::gen::inRange(2, 1000);
      rules.waiting_below = *rc::gen::inRange(0, 2);
      rules.kv_above_ppm = *rc::gen::inRange(500'000, 1'000'001);
      rules.kv_below_ppm = *rc::gen::inRange(1, 500'000);
      rules.latency_below_percent = *rc::gen::inRange(1, 101);
      rules.goodput_below_ppm = *rc::gen::inRange(0, 1'000'001);
      rules.cool_down = any_seconds(0, 86'400);
      rules.sync_period = any_seconds(1, 3600);
      return rules;
    }
    case 4:
      using ScaleToZero = decide::scale::Capstan::ScaleToZero;
      return decide::scale::Capstan{any_seconds(1, 3600), *rc::gen::inRange(0, 1'000'001),
                                    *rc::gen::element(ScaleToZero::within_slo, ScaleToZero::after_idle)};
    case 0:
      return decide::scale::Fixed{*rc::gen::inRange(0, 1000), any_seconds(1, 3600)};
    case 1:
      return decide::scale::DutyCycleHpa{*rc::gen::inRange(1, 101), any_hpa()};
    case 2:
      return decide::scale::MemoryHpa{*rc::gen::inRange(1, 101), any_hpa()};
    default: {
      decide::scale::QueueHpa queue{*rc::gen::inRange(1, 1000), {}, any_hpa()};
      if (*rc::gen::arbitrary<bool>()) queue.running_per_replica = *rc::gen::inRange(1, 1000);
      return queue;
    }
  }
}

/// Returns one of the three kinds of consolidation. Settings that the kind does not use have their default.
decide::provision::Consolidation any_consolidation(decide::provision::Consolidation preset) {
  using model::ConsolidationPolicy;
  const auto kind = *rc::gen::inRange(0, 3);
  if (kind == 0) {
    preset = {};
    preset.enabled = false;
    return preset;
  }
  preset.use_below_ppm = decide::provision::Consolidation{}.use_below_ppm;
  preset.policy = kind == 2 ? ConsolidationPolicy::when_empty_or_underutilized : ConsolidationPolicy::when_empty;
  preset.after = any_seconds(0, 3600);
  if (kind == 2) preset.use_below_ppm = *rc::gen::inRange(0, 1'000'001);
  return preset;
}

/// Returns a provision policy that sets only settings of its kind.
decide::provision::Policy any_provision() {
  decide::provision::Policy policy = *rc::gen::element(
      decide::provision::cluster_autoscaler(), decide::provision::karpenter(), decide::provision::whole_groups());
  if (policy.kind == decide::provision::Policy::Kind::group) {
    policy.hold = any_seconds(1, 3600);
  } else {
    policy.batch_idle = any_seconds(0, 3600);
  }
  policy.ask_timeout = any_seconds(1, 3600);
  policy.min_nodes = *rc::gen::inRange(0, 100);
  policy.consolidation = any_consolidation(policy.consolidation);
  for (const std::string_view name : decide::provision::pass_names(policy.kind)) {
    if (*rc::gen::inRange(0, 4) == 0) policy.off.emplace(name);
  }
  return policy;
}

RC_GTEST_PROP(Settings, WrittenScalePoliciesReadBackEqual, ()) {
  const decide::scale::Policy policy = any_scale();
  ErrorList errors;
  const decide::scale::Policy reread = read_scale(yaml(to_json(policy)), errors);
  RC_ASSERT(errors.ok());
  RC_ASSERT((reread == policy));
}

RC_GTEST_PROP(Settings, WrittenProvisionPoliciesReadBackEqual, ()) {
  const decide::provision::Policy policy = any_provision();
  ErrorList errors;
  const decide::provision::Policy reread = read_provision(yaml(to_json(policy)), "provision", errors);
  RC_ASSERT(errors.ok());
  RC_ASSERT((reread == policy));
}

TEST(Settings, WrittenPlacePoliciesReadBackEqual) {
  for (const auto kind : {decide::place::Policy::Kind::first_fit, decide::place::Policy::Kind::gang}) {
    decide::place::Policy policy{.kind = kind, .period = 2s, .assume_for = 45s};
    policy.off.emplace(decide::place::pass_names(kind).front());
    ErrorList errors;
    EXPECT_EQ(read_place(yaml(to_json(policy)), errors), policy);
    EXPECT_TRUE(errors.ok());
  }
}

TEST(Settings, NameAloneMeansDefaults) {
  ErrorList errors;
  EXPECT_EQ(read_scale(yaml("queue_hpa"), errors), decide::scale::Policy(decide::scale::QueueHpa{}));
  EXPECT_EQ(read_scale(yaml("capstan"), errors), decide::scale::Policy(decide::scale::Capstan{}));
  EXPECT_EQ(read_place(yaml("gang"), errors), decide::place::Policy{});
  EXPECT_TRUE(errors.ok());
}

TEST(Settings, ErrorsNameThePlace) {
  ErrorList errors;
  read_scale(yaml("{policy: queue_hpa,\n waiting_per_replica: 0}"), errors);
  ASSERT_FALSE(errors.ok());
  EXPECT_EQ(errors.error->text().substr(0, 17), "policy.yaml:2:23:");
}

/// Returns the error of the provision reader, or an empty text.
std::string provision_error(const char* text) {
  const manifest::Node node = yaml(text);
  ErrorList errors;
  manifest::Fields fields(node, "provision", errors);
  Provisioner provisioner = Provisioner::none;
  read_provision(fields, provisioner, errors);
  fields.finish();
  return errors.ok() ? "" : errors.error->text();
}

TEST(Settings, RejectsUnusedSettingsWithTheirPlace) {
  const struct {
    const char* text;
    const char* error;
  } rows[] = {
      {"{policy: karpenter, hold: 3m}", "policy.yaml:1:21: provision under policy karpenter: found key \"hold\", "},
      {"{policy: cluster_autoscaler, hold: 3m}", "policy.yaml:1:30: provision under policy cluster_autoscaler: found"},
      {"{policy: group, batch_idle: 3m}", "policy.yaml:1:17: provision under policy group: found key \"batch_idle\""},
      {"{policy: none, min_nodes: 1}", "policy.yaml:1:16: provision under policy none: found key \"min_nodes\", "},
      {"{policy: group, consolidation: {policy: never, after: 1h}}",
       "policy.yaml:1:48: provision.consolidation under policy never: found key \"after\", expected one of policy"},
      {"{policy: group, consolidation: {use_below: 50%}}",
       "policy.yaml:1:33: provision.consolidation: found key \"use_below\", expected one of after, "},
      {"{policy: karpenter, consolidation: {policy: when_empty, use_below: 50%}}",
       "policy.yaml:1:57: provision.consolidation under policy when_empty: found key \"use_below\""},
  };
  for (const auto& row : rows) EXPECT_EQ(provision_error(row.text).substr(0, std::string(row.error).size()), row.error);
  EXPECT_EQ(provision_error("{policy: karpenter, consolidation: {use_below: 50%}}"), "");
  ErrorList errors;
  read_scale(yaml("{policy: queue_hpa, behavior: {}, downscale_stabilization: 1m}"), errors);
  ASSERT_FALSE(errors.ok());
  EXPECT_TRUE(errors.error->text().starts_with(
      "policy.yaml:1:35: scale under policy queue_hpa: found key \"downscale_stabilization\""))
      << errors.error->text();
}

TEST(Settings, PassesAreSwitchedOffByName) {
  ErrorList errors;
  const decide::place::Policy policy =
      read_place(yaml("{policy: gang, passes: {evict_broken: off, bind_gangs: on}}"), errors);
  EXPECT_TRUE(errors.ok());
  EXPECT_EQ(policy.off, decide::PassesOff{"evict_broken"});
  read_place(yaml("{policy: gang, passes: {bind_pods: off}}"), errors);
  ASSERT_FALSE(errors.ok());
  EXPECT_EQ(errors.error->text(),
            "policy.yaml:1:25: place.passes: found key \"bind_pods\", expected one of bind_gangs, evict_broken, "
            "nominate_claims, refuse_oversized, reserve_planned or state_shortfalls");
  EXPECT_TRUE(provision_error("{policy: group, passes: {buy_for_gangs: false}}")
                  .ends_with("found \"false\", expected on or off"))
      << provision_error("{policy: group, passes: {buy_for_gangs: false}}");
}

TEST(Settings, RejectsSharesBetweenSteps) {
  for (const char* text : {"{policy: duty_cycle_hpa, target: 80.5%}", "{policy: queue_hpa, tolerance: 0.05%}"}) {
    ErrorList errors;
    read_scale(yaml(text), errors);
    ASSERT_FALSE(errors.ok()) << text;
    EXPECT_NE(errors.error->text().find("expected steps of"), std::string::npos) << errors.error->text();
  }
}

}  // namespace
}  // namespace capstan::settings
