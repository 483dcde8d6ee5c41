#include "lint/explain_rule.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "base/file.h"
#include "lint/rules.h"

namespace capstan::lint::explain_rule_test {
namespace {

std::string page(const std::string& name) {
  const auto text = read_file(std::string(CAPSTAN_SOURCE_DIR) + "/docs/reference/lint/" + name, 1u << 20);
  return text ? *text : "missing page " + name;
}

TEST(ExplainRule, ThePagesMatchTheRules) {
  EXPECT_EQ(page("README.md"), rules_page()) << "run scripts/generate";
  for (const Rule* rule : all_rules())
    EXPECT_EQ(page(std::string(rule->id) + ".md"), rule_page(*rule)) << "run scripts/generate";
}

TEST(ExplainRule, EveryPageBelongsToARule) {
  for (const auto& entry :
       std::filesystem::directory_iterator(std::string(CAPSTAN_SOURCE_DIR) + "/docs/reference/lint")) {
    const std::string stem = entry.path().stem().string();
    EXPECT_TRUE(stem == "README" || find_rule(stem) != nullptr) << stem;
  }
}

}  // namespace
}  // namespace capstan::lint::explain_rule_test
