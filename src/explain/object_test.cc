#include "explain/object.h"

#include <gtest/gtest.h>

#include <algorithm>

#include <nlohmann/json.hpp>

#include "fleet/testing/world.h"

namespace capstan::explain {
namespace {

using fleet::testing::World;
using model::TopologyLevel;

/// A node of eight GPUs. Gang 0 holds four of them with one pod; gang 1 needs two pods of four GPUs and has room for
/// one.
struct OneShort {
  World world;
  model::Names names;
  decide::place::Decision place;
  decide::provision::Decision provision;
  std::vector<decide::scale::Decision> scale;

  OneShort() {
    const model::NodeId node = world.node(0);
    world.bind(world.gang(1, 4, TopologyLevel::node), node);
    world.gang(2, 4, TopologyLevel::node, 5);
    names.nodes.set(node, "gpu-node-a");
    names.pods.set(model::PodId{0}, "team/chat-0");
    fleet::Index index = fleet::build(world.snapshot);
    decide::place::Memory place_memory;
    const Instant now = fleet::testing::at(10);
    place = decide::place::decide(index, world.snapshot, {}, {}, place_memory, now);
    decide::provision::Memory provision_memory;
    provision = decide::provision::decide(index, world.snapshot, place, {}, provision_memory, now);
    scale.resize(world.catalog().services.size());
    scale[0].service = model::ServiceId{0};
    scale[0].why = {model::ReasonCode::nothing_to_do, {}};
  }

  Answer account(std::string_view object) const {
    const Result<Object> found = find_object(world.snapshot, names, object);
    return found ? explain_object(*found, world.snapshot, names, {scale, place, provision}) : Answer{};
  }
  std::string text(std::string_view object) const { return account(object).text; }
};

TEST(Object, AServiceWithoutAStateIsNotExplained) {
  OneShort one;
  const std::string name = one.world.catalog().services[0].name;
  one.world.snapshot.services.erase({0});
  const Result<Object> found = find_object(one.world.snapshot, one.names, name);
  ASSERT_FALSE(found);
  EXPECT_NE(found.error().text().find("nothing is decided about " + name), std::string::npos) << found.error().text();
}

TEST(Object, IsFoundByNameOrByKindAndId) {
  const OneShort one;
  EXPECT_EQ(*find_object(one.world.snapshot, one.names, "gpu-node-a"), (Object{Object::Kind::node, 0}));
  EXPECT_EQ(*find_object(one.world.snapshot, one.names, "team/chat-0"), (Object{Object::Kind::pod, 0}));
  EXPECT_EQ(*find_object(one.world.snapshot, one.names, "gang 1"), (Object{Object::Kind::gang, 1}));
}

TEST(Object, AnUnknownNameIsAnErrorThatCountsTheObjects) {
  const OneShort one;
  for (const char* text : {"gang 2", "gang -1", "gang 1x", "gang", "unknown", "", "node 99999999999"}) {
    const Result<Object> found = find_object(one.world.snapshot, one.names, text);
    ASSERT_FALSE(found) << text;
    EXPECT_EQ(found.error().kind, ErrorKind::usage);
    EXPECT_TRUE(found.error().message.ends_with(
        "2 gangs (such as \"gang 0\"), 3 pods (such as \"team/chat-0\") and 1 node (such as \"gpu-node-a\")"))
        << found.error().message;
  }
}

TEST(Object, TheErrorForAnUnknownNameShowsASimilarOne) {
  OneShort one;
  one.names.gangs.set(model::GangId{1}, "nightly 1");
  const auto error = [&](std::string_view text) {
    const Result<Object> found = find_object(one.world.snapshot, one.names, text);
    return found ? "found" : found.error().message;
  };
  const std::string service = one.world.snapshot.catalog->services.front().name;
  EXPECT_TRUE(error(service + "x").contains(" (did you mean " + service + "?), expected")) << error(service + "x");
  EXPECT_TRUE(error("gpu-nod-a").contains("(did you mean gpu-node-a?)")) << error("gpu-nod-a");
  EXPECT_TRUE(error("team/chat-00").contains("(did you mean team/chat-0?)")) << error("team/chat-00");
  EXPECT_TRUE(error("nihgtly 1").contains("(did you mean nightly 1?)")) << error("nihgtly 1");
  EXPECT_FALSE(error("something else").contains("did you mean")) << error("something else");
}

TEST(Object, TheErrorForAnUnknownNamePrefersAnExampleThatHasAName) {
  OneShort one;
  one.names.gangs.set(model::GangId{1}, "nightly 1");
  const Result<Object> found = find_object(one.world.snapshot, one.names, "nightly");
  ASSERT_FALSE(found);
  EXPECT_NE(found.error().message.find("2 gangs (such as \"nightly 1\")"), std::string::npos) << found.error().message;
}

TEST(Object, APendingGangNamesTheGpusThatItLacks) {
  const OneShort one;
  const std::string text = one.text("gang 1");
  EXPECT_EQ(text.find("gang 1 is pending: "), 0u) << text;
  EXPECT_NE(text.find("lacks 4 of 8"), std::string::npos) << text;
  EXPECT_NE(text.find("the node with the most free GPUs is gpu-node-a with 4"), std::string::npos) << text;
}

TEST(Object, APodNamesItsNode) {
  const OneShort one;
  EXPECT_EQ(one.text("team/chat-0").find("team/chat-0 is on gpu-node-a, the only pod of its gang. gang 0 serves."), 0u)
      << one.text("team/chat-0");
}

TEST(Object, ANodeShowsTheGpusThatPodsHold) {
  const OneShort one;
  const std::string text = one.text("node 0");
  EXPECT_EQ(text.find("gpu-node-a is ready, 8 x "), 0u) << text;
  EXPECT_NE(text.find("4 of them held by 1 pod."), std::string::npos) << text;
}

TEST(Object, ANodeWithoutGpusSaysSo) {
  OneShort one;
  one.world.snapshot.nodes.set({9}, model::Node{});
  one.names.nodes.set({9}, "cpu-node");
  EXPECT_EQ(one.text("node 9").find("cpu-node is ready, no GPUs, 0 pods of gangs."), 0u) << one.text("node 9");
  const std::string summary = lines(one.account("node 9").summary);
  EXPECT_TRUE(summary.contains("present: no GPUs, 0 pods of gangs\n")) << summary;
}

TEST(Object, TheLinesNameTheObject) {
  const OneShort one;
  EXPECT_TRUE(lines(one.account("team/chat-0").summary).contains("present: team/chat-0 is on gpu-node-a; its replica"));
  EXPECT_TRUE(lines(one.account("gang 1").summary).starts_with("wanted:  replica 1 of chat: 2 pods with 4 H100 each"));
  EXPECT_TRUE(lines(one.account("node 0").summary).starts_with("wanted:  gpu-node-a runs pods"));
}

TEST(Object, EachAnswerHasThreeLines) {
  const OneShort one;
  for (const char* object : {"chat", "gang 0", "gang 1", "team/chat-0", "gpu-node-a"}) {
    const std::string text = lines(one.account(object).summary);
    EXPECT_TRUE(text.starts_with("wanted:  ")) << text;
    EXPECT_TRUE(text.contains("\npresent: ")) << text;
    EXPECT_TRUE(text.contains("\nlimit:   ")) << text;
    EXPECT_EQ(std::ranges::count(text, '\n'), 2) << text;
  }
}

TEST(Object, AServiceListsItsPendingReplicas) {
  const OneShort one;
  const std::string text = one.text(one.world.snapshot.catalog->services[0].name);
  EXPECT_NE(text.find("\n- gang 1 is pending"), std::string::npos) << text;
}

/// The reasons that the JSON document of an object must have.
struct Reasons {
  const char* object;
  std::vector<std::pair<std::string, std::string>> given;  ///< subject and code
};

TEST(Object, JsonCarriesEachReasonOfTheTextWithItsNumbers) {
  const OneShort one;
  const Reasons rows[] = {
      {"gang 1", {{"gang 1", "shortfall"}}},
      {"gang 0", {}},
      {"pod 1", {{"gang 1", "shortfall"}}},
      {"chat", {{"chat", "nothing_to_do"}, {"gang 1", "shortfall"}}},
      {"node 0", {}},
  };
  for (const Reasons& row : rows) {
    const Result<Object> found = find_object(one.world.snapshot, one.names, row.object);
    ASSERT_TRUE(found) << row.object;
    const Answer account = explain_object(*found, one.world.snapshot, one.names, {one.scale, one.place, one.provision});
    const auto document = nlohmann::json::parse(json(*one.world.snapshot.catalog, row.object, "first", account));
    EXPECT_EQ(document["format_version"], 1);
    EXPECT_EQ(document["object"], row.object);
    EXPECT_EQ(document["explanation"], account.text);
    EXPECT_EQ(document["wanted"], account.summary.wanted);
    EXPECT_EQ(document["policy"], "first");
    EXPECT_EQ(document["present"], account.summary.present);
    EXPECT_EQ(document["limit"], account.summary.limit.text);
    EXPECT_EQ(document["change"], account.summary.limit.change);
    EXPECT_EQ(document["layer"], name(account.summary.limit.layer));
    ASSERT_EQ(document["reasons"].size(), row.given.size()) << row.object << ": " << document;
    for (std::size_t i = 0; i < row.given.size(); ++i) {
      const auto& reason = document["reasons"][i];
      EXPECT_EQ(reason["subject"], row.given[i].first) << row.object;
      EXPECT_EQ(reason["code"], row.given[i].second) << row.object;
      EXPECT_EQ(reason["numbers"].size(), model::kReasonNumbers);
      EXPECT_NE(account.text.find(reason["sentence"].get<std::string>()), std::string::npos) << row.object;
    }
  }
  const auto gang = nlohmann::json::parse(json(
      *one.world.snapshot.catalog, "gang 1", "first",
      explain_object({Object::Kind::gang, 1}, one.world.snapshot, one.names, {one.scale, one.place, one.provision})));
  EXPECT_EQ(gang["reasons"][0]["numbers"], nlohmann::json({4, 4, 8, -1, 0, 0}))
      << "4 GPUs lacking, 4 free, 8 needed; -1 for the domain, because the level is a node";
}

}  // namespace
}  // namespace capstan::explain
