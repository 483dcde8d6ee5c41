#include "lint/facts.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <string>

#include "base/split.h"

namespace capstan::lint {
namespace {

/// The smallest values of a family's instance types.
struct SmallestValues {
  std::int64_t cpus_per_gpu = 1'000;
  std::int64_t memory_per_cpu = 1'000;  // GiB
};

TEST(LintFacts, FamiliesAgreeWithTheInstanceTypes) {
  std::ifstream file(CAPSTAN_SOURCE_DIR "/data/instances.csv");
  ASSERT_TRUE(file);
  std::map<std::string, SmallestValues> by_family;
  std::string line;
  std::getline(file, line);
  while (std::getline(file, line)) {
    const std::vector<std::string_view> row = split(line, ',');
    if (row[0] != "aws" || row[6].empty()) continue;
    const std::string type(row[2]);
    const std::int64_t gpus = std::stoll(std::string(row[4])), cpus = std::stoll(std::string(row[6]));
    EXPECT_EQ(gpus_of_instance(type), gpus) << type;
    if (!type.ends_with(".metal")) {
      EXPECT_EQ(cpus_of_instance(type), cpus) << type;
    }
    SmallestValues& least = by_family[type.substr(0, type.find('.'))];
    least.cpus_per_gpu = std::min(least.cpus_per_gpu, cpus / gpus);
    least.memory_per_cpu = std::min<std::int64_t>(least.memory_per_cpu, std::stoll(std::string(row[7])) / cpus);
  }
  EXPECT_GT(by_family.size(), 15u);
  for (const auto& [name, least] : by_family) {
    const GpuFamily* family = gpu_family(name);
    ASSERT_NE(family, nullptr) << name;
    EXPECT_EQ(family->min_cpus_per_gpu, least.cpus_per_gpu) << name;
    EXPECT_EQ(family->min_memory_per_cpu, least.memory_per_cpu) << name;
  }
}

TEST(Facts, TheVersionOfATag) {
  EXPECT_EQ(version_of_tag("a/adapter:v0.11.2"), (Version{0, 11, 2}));
  EXPECT_EQ(version_of_tag("host:5000/pause:3.10"), (Version{3, 10, 0}));
  EXPECT_EQ(version_of_tag("a:v1.2.3-rc1@sha256:0"), (Version{1, 2, 3}));
  for (const char* none : {"a", "a:latest", "a:3", "host:5000/a", "a@sha256:0"}) {
    EXPECT_EQ(version_of_tag(none), std::nullopt) << none;
  }
}

}  // namespace
}  // namespace capstan::lint
