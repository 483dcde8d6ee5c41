#include "operator/view/names.h"

#include <gtest/gtest.h>

#include "model/ids.h"

namespace capstan::op {
namespace {

TEST(Identities, AnObjectKeepsItsIdAndANewOneOfItsNameGetsAnother) {
  Identities<model::NodeId> nodes;
  const ObjectKey first{"Node", "", "n", "uid-1"};
  const ObjectKey second{"Node", "", "n", "uid-2"};
  const model::NodeId id = nodes.id_of(first, "n");
  EXPECT_EQ(nodes.id_of(first, "n"), id);
  EXPECT_NE(nodes.id_of(second, "n"), id);
  EXPECT_EQ(*nodes.find(id), first);
  EXPECT_EQ(nodes.shown().at(id), "n");
}

TEST(Identities, TheIdOfAForgottenObjectIsNotReused) {
  Identities<model::NodeId> nodes;
  const ObjectKey gone{"Node", "", "gone", "1"};
  const ObjectKey stays{"Node", "", "stays", "2"};
  const model::NodeId old = nodes.id_of(gone, "gone");
  nodes.id_of(stays, "stays");
  nodes.forget_unseen();
  EXPECT_EQ(nodes.size(), 2u) << "both were asked for since";
  nodes.id_of(stays, "stays");
  nodes.forget_unseen();
  EXPECT_EQ(nodes.size(), 1u);
  EXPECT_EQ(nodes.find(old), nullptr);
  EXPECT_EQ(nodes.shown().find(old), nullptr);
  EXPECT_GT(nodes.id_of(gone, "gone"), old);
}

TEST(Identities, ForgetsNamedObjectsAlone) {
  Identities<model::NodeId> nodes;
  const ObjectKey gone{"Node", "", "gone", "1"};
  const ObjectKey stays{"Node", "", "stays", "2"};
  const ObjectKey other{"Node", "", "other", "3"};
  const model::NodeId old = nodes.id_of(gone, "gone");
  const model::NodeId kept = nodes.id_of(stays, "stays");
  nodes.id_of(other, "other");
  nodes.forget({old});
  EXPECT_EQ(nodes.size(), 2u);
  EXPECT_EQ(nodes.find(old), nullptr);
  EXPECT_EQ(nodes.shown().find(old), nullptr);
  EXPECT_EQ(nodes.id_of(stays, "stays"), kept);
  nodes.forget_unseen();
  EXPECT_EQ(nodes.size(), 1u) << "the other object was requested before, but not since";
}

TEST(Identities, ExpectedObjectsGetTheFirstIds) {
  Identities<model::GangId> gangs;
  const ObjectKey a{"Gang", "", "a", "1"}, b{"Gang", "", "b", "2"}, gone{"Gang", "", "gone", "3"};
  for (const ObjectKey& key : {b, gone, a}) gangs.expect(key);
  const model::GangId first = gangs.id_of(a, "a");
  EXPECT_GT(first, gangs.id_of(b, "b")) << "although b is seen first";
  EXPECT_EQ(gangs.shown().at(first), "a");
  gangs.forget_unseen();
  EXPECT_EQ(gangs.size(), 2u);
  EXPECT_EQ(gangs.shown().size(), 2u);
}

}  // namespace
}  // namespace capstan::op
