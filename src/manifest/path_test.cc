#include "manifest/path.h"

#include <gtest/gtest.h>

#include <vector>

namespace capstan::manifest {
namespace {

struct SetRow {
  const char* teaches;
  const char* assignment;
  const char* outcome;  ///< the value of load.scale afterwards, or the error
};

TEST(Set, AMistypedNameOfAnItemGetsTheNames) {
  Result<Node> root = parse("services: [{name: chat}, {name: reports}]\n", "s.yaml");
  ASSERT_TRUE(root);
  EXPECT_EQ(apply_set(*root, "services.chta.slo=1s").error().text(),
            "--set services.chta.slo=1s: services is a list of 2, expected a position from 0 or one of chat or reports "
            "instead of \"chta\" (did you mean chat?)");
}

TEST(Set, ChangesAValueOrExplainsWhyNot) {
  const SetRow rows[] = {
      {"replaces a value", "load.scale=2", "2"},
      {"creates a missing key", "other.new=3", "1"},
      {"reaches into lists", "list.0.name=b", "1"},
      {"needs an equals sign", "load.scale", "--set load.scale: expected path=value, such as load.scale=2"},
      {"needs a path", "=2", "--set =2: expected path=value, such as load.scale=2"},
      {"has no empty names", "load..scale=2",
       "--set load..scale=2: the path has an empty name, expected names between the dots"},
      {"knows a list's size", "list.4=2",
       "--set list.4=2: list is a list of 1, expected a position from 0 or a instead of \"4\""},
      {"finds an item of a list by its name", "list.a.scale=3", "1"},
      {"knows the names in a list", "list.b.scale=2",
       "--set list.b.scale=2: list is a list of 1, expected a position from 0 or a instead of \"b\" (did you mean a?)"},
      {"cannot enter a number", "load.scale.x=2", "--set load.scale.x=2: load.scale is \"1\", expected a mapping"},
      {"reads the value as YAML", "load.scale=[1", nullptr},
  };
  for (const SetRow& row : rows) {
    SCOPED_TRACE(row.teaches);
    Result<Node> root = parse("load: {scale: 1}\nlist: [{name: a}]\n", "s.yaml");
    ASSERT_TRUE(root);
    const Result<void> done = apply_set(*root, row.assignment);
    if (!done) {
      EXPECT_EQ(done.error().kind, ErrorKind::usage);
    }
    if (row.outcome == nullptr) {
      ASSERT_FALSE(done);
      EXPECT_TRUE(done.error().text().starts_with("--set load.scale=[1:")) << done.error().text();
    } else {
      EXPECT_EQ(done ? root->find("load")->find("scale")->text : done.error().text(), row.outcome);
    }
  }
}

TEST(Set, ATildeRemovesAKey) {
  Result<Node> root = parse("jobs: [{name: a, pods: 2, work: 3m}]\nload: {scale: 1}\n", "s.yaml");
  ASSERT_TRUE(apply_set(*root, "jobs.a.pods=~"));
  ASSERT_TRUE(apply_set(*root, "load=~"));
  EXPECT_EQ(at_path(*root, "jobs.a")->entries.size(), 2u);
  EXPECT_EQ(root->find("load"), nullptr);
  ASSERT_TRUE(apply_set(*root, "loda=~"));
  EXPECT_NE(root->find("loda"), nullptr) << "a reader refuses a key that it does not know";
}

TEST(Set, ErrorsAboutItsValueNameTheOption) {
  Result<Node> root = parse("load: {scale: 1}\n", "s.yaml");
  ASSERT_TRUE(apply_set(*root, "load.generator={rate: [1, 2]}"));
  const Node& second = *at_path(*root, "load.generator.rate.1");
  EXPECT_EQ(second.text, "2");
  EXPECT_EQ(error_at(second.place, "no").text(), "--set load.generator={rate: [1, 2]}: no");
  EXPECT_EQ(error_at(second.place, "no").kind, ErrorKind::usage);
  EXPECT_EQ(error_at(second.place, "no", ErrorKind::infeasible).kind, ErrorKind::infeasible);
  EXPECT_EQ(error_at(at_path(*root, "load.scale")->place, "no").kind, ErrorKind::input);
}

TEST(Blame, PrefersAnOptionThenAnExistingValueThenTheNearestNode) {
  const struct {
    const char* teaches;
    std::vector<std::string> sets;
    std::vector<std::string> paths;
    const char* at;
  } rows[] = {
      {"the first existing value", {}, {"a.none", "list.1.b", "a.c"}, "s.yaml:2:15: no"},
      {"a value set by an option", {"a.c=7"}, {"list.1.b", "a.c"}, "--set a.c=7: no"},
      {"the nearest node on the first path", {}, {"a.none.deeper", "a.nothing"}, "s.yaml:1:4: no"},
      {"a position beyond the end of a list", {}, {"list.9.b"}, "s.yaml:2:7: no"},
      {"no path at all", {}, {}, "s.yaml:1:1: no"},
  };
  for (const auto& row : rows) {
    SCOPED_TRACE(row.teaches);
    Result<Node> root = parse("a: {c: 1}\nlist: [x, {b: 2}]\n", "s.yaml");
    for (const std::string& set : row.sets) ASSERT_TRUE(apply_set(*root, set));
    EXPECT_EQ(error_at(place_for_error(*root, row.paths), "no").text(), row.at);
  }
}

TEST(ItemPath, NamesAnItemByItsNameWhereItCanBeAStepOfAPath) {
  const Node list = parse("[{name: chat}, {name: a.b}, {name: 7}, {}, x]", "s.yaml").value();
  const std::vector<std::string> expected = {"services.chat", "services.1", "services.2", "services.3", "services.4"};
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(item_path("services", list.items[i], i), expected[i]);
}

}  // namespace
}  // namespace capstan::manifest
