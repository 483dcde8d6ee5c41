#include "lint/mig_configs.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace capstan::lint::mig_configs_test {
namespace {

TEST(MigConfigs, ReadsEntriesAndTheStrategyInTheFolder) {
  File file("a.yaml",
            "apiVersion: v1\nkind: ConfigMap\ndata:\n  config.yaml: |\n    mig-configs:\n      all-1g:\n"
            "        - mig-devices: {1g.10gb: 7}\n        - mig-devices: {}\n      none: []\n"
            "---\napiVersion: nvidia.com/v1\nkind: ClusterPolicy\nspec: {mig: {strategy: mixed}}\n");
  file.documents = manifest::Documents::parse(file.text);
  std::vector<Object> objects;
  for (const manifest::Document& document : file.documents.all()) find_objects(file, document.root, objects);
  for (std::uint32_t i = 0; i < objects.size(); ++i) objects[i].index = i;
  const Set set(objects, false);
  const Settings settings;
  const Rule rule{};
  Views views;
  std::vector<Finding> found;
  const Subject subject(objects.at(0), set, settings, rule, views, found);
  std::string seen;
  for_each_mig_entry(subject, [&](const MigEntry& entry) {
    seen += std::string(entry.config.key) + std::to_string(entry.entry["mig-devices"].count) + " ";
  });
  EXPECT_EQ(seen, "all-1g1 all-1g0 ");
  EXPECT_EQ(mig_strategy(subject).text, "mixed");
}

}  // namespace
}  // namespace capstan::lint::mig_configs_test
