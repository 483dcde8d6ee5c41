// Goal: the sizes, computing times and arrivals of jobs are read in one way, and each wrong value is named.
#include "scenario/read_job_load.h"

#include <gtest/gtest.h>

#include "manifest/yaml.h"

namespace capstan::scenario {
namespace {

using namespace std::chrono_literals;

/// Reads a class of jobs with one size, and returns the errors as one text.
std::string read_class(const std::string& text, workload::JobLoad& load) {
  const manifest::Node node = manifest::parse(text, "j.yaml").value();
  manifest::ErrorList errors{.error = {}, .others = {}, .max_errors = 9};
  manifest::Fields fields(node, "jobs.0", errors);
  read_job_size(fields, load.sizes.front());
  if (const manifest::Node* work = fields.take("work")) read_job_work(*work, "jobs.0", load.work, errors);
  if (const manifest::Node* arrivals = fields.take("arrivals")) {
    read_job_arrivals(*arrivals, "jobs.0.arrivals", load, errors);
  }
  fields.finish();
  return errors.ok() ? "" : errors.all().text();
}

TEST(ReadJobLoad, ReadsAnElasticSizeADistributionAndARate) {
  workload::JobLoad load;
  EXPECT_EQ(
      read_class("{pods: {min: 2, max: 8}, gpus_per_pod: 4, work: {median: 1h, max: 3h}, arrivals: {per_hour: 2}}",
                 load),
      "");
  EXPECT_EQ(load.sizes[0].min_pods, 2);
  EXPECT_EQ(load.sizes[0].pods, 8);
  EXPECT_EQ(load.work.most, 3h);
  EXPECT_EQ(load.rate.per_hour, 2);
}

TEST(ReadJobLoad, NamesEachWrongValue) {
  workload::JobLoad load;
  const std::string errors = read_class("{pods: 2000, gpus_per_pod: 0, work: -1h, arrivals: {at: 5m}}", load);
  for (const char* message : {"jobs.0.pods: found \"2000\", expected 1 to 1024", "jobs.0.gpus_per_pod",
                              "jobs.0.work: found -1h, expected 1s to 8784h", "jobs.0.arrivals"}) {
    EXPECT_NE(errors.find(message), std::string::npos) << errors;
  }
}

TEST(ReadJobLoad, SaysWhetherTheArrivalsHaveAnEnd) {
  manifest::ErrorList errors;
  workload::JobLoad load;
  EXPECT_FALSE(read_job_arrivals(manifest::parse("{count: 2}", "j.yaml").value(), "arrivals", load, errors));
  EXPECT_TRUE(read_job_arrivals(manifest::parse("{count: 2, until: 2h}", "j.yaml").value(), "arrivals", load, errors));
  EXPECT_EQ(load.until, 2h);
  EXPECT_TRUE(errors.ok());
}

}  // namespace
}  // namespace capstan::scenario
