#include "lint/config.h"

#include <gtest/gtest.h>

namespace capstan::lint::config_test {
namespace {

TEST(Config, ReadsTheSettingsOfARepository) {
  const auto config = parse_config(
      "kube_version: \"1.34\"\nadvice: true\nexclude: [vendor/]\nrules: {image-floating-tag: error, yaml-syntax: "
      "off}\n",
      "c");
  ASSERT_TRUE(config) << config.error().text();
  EXPECT_EQ(config->options.settings.kube.minor, 34u);
  EXPECT_TRUE(config->options.advice);
  EXPECT_EQ(config->exclude, std::vector<std::string>{"vendor/"});
  EXPECT_EQ(config->options.severities.at("image-floating-tag"), Severity::error);
  EXPECT_EQ(config->options.severities.at("yaml-syntax"), Severity::off);
}

TEST(Config, AnErrorNamesItsPlaceAndTheValidValues) {
  struct Row {
    const char* text;
    const char* message;
  };
  const Row rows[] = {{"rule: {}\n", "c:1:1"},
                      {"rules: {image-floting-tag: error}\n", "did you mean image-floating-tag"},
                      {"rules: {image-floating-tag: loud}\n", "expected off, info, warning or error"},
                      {"kube_version: 2.1\n", "expected 1.MINOR"},
                      {"rules: [a]\n", "expected a mapping from rule to severity"}};
  for (const Row& row : rows) {
    const auto config = parse_config(row.text, "c");
    ASSERT_FALSE(config) << row.text;
    EXPECT_NE(config.error().text().find(row.message), std::string::npos) << config.error().text();
  }
}

TEST(Config, ParsesVersionsOfKubernetes) {
  EXPECT_EQ(parse_kube_version("1.37")->minor, 37u);
  EXPECT_EQ(parse_kube_version("v1.30.2")->minor, 30u);
  for (const char* wrong : {"", "1", "1.", "1.x", "2.0", "1.-3", "1.30x"})
    EXPECT_FALSE(parse_kube_version(wrong)) << wrong;
}

}  // namespace
}  // namespace capstan::lint::config_test
