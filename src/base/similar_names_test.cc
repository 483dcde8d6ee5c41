#include "base/similar_names.h"

#include <gtest/gtest.h>

#include <array>

namespace capstan {
namespace {

constexpr std::array<std::string_view, 6> kNames = {"p4d.24xlarge", "p5.4xlarge", "p5.48xlarge",
                                                    "chat",         "code",       "cart"};

TEST(SimilarNames, AnEditInsertsDeletesReplacesOrSwaps) {
  EXPECT_EQ(edit_distance("replicas", "replicas"), 0u);
  EXPECT_EQ(edit_distance("replica", "replicas"), 1u);
  EXPECT_EQ(edit_distance("relpicas", "replicas"), 1u);
  EXPECT_EQ(edit_distance("app", "apps"), 1u);
  EXPECT_EQ(edit_distance("", "apps"), 4u);
}

TEST(SimilarNames, AllNamesWithTheFewestEditsAreFound) {
  EXPECT_EQ(similar_names("p5.49xlarge", kNames), (std::vector<std::string_view>{"p5.4xlarge", "p5.48xlarge"}));
  EXPECT_EQ(similar_names("p5.48xlage", kNames), (std::vector<std::string_view>{"p5.48xlarge"}));
  EXPECT_EQ(similar_names("caht", kNames), (std::vector<std::string_view>{"chat", "cart"}));
}

TEST(SimilarNames, ANameThatTakesManyEditsIsNotSimilar) {
  EXPECT_TRUE(similar_names("training", kNames).empty());
  EXPECT_TRUE(similar_names("", kNames).empty());
  EXPECT_TRUE(similar_names(std::string(65, 'p'), kNames).empty());
}

TEST(SimilarNames, TheWordsNameAtMostThree) {
  EXPECT_EQ(did_you_mean_words("p5.49xlarge", kNames), " (did you mean p5.4xlarge or p5.48xlarge?)");
  EXPECT_EQ(did_you_mean_words("chatt", kNames), " (did you mean chat?)");
  EXPECT_EQ(did_you_mean_words("training", kNames), "");
  constexpr std::array<std::string_view, 4> kMany = {"a1", "a2", "a3", "a4"};
  EXPECT_EQ(did_you_mean_words("a", kMany), " (did you mean a1, a2 or a3?)");
}

}  // namespace
}  // namespace capstan
