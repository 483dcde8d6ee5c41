#include "operator/names.h"

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

TEST(Identities, WhatIsForgottenLeavesItsIdUnused) {
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

}  // namespace
}  // namespace capstan::op
