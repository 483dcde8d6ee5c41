#include "kube/store.h"

#include <gtest/gtest.h>

namespace capstan::kube {
namespace {

struct Thing {
  Meta meta;
};

Thing read_thing(Json object) { return {read_meta(object)}; }

struct StoreTest : testing::Test {
  JsonDocument document;
  Store<Thing> store{read_thing};

  Json object(std::string_view name, int version, std::string_view uid = "u") {
    text = R"({"metadata": {"namespace": "n", "name": ")" + std::string(name) + R"(", "uid": ")" + std::string(uid) +
           R"(", "resourceVersion": ")" + std::to_string(version) + "\"}}";
    return *document.parse(text);
  }
  std::string contents() const {
    std::string out;
    store.snapshot().for_each([&](RowId id, const Thing& thing) {
      out += std::to_string(id.value) + "=" + thing.meta.name + "@" + thing.meta.resource_version + " ";
    });
    return out;
  }
  std::string text;
};

TEST_F(StoreTest, ARelistChangesOnlyChangedObjects) {
  store.begin();
  for (const auto name : {"a", "b", "c"}) store.stage(object(name, 1));
  EXPECT_EQ(contents(), "") << "an incomplete copy is not visible";
  EXPECT_FALSE(store.snapshot().synced);
  store.finish();
  EXPECT_TRUE(store.snapshot().synced);
  EXPECT_EQ(contents(), "0=a@1 1=b@1 2=c@1 ");
  EXPECT_EQ(store.take_changes().size(), 3u);

  const StoreSnapshot<Thing> before = store.snapshot();
  store.begin();
  store.stage(object("a", 1));
  store.stage(object("b", 5));
  store.stage(object("d", 2));
  store.finish();
  EXPECT_EQ(contents(), "0=a@1 1=b@5 2=d@2 ");
  EXPECT_EQ(store.take_changes(), (std::vector<RowId>{{1}, {2}}));
  EXPECT_EQ(before.rows.at(RowId{2})->meta.name, "c") << "an old snapshot does not change";
  EXPECT_EQ(store.find("n", "c"), nullptr);
  EXPECT_EQ(store.find("n", "d")->meta.resource_version, "2");
}

TEST_F(StoreTest, AnAbortedRelistHasNoEffect) {
  store.set(object("a", 1));
  store.begin();
  store.stage(object("b", 1));
  store.begin();
  store.stage(object("a", 1));
  store.stage(object("x", 1));
  store.unstage(object("x", 2));
  store.finish();
  EXPECT_EQ(contents(), "0=a@1 ");
}

TEST_F(StoreTest, TheSameEventTwiceIsOneChange) {
  store.set(object("a", 1));
  EXPECT_EQ(store.snapshot().version, 1u);
  store.set(object("a", 1));
  EXPECT_EQ(store.snapshot().version, 1u);
  store.set(object("a", 1, "another-uid"));
  EXPECT_EQ(store.snapshot().version, 2u);
  store.erase(object("a", 2));
  store.erase(object("a", 2));
  EXPECT_EQ(store.snapshot().version, 3u);
  EXPECT_EQ(contents(), "");
  EXPECT_FALSE(store.set(Json())) << "an object without a name is not valid";
}

TEST_F(StoreTest, KnowsItsAge) {
  using namespace std::chrono_literals;
  store.fresh(Instant{10s});
  EXPECT_EQ(store.snapshot().age(Instant{25s}), 15s);
}

}  // namespace
}  // namespace capstan::kube
