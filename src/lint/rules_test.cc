#include "lint/rules.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "lint/explain_rule.h"
#include "lint/render/render.h"
#include "lint/run.h"

namespace capstan::lint::rules_test {
namespace {

Report lint(std::string_view yaml, std::uint32_t kube_minor = KubeVersion().minor) {
  Options options;
  options.settings.kube.minor = kube_minor;
  options.advice = true;
  options.settings.is_complete_cluster = true;
  return lint_texts({{"example.yaml", std::string(yaml), true}}, options);
}

bool finds(const Report& report, const Rule* rule) {
  return std::ranges::any_of(report.findings, [&](const Finding& finding) { return finding.rule == rule; });
}

class RuleTest : public testing::TestWithParam<const Rule*> {};

TEST_P(RuleTest, FindsADefectOnlyInTheBadExample) {
  const Rule* rule = GetParam();
  constexpr std::uint32_t kNewest = 37;  // some defects exist only from this version on
  EXPECT_TRUE(finds(lint(rule->bad), rule) || finds(lint(rule->bad, kNewest), rule)) << rule->bad;
  for (const std::uint32_t minor : {KubeVersion().minor, kNewest}) {
    const Report good = lint(rule->good, minor);
    EXPECT_FALSE(finds(good, rule)) << to_text(good, false);
  }
}

TEST_P(RuleTest, HasAllTexts) {
  const Rule& rule = *GetParam();
  for (const std::string_view text : {rule.id, rule.title, rule.why, rule.fix, rule.source, rule.bad, rule.good}) {
    EXPECT_FALSE(text.empty());
  }
  EXPECT_NE(explain_rule(rule).find(rule.id), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(Rules, RuleTest, testing::ValuesIn(all_rules().begin(), all_rules().end()),
                         [](const testing::TestParamInfo<const Rule*>& info) {
                           std::string name(info.param->id);
                           std::ranges::replace(name, '-', '_');
                           return name;
                         });

TEST(Rules, IdsAreUniqueAndFound) {
  std::set<std::string_view> ids;
  for (const Rule* rule : all_rules()) {
    EXPECT_TRUE(ids.insert(rule->id).second) << rule->id;
    EXPECT_EQ(find_rule(rule->id), rule);
  }
  EXPECT_EQ(find_rule("no-such-rule"), nullptr);
}

TEST(Rules, ExamplesAreObjectsOfKubernetes) {
  for (const Rule* rule : all_rules()) {
    const Report report = lint(rule->good);
    EXPECT_FALSE(finds(report, find_rule("yaml-syntax"))) << rule->id;
    EXPECT_FALSE(finds(report, find_rule("yaml-duplicate-key"))) << rule->id;
    EXPECT_GT(report.summary.objects, 0u) << rule->id;
  }
}

}  // namespace
}  // namespace capstan::lint::rules_test
