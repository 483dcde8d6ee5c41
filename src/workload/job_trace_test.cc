// Goal: each row of a trace that asks for GPUs is a job, and a wrong row is an error with its place.
#include "workload/job_trace.h"

#include <gtest/gtest.h>

namespace capstan::workload {
namespace {

using namespace std::chrono_literals;

constexpr std::string_view kHeader = "name,cpu_milli,num_gpu,gpu_milli,creation_time,deletion_time,scheduled_time\n";

Result<std::vector<JobArrival>> read(const std::string& rows, const JobTracePart& part = {}) {
  static std::string text;  // outlives the stream
  text = rows;
  return read_job_trace(std::move(*open_bytes_in_memory(text, "pods.csv")), part);
}

TEST(JobTrace, EachRowWithAGpuIsAJob) {
  const auto jobs = read(std::string(kHeader) +
                         "late,8000,2,1000,500,1000,600\n"
                         "share,1000,1,460,10,70,10\n"
                         "no-gpu,1000,0,0,20,30,20\n"
                         "never-placed,1000,1,1000,30,90,\n"
                         "short,1000,8,1000,40,40,40\n");
  ASSERT_TRUE(jobs.has_value()) << jobs.error().text();
  ASSERT_EQ(jobs->size(), 4u);
  EXPECT_EQ((*jobs)[0].at, Instant{10s});
  EXPECT_EQ((*jobs)[0].gpus_per_pod, MilliGpu{460}) << "a share of one GPU";
  EXPECT_EQ((*jobs)[0].work, 60s);
  EXPECT_EQ((*jobs)[1].work, 60s) << "a task that was never placed computes from its creation";
  EXPECT_EQ((*jobs)[2].work, 1s) << "a job computes for a second at least";
  EXPECT_EQ((*jobs)[3].at, Instant{500s}) << "jobs are sorted by their arrival";
  EXPECT_EQ((*jobs)[3].gpus_per_pod, whole_gpus(2));
  EXPECT_EQ((*jobs)[3].work, 400s) << "waiting in the real cluster is no work";
}

TEST(JobTrace, APartCountsFromItsBeginning) {
  const auto jobs = read(std::string(kHeader) + "a,1,1,1000,10,70,10\nb,1,1,1000,100,160,100\nc,1,1,1000,200,260,200\n",
                         {.from = 50s, .length = 150s});
  ASSERT_TRUE(jobs.has_value());
  ASSERT_EQ(jobs->size(), 1u);
  EXPECT_EQ(jobs->front().at, Instant{50s});
}

TEST(JobTrace, RowsMayStateCpuMemoryAndKindsOfGpu) {
  const auto jobs = read(
      "cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,creation_time,deletion_time,scheduled_time\n"
      "12000,16384,1,1000,V100M16|V100M32,10,70,10\n6000,12288,1,1000,,20,80,20\n");
  ASSERT_TRUE(jobs.has_value()) << jobs.error().text();
  EXPECT_EQ(jobs->front().cpu_milli, 12000);
  EXPECT_EQ(jobs->front().memory_mib, 16384);
  EXPECT_EQ(jobs->front().gpus, (std::vector<std::string>{"V100M16", "V100M32"}));
  EXPECT_TRUE(jobs->back().gpus.empty());
}

TEST(JobTrace, ReportsWrongRowsWithTheirPlace) {
  const auto error_of = [](const std::string& text) {
    const auto jobs = read(text);
    return jobs ? std::string() : jobs.error().text();
  };
  EXPECT_EQ(error_of(""), "pods.csv: the trace is empty, expected a header and rows");
  EXPECT_EQ(error_of(std::string(kHeader)), "pods.csv:1:1: the trace has no rows, expected at least one");
  EXPECT_EQ(error_of("name,num_gpu\n"),
            "pods.csv:1:1: the header has no column 'gpu_milli', expected the header of a trace of jobs: num_gpu, "
            "gpu_milli, creation_time, deletion_time, scheduled_time");
  EXPECT_EQ(error_of(std::string(kHeader) + "a,1,1\n"),
            "pods.csv:2:1: the row has 3 columns, expected 7 as in the header");
  EXPECT_EQ(error_of(std::string(kHeader) + "a,1,x,1000,10,70,10\n"),
            "pods.csv:2:5: num_gpu is 'x', expected a whole number from 0 to 1024");
  EXPECT_EQ(error_of(std::string(kHeader) + "a,1,1,1001,10,70,10\n"),
            "pods.csv:2:7: gpu_milli is '1001', expected a whole number from 0 to 1000");
  EXPECT_EQ(error_of(std::string(kHeader) + "a,1,1,1000,-5,70,10\n"),
            "pods.csv:2:12: creation_time is '-5', expected seconds from 0 to 3153600000");
  EXPECT_EQ(error_of(std::string(kHeader) + "a,1,1,1000,10,70,80\n"),
            "pods.csv:2:15: deletion_time is before the start of the task, expected a later time");
}

}  // namespace
}  // namespace capstan::workload
