#include "lint/input/glob.h"

#include <gtest/gtest.h>

namespace capstan::lint::glob_test {
namespace {

TEST(Glob, MatchesLikeGitignore) {
  struct Row {
    const char* pattern;
    const char* path;
    bool matches;
  };
  const Row rows[] = {{"*.yaml", "a.yaml", true},
                      {"*.yaml", "d/a.yaml", false},
                      {"**/*.yaml", "d/e/a.yaml", true},
                      {"**/*.yaml", "a.yaml", true},
                      {"a/**/b", "a/b", true},
                      {"a/**/b", "a/x/y/b", true},
                      {"a/**", "a/x/y", true},
                      {"a?c", "abc", true},
                      {"a[0-9]c", "a5c", true},
                      {"a[!0-9]c", "a5c", false},
                      {"*a*b*c", "xxaxxbxxc", true},
                      {"*a*b*c", "xxaxxbxx", false},
                      {"a[", "a[", true},
                      {"", "", true}};
  for (const Row& row : rows)
    EXPECT_EQ(glob_matches(row.pattern, row.path), row.matches) << row.pattern << " " << row.path;
}

TEST(Glob, ManyStarsAreMatchedInTime) {
  EXPECT_FALSE(glob_matches("*a*a*a*a*a*a*a*a*a*a*a*a*b", std::string(5000, 'a')));
  std::string deep;
  for (int i = 0; i < 500; ++i) deep += "a/";
  EXPECT_FALSE(glob_matches("**/a/**/a/**/a/**/a/**/b", deep + "c"));
}

TEST(Glob, AnIgnoreListAppliesItsLastMatch) {
  const IgnoreList list("d/", "# comment\n*.log\n!keep.log\nbuild/\n/top.yaml\nsub/x.yaml\n");
  using enum IgnoreList::Match;
  EXPECT_EQ(list.match("d/a.log", false), ignored);
  EXPECT_EQ(list.match("d/e/a.log", false), ignored);
  EXPECT_EQ(list.match("d/keep.log", false), included);
  EXPECT_EQ(list.match("d/build", true), ignored);
  EXPECT_EQ(list.match("d/build", false), none);
  EXPECT_EQ(list.match("d/top.yaml", false), ignored);
  EXPECT_EQ(list.match("d/e/top.yaml", false), none);
  EXPECT_EQ(list.match("d/sub/x.yaml", false), ignored);
  EXPECT_EQ(list.match("a.log", false), none);
}

}  // namespace
}  // namespace capstan::lint::glob_test
