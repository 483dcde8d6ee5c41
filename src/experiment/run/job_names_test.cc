#include "experiment/run/job_names.h"

#include <gtest/gtest.h>

namespace capstan::experiment {
namespace {

TEST(JobNames, AJobHasTheNameOfItsClassAndItsNumber) {
  sim::ClusterConfig config;
  config.job_classes.resize(2);
  config.job_classes[0].name = "training";
  config.job_classes[1].name = "eval";
  config.jobs.resize(3);
  config.jobs[2].job_class = 1;
  model::Snapshot snapshot;
  model::Gang gang;
  gang.ordinal = 2;
  snapshot.gangs.set({8}, gang);
  gang.service = {0};
  snapshot.gangs.set({9}, gang);
  const model::Names names = job_names(snapshot, config);
  ASSERT_NE(names.gangs.find({8}), nullptr);
  EXPECT_EQ(*names.gangs.find({8}), "eval 2");
  EXPECT_EQ(names.gangs.find({9}), nullptr) << "a replica has the name of its service and its number";
}

}  // namespace
}  // namespace capstan::experiment
