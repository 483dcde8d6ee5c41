#include "experiment/report/clairvoyant_words.h"

#include <gtest/gtest.h>

namespace capstan::experiment {
namespace {

constexpr std::int64_t kGpuHour = 3'600'000'000'000;

RunResult paid(const char* policy, RequestCount met, std::int64_t hours) {
  RunResult result;
  result.policy = policy;
  result.requests = {.arrived = 1000, .completed = 1000, .met = met};
  result.gpu_ns[static_cast<std::size_t>(GpuState::busy)] = hours * kGpuHour;
  return result;
}

Comparison held_against_foresight() {
  Comparison c;
  c.results = {paid("ours", 993, 20), paid("theirs", 610, 30)};
  Clairvoyant clairvoyant;
  clairvoyant.bound = {
      .gpu_ns = 13 * kGpuHour, .micro_usd = 26'000'000, .work_gpu_ns = 12 * kGpuHour, .unattainable_requests = 2};
  clairvoyant.achievable = {.raised_ppm = 90'000, .holds = true, .runs = 6, .result = paid("foresight", 991, 16)};
  c.clairvoyant = clairvoyant;
  return c;
}

TEST(ClairvoyantWords, ExplainTheRows) {
  const std::string bound =
      "bound       the work of all requests takes at least 12.0 GPU-h; the lower bound also counts cold starts and "
      "replicas\n            that wait for requests, but not the requests that may miss the SLO; 2 requests would miss "
      "the SLO even alone\n            on a warm replica, and both rows leave them out\n";
  const std::string rest =
      "achievable  the plan behind the lower bound, with 9.0 % more replicas, holds the SLO with 1.23x the GPU time of "
      "the\n            lower bound; the cheapest possible fleet lies between the two, so the bound is not a target\n"
      "policies    GPU time of each policy divided by that of the achievable row: ours 1.25x; theirs 1.88x and misses "
      "the SLO\n";
  EXPECT_EQ(clairvoyant_words(held_against_foresight(), 120), bound + rest);
}

TEST(ClairvoyantWords, ATightBoundIsNotCalledLoose) {
  Comparison c = held_against_foresight();
  c.clairvoyant->bound.gpu_ns = 15 * kGpuHour;
  c.clairvoyant->bound.unattainable_requests = 0;
  c.clairvoyant->achievable.raised_ppm = 0;
  const std::string bound =
      "bound       the work of all requests takes at least 12.0 GPU-h; the lower bound also counts cold starts and "
      "replicas\n            that wait for requests, but not the requests that may miss the SLO\n";
  const std::string rest =
      "achievable  the plan behind the lower bound holds the SLO with 1.07x the GPU time of the lower bound\n"
      "policies    GPU time of each policy divided by that of the achievable row: ours 1.25x; theirs 1.88x and misses "
      "the SLO\n";
  EXPECT_EQ(clairvoyant_words(c, 120), bound + rest);
}

TEST(ClairvoyantWords, ReportFailures) {
  Comparison c = held_against_foresight();
  c.clairvoyant->achievable.holds = false;
  c.clairvoyant->bound.solved = false;
  const std::string text = clairvoyant_words(c, 120);
  EXPECT_NE(text.find("still misses the SLO"), std::string::npos) << text;
  EXPECT_NE(text.find("the solver stopped early"), std::string::npos) << text;
}

}  // namespace
}  // namespace capstan::experiment
