#include "actuate/serving.h"

#include <gtest/gtest.h>

namespace capstan::actuate {
namespace {

using Kind = DrainMeans::Kind;

TEST(Serving, FindsTheDrainMeansOfAWorkload) {
  struct Row {
    const char* title;
    const char* annotations;
    const char* selector;
    const char* gates;
    DrainMeans expected;
  };
  const Row rows[] = {
      {"no gate and no annotation", "{}", "{}", "[]", {Kind::none, ""}},
      {"a gate of another controller", "{}", "{}", R"([{"conditionType":"example.com/lb"}])", {Kind::none, ""}},
      {"Capstan's gate", "{}", "{}", R"([{"conditionType":"capstan.dev/serving"}])", {Kind::readiness_gate, ""}},
      {"a label", R"({"capstan.dev/router-label":"serve"})", R"({"app":"x"})", "[]", {Kind::router_label, "serve"}},
      {"the gate takes precedence over the label",
       R"({"capstan.dev/router-label":"serve"})",
       "{}",
       R"([{"conditionType":"capstan.dev/serving"}])",
       {Kind::readiness_gate, ""}},
      {"the workload selects its pods by the label: removing it would create another pod",
       R"({"capstan.dev/router-label":"app"})",
       R"({"app":"x"})",
       "[]",
       {Kind::none, ""}},
      {"the engine drains by itself", R"({"capstan.dev/drains-itself":"true"})", "{}", "[]", {Kind::engine, ""}},
      {"the engine does not drain", R"({"capstan.dev/drains-itself":"false"})", "{}", "[]", {Kind::none, ""}},
  };
  for (const Row& row : rows) {
    kube::JsonDocument document;
    const std::string text = std::string(R"({"kind":"Deployment","metadata":{"annotations":)") + row.annotations +
                             R"(},"spec":{"selector":{"matchLabels":)" + row.selector +
                             R"(},"template":{"spec":{"readinessGates":)" + row.gates + "}}}}";
    const Result<kube::Json> object = document.parse(text);
    ASSERT_TRUE(object) << row.title;
    EXPECT_EQ(drain_means_of(kube::read_workload(*object)), row.expected) << row.title;
  }
}

TEST(Serving, KnowsIfAPodIsOutOfTheRouter) {
  struct Row {
    const char* title;
    Kind kind;
    const char* pod;
    bool expected;
  };
  const Row rows[] = {
      {"no condition yet", Kind::readiness_gate, R"({})", false},
      {"the gate is True", Kind::readiness_gate,
       R"({"status":{"conditions":[{"type":"capstan.dev/serving","status":"True"}]}})", false},
      {"the gate is False", Kind::readiness_gate,
       R"({"status":{"conditions":[{"type":"capstan.dev/serving","status":"False"}]}})", true},
      {"the label is removed", Kind::router_label,
       R"({"metadata":{"annotations":{"capstan.dev/router-label-value":"yes"}}})", true},
      {"the label is present", Kind::router_label, R"({"metadata":{"labels":{"serve":"yes"}}})", false},
      {"without drain means a pod is never out", Kind::none,
       R"({"status":{"conditions":[{"type":"capstan.dev/serving","status":"False"}]}})", false},
  };
  for (const Row& row : rows) {
    kube::JsonDocument document;
    const Result<kube::Json> object = document.parse(row.pod);
    ASSERT_TRUE(object) << row.title;
    EXPECT_EQ(is_out_of_router(kube::read_pod(*object), {row.kind, "serve"}), row.expected) << row.title;
  }
}

}  // namespace
}  // namespace capstan::actuate
