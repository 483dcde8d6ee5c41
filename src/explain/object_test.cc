#include "explain/object.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "decide/testing/world.h"

namespace capstan::explain {
namespace {

using decide::testing::World;
using model::TopologyLevel;

/// One node of eight GPUs with a gang of one pod of four on it, and a gang of two pods of four that finds room for one.
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
    decide::Index index = decide::build(world.snapshot);
    decide::place::Memory place_memory;
    const Instant now = decide::testing::at(10);
    place = decide::place::decide(index, world.snapshot, {}, {}, place_memory, now);
    decide::provision::Memory provision_memory;
    provision = decide::provision::decide(index, world.snapshot, place, {}, provision_memory, now);
    scale.resize(world.catalog().services.size());
    scale[0].service = model::ServiceId{0};
    scale[0].why = {model::ReasonCode::nothing_to_do, {}};
  }

  std::string tell(std::string_view object) const {
    const Result<Object> found = find_object(world.snapshot, names, object);
    return found ? about(*found, world.snapshot, names, {scale, place, provision}).text : found.error().text();
  }
};

TEST(Object, IsFoundByNameOrByKindAndId) {
  const OneShort one;
  EXPECT_EQ(*find_object(one.world.snapshot, one.names, "gpu-node-a"), (Object{Object::Kind::node, 0}));
  EXPECT_EQ(*find_object(one.world.snapshot, one.names, "team/chat-0"), (Object{Object::Kind::pod, 0}));
  EXPECT_EQ(*find_object(one.world.snapshot, one.names, "gang 1"), (Object{Object::Kind::gang, 1}));
}

TEST(Object, WhatIsNotThereIsAnErrorThatSaysWhatIs) {
  const OneShort one;
  for (const char* text : {"gang 2", "gang -1", "gang 1x", "gang", "nobody", "", "node 99999999999"}) {
    const Result<Object> found = find_object(one.world.snapshot, one.names, text);
    ASSERT_FALSE(found) << text;
    EXPECT_EQ(found.error().kind, ErrorKind::usage);
    EXPECT_NE(found.error().message.find("2 gangs, 3 pods or 1 nodes"), std::string::npos) << found.error().message;
  }
}

TEST(Object, AGangThatWaitsSaysWhatItLacks) {
  const OneShort one;
  const std::string text = one.tell("gang 1");
  EXPECT_EQ(text.find("gang 1 waits for nodes: "), 0u) << text;
  EXPECT_NE(text.find("lacks 4 of 8"), std::string::npos) << text;
  EXPECT_NE(text.find("the best place is gpu-node-a with 4 free"), std::string::npos) << text;
}

TEST(Object, APodSaysWhereItIs) {
  const OneShort one;
  EXPECT_EQ(one.tell("team/chat-0").find("team/chat-0 is on gpu-node-a, alone in its gang. gang 0 serves."), 0u)
      << one.tell("team/chat-0");
}

TEST(Object, ANodeSaysWhatItHolds) {
  const OneShort one;
  const std::string text = one.tell("node 0");
  EXPECT_EQ(text.find("gpu-node-a is ready, 8 x "), 0u) << text;
  EXPECT_NE(text.find("4 of them held by 1 pod."), std::string::npos) << text;
}

TEST(Object, AServiceListsWhatWaits) {
  const OneShort one;
  const std::string text = one.tell(one.world.snapshot.catalog->services[0].name);
  EXPECT_NE(text.find("\n- gang 1 waits for nodes"), std::string::npos) << text;
}

/// What a program reads of one object: whose reasons are given, and their codes.
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
    const Account account = about(*found, one.world.snapshot, one.names, {one.scale, one.place, one.provision});
    const auto document = nlohmann::json::parse(json(*one.world.snapshot.catalog, row.object, account));
    EXPECT_EQ(document["format_version"], 1);
    EXPECT_EQ(document["object"], row.object);
    EXPECT_EQ(document["explanation"], account.text);
    ASSERT_EQ(document["reasons"].size(), row.given.size()) << row.object << ": " << document;
    for (std::size_t i = 0; i < row.given.size(); ++i) {
      const auto& reason = document["reasons"][i];
      EXPECT_EQ(reason["subject"], row.given[i].first) << row.object;
      EXPECT_EQ(reason["code"], row.given[i].second) << row.object;
      EXPECT_EQ(reason["numbers"].size(), 4u);
      EXPECT_NE(account.text.find(reason["sentence"].get<std::string>()), std::string::npos) << row.object;
    }
  }
  const auto gang = nlohmann::json::parse(
      json(*one.world.snapshot.catalog, "gang 1",
           about({Object::Kind::gang, 1}, one.world.snapshot, one.names, {one.scale, one.place, one.provision})));
  EXPECT_EQ(gang["reasons"][0]["numbers"], nlohmann::json({4, 4, 8, 0})) << "4 short, 4 free of the 8 needed";
}

}  // namespace
}  // namespace capstan::explain
