#include "settings/names.h"

#include <gtest/gtest.h>

#include <string>

#include "settings/policy.h"

namespace capstan::settings {
namespace {

TEST(SettingNames, AWrittenPolicyHasTheKeysOfTheTables) {
  for (std::size_t i = 0; i < kScaleOnKeys.size(); ++i) {
    decide::scale::Rules rules;
    rules.scale_on = static_cast<ScaleOn>(i);
    const std::string json = to_json(decide::scale::Policy(rules));
    EXPECT_NE(json.find("\"scale_on\":\"" + std::string(kScaleOnKeys[i]) + "\""), std::string::npos) << json;
  }
  for (const std::string_view key : kScaleToZeroKeys) {
    decide::scale::Capstan capstan;
    capstan.to_zero = *enum_named<decide::scale::Capstan::ScaleToZero>(kScaleToZeroKeys, key);
    const std::string json = to_json(decide::scale::Policy(capstan));
    EXPECT_NE(json.find("\"to_zero\":\"" + std::string(key) + "\""), std::string::npos) << json;
  }
}

TEST(SettingNames, LabelsOfKubernetesBelongToTheSameValues) {
  EXPECT_EQ(enum_named<ScaleOn>(kScaleOnLabels, "KV"), ScaleOn::kv);
  EXPECT_EQ(enum_named<ScaleOn>(kScaleOnKeys, "kv"), ScaleOn::kv);
  EXPECT_EQ(enum_named<ScaleOn>(kScaleOnLabels, "GPU"), std::nullopt);
}

}  // namespace
}  // namespace capstan::settings
