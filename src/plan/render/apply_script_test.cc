#include "plan/render/apply_script.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace capstan::plan {
namespace {

TEST(ChosenCommands, AreInTheOrderOfTheirSteps) {
  Plan plan;
  plan.sections.push_back({.key = "monitoring"});
  plan.sections.back().apply.push_back({.step = ApplyStep::monitoring, .command = "kubectl apply -f monitoring"});
  plan.sections.push_back({.key = "nodes"});
  plan.sections.back().apply.push_back({.step = ApplyStep::nodes, .command = "kubectl apply -f nodes"});
  plan.sections.back().apply.push_back({.step = ApplyStep::names, .command = "kubectl create namespace a"});
  const std::vector<ApplyCommand> commands = chosen_commands(plan);
  ASSERT_EQ(commands.size(), 3u);
  EXPECT_EQ(commands[0].command, "kubectl create namespace a");
  EXPECT_EQ(commands[2].command, "kubectl apply -f monitoring");
}

TEST(ChosenCommands, JoinTheScalersOfSeveralServices) {
  Plan plan;
  plan.sections.push_back({.key = "replicas"});
  for (const char* name : {"a", "b"}) {
    plan.sections.back().apply.push_back(
        {.step = ApplyStep::scaler, .command = fmt::format("kubectl apply -f replicas/keda/{}.yaml", name)});
  }
  const std::vector<ApplyCommand> commands = chosen_commands(plan);
  ASSERT_EQ(commands.size(), 1u);
  EXPECT_EQ(commands[0].command, "kubectl apply -f replicas/keda/a.yaml -f replicas/keda/b.yaml");
}

TEST(ApplyScript, RunsTheChosenCommandsAndShowsTheOptionalOnes) {
  Plan plan;
  plan.spec.name = "a\nrm -r b";
  plan.sections.push_back({.key = "nodes"});
  plan.sections.back().apply = {
      {.step = ApplyStep::queues,
       .command = "kubectl apply -f gangs/kueue",
       .purpose = "the queues",
       .alternative = {.choice = "queues", .option = "kueue"}},
      {.step = ApplyStep::nodes, .command = "kubectl apply -f nodes", .purpose = "the node pools"},
      {.step = ApplyStep::secrets, .command = "kubectl create secret x", .purpose = "a token", .is_optional = true}};
  EXPECT_EQ(apply_script(plan), R"sh(#!/bin/sh
# Applies the plan a rm -r b in the order in which its parts work.
# It ends at the first command that fails. Commands that are optional are comments.
set -eu
cd "$(dirname "$0")"

# Tests for everything that the plan needs and does not install. Nothing is applied if a part is missing.
absent=0
missing() {
  echo "missing: $1" >&2
  echo "  install it: $2" >&2
  absent=1
}
command -v kubectl >/dev/null || missing 'kubectl' 'https://kubernetes.io/docs/tasks/tools/'
[ "$absent" -eq 0 ] || { echo "nothing was applied" >&2; exit 1; }

# the node pools
kubectl apply -f nodes

# optional: a token
# kubectl create secret x
)sh");
}

}  // namespace
}  // namespace capstan::plan
