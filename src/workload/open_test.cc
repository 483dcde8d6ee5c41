#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <limits>
#include <map>

#include "workload/profile.h"
#include "workload/spec.h"
#include "workload/superpose.h"
#include "workload/testing.h"
#include "workload/trace.h"

namespace capstan::workload {
namespace {

using std::chrono::seconds;
using testing::read_all_requests;

const std::string kAzureTrace = CAPSTAN_SOURCE_DIR "/../shared/data/traces/azure-llm-2023/conv.csv";

struct RefusedSpec {
  const char* teaches;
  std::function<void(WorkloadSpec&)> make;
  const char* error;
};

GeneratorSpec generator(std::function<void(GeneratorSpec&)> change) {
  GeneratorSpec spec;
  change(spec);
  return spec;
}

const RefusedSpec kRefusedSpecs[] = {
    {"a scale of 0", [](WorkloadSpec& s) { s.scale = 0; }, "workload: the scale is 0, expected 1e-06 to 100000"},
    {"a scale that is not a number", [](WorkloadSpec& s) { s.scale = std::numeric_limits<double>::quiet_NaN(); },
     "workload: the scale is nan, expected 1e-06 to 100000"},
    {"a jitter beyond an hour", [](WorkloadSpec& s) { s.scale_jitter = seconds(3601); },
     "workload: the jitter of copies is 3601 s, expected 0 s to 1 h"},
    {"a duration of 0", [](WorkloadSpec& s) { s.duration = seconds(0); },
     "workload: the duration is 0 s, expected 1 s to 366 d"},
    {"an unknown profile", [](WorkloadSpec& s) { s.from = ProfileSpec{"azure-our"}; },
     "azure-our: cannot be opened: No such file or directory, expected a bundled profile (azure-hour) or the path of a "
     "profile"},
    {"a trace that does not exist", [](WorkloadSpec& s) { s.from = TraceSpec{"/nonexistent"}; },
     "/nonexistent: cannot be opened: No such file or directory"},
    {"a load that never ends", [](WorkloadSpec& s) { s.from = GeneratorSpec{}; },
     "workload: the load never ends, expected a duration"},
    {"a negative rate", [](WorkloadSpec& s) { s.from = generator([](GeneratorSpec& g) { g.rate.rate = -1; }); },
     "workload: the rate is -1 per second, expected 0 or 1e-06 to 10000000"},
    {"a curve without steps",
     [](WorkloadSpec& s) { s.from = generator([](GeneratorSpec& g) { g.rate.kind = RateCurve::Kind::piecewise; }); },
     "workload: the curve has no steps, expected at least one"},
    {"a cycle of length 0",
     [](WorkloadSpec& s) { s.from = generator([](GeneratorSpec& g) { g.rate.kind = RateCurve::Kind::on_off; }); },
     "workload: the period is 0 s, expected 1 s to 366 d"},
    {"a shape of 0",
     [](WorkloadSpec& s) {
       s.from = generator([](GeneratorSpec& g) { g.arrivals = {ArrivalSpec::Process::gamma, 0}; });
     },
     "workload: the shape of the arrivals is 0, expected 0.1 to 100"},
    {"prompts of 0 tokens",
     [](WorkloadSpec& s) { s.from = generator([](GeneratorSpec& g) { g.lengths.input.tokens = 0; }); },
     "workload: input tokens is 0, expected 1 to 16777216"},
    {"bounds that exclude every length",
     [](WorkloadSpec& s) { s.from = generator([](GeneratorSpec& g) { g.lengths.output.max = 0; }); },
     "workload: output tokens are bounded by 1 and 0, expected 1 <= min <= max <= 16777216"},
    {"a system prompt that fills the context",
     [](WorkloadSpec& s) {
       s.from = generator([](GeneratorSpec& g) {
         g.sessions =
             SessionSpec{.turns_mean = 2, .turn_gap_mean = seconds(1), .system_tokens = 100, .max_context = 100};
       });
     },
     "workload: the system prompt is 100, expected 0 to 99"},
    {"a closed loop", [](WorkloadSpec& s) { s.from = ClosedLoopSpec{}; },
     "workload: a closed loop has no arrivals of its own, expected a trace or a rate"},
};

TEST(Open, RefusesInvalidSettings) {
  for (const RefusedSpec& row : kRefusedSpecs) {
    SCOPED_TRACE(row.teaches);
    WorkloadSpec spec;
    row.make(spec);
    const auto source = open(spec, 1);
    ASSERT_FALSE(source);
    EXPECT_EQ(source.error().text(), row.error);
  }
  WorkloadSpec spec;
  spec.from = ClosedLoopSpec{};
  EXPECT_EQ(open_closed_loop(spec, 1).error().text(),
            "workload: the load never ends, expected a duration or a number of requests");
}

struct BadProfile {
  const char* teaches;
  std::string text;
  const char* error;
};

const BadProfile kBadProfiles[] = {
    {"an empty file", "", "profile: the file is empty, expected a workload profile"},
    {"a NUL byte in the first line", std::string("caps\0tan,1\n", 11),
     "profile:1:5: found a NUL byte, expected text in UTF-8"},
    {"a file of another kind", "TIMESTAMP,x\n",
     "profile:1:1: the first line is 'TIMESTAMP,x', expected 'capstan-profile,1'"},
    {"an unknown row", "capstan-profile,1\nhour,1\n",
     "profile:2:1: the row begins with 'hour', expected source, duration_ms, minute or cell"},
    {"a profile without cells", "capstan-profile,1\nduration_ms,5\nminute,0,1\n",
     "profile:3: the profile has no cell, expected at least one"},
    {"a minute left out", "capstan-profile,1\nminute,1,5\n",
     "profile:2:8: the minute is 1, expected 0: the profile lists each minute once and in order"},
    {"a negative count", "capstan-profile,1\nminute,0,-5\n",
     "profile:2:10: the count is '-5', expected a whole number from 0 to 1000000000"},
    {"a cell with swapped bounds", "capstan-profile,1\ncell,5,4,1,1,1,4.5,1\n",
     "profile:2:8: input is '4', expected a whole number from 5 to 16777216"},
    {"a mean outside the bounds", "capstan-profile,1\ncell,4,5,1,1,1,5.001,1\n",
     "profile:2:16: the input mean is '5.001', expected a number from 4 to 5"},
    {"a truncated row", "capstan-profile,1\ncell,4,5,1\n", "profile:2:11: the row ends here, expected another column"},
    {"a row too long", "capstan-profile,1\nminute,0,1,2\n",
     "profile:2:11: the row has more columns, expected it to end here"},
    {"a duration that does not fit", "capstan-profile,1\nduration_ms,60001\nminute,0,5\ncell,1,1,1,1,1,1,1\n",
     "profile:4: duration_ms is 60001 and the profile has 1 minutes, expected a duration that ends in the last minute"},
};

TEST(Profile, RefusesBadInput) {
  for (const BadProfile& row : kBadProfiles) {
    SCOPED_TRACE(row.teaches);
    const auto profile = read_profile(*open_bytes_in_memory(row.text, "profile"));
    ASSERT_FALSE(profile);
    EXPECT_EQ(profile.error().text(), row.error);
  }
}

/// Statistics of a workload that tests compare.
struct Figures {
  double requests = 0, input_mean = 0, output_mean = 0;
  double input[3] = {}, output[3] = {};  ///< p50, p90, p99
  double correlation = 0;                ///< correlation of the logarithms of input and output
  double dispersion_1s = 0, dispersion_10s = 0, dispersion_60s = 0;
};

/// Returns the index of dispersion: the variance of the counts in windows of this length, divided by their mean.
double dispersion(const std::vector<Request>& requests, Duration window) {
  std::vector<double> counts(static_cast<std::size_t>(requests.back().arrival.since_start / window));
  for (const Request& request : requests) {
    const auto index = static_cast<std::size_t>(request.arrival.since_start / window);
    if (index < counts.size()) counts[index] += 1;
  }
  double sum = 0, squares = 0;
  for (double count : counts) sum += count, squares += count * count;
  const double n = static_cast<double>(counts.size());
  return (squares / n - (sum / n) * (sum / n)) / (sum / n);
}

Figures figures_of(const std::vector<Request>& requests) {
  Figures f;
  std::vector<double> inputs, outputs;
  double x = 0, y = 0, xx = 0, yy = 0, xy = 0;
  for (const Request& request : requests) {
    inputs.push_back(request.input_tokens);
    outputs.push_back(request.output_tokens);
    f.input_mean += request.input_tokens;
    f.output_mean += request.output_tokens;
    const double a = std::log(request.input_tokens), b = std::log(request.output_tokens);
    x += a, y += b, xx += a * a, yy += b * b, xy += a * b;
  }
  const double n = static_cast<double>(requests.size());
  f.requests = n;
  f.input_mean /= n;
  f.output_mean /= n;
  f.correlation = (n * xy - x * y) / std::sqrt((n * xx - x * x) * (n * yy - y * y));
  std::ranges::sort(inputs);
  std::ranges::sort(outputs);
  const double quantiles[3] = {0.5, 0.9, 0.99};
  for (int i = 0; i < 3; ++i) {
    f.input[i] = inputs[static_cast<std::size_t>(quantiles[i] * n)];
    f.output[i] = outputs[static_cast<std::size_t>(quantiles[i] * n)];
  }
  f.dispersion_1s = dispersion(requests, seconds(1));
  f.dispersion_10s = dispersion(requests, seconds(10));
  f.dispersion_60s = dispersion(requests, seconds(60));
  return f;
}

std::string line_of(const Figures& f) {
  return fmt::format(
      "requests {:.0f}, input {:.1f} (p50 {:.0f} p90 {:.0f} p99 {:.0f}), output {:.1f} (p50 {:.0f} p90 {:.0f} p99 "
      "{:.0f}), "
      "log correlation {:.3f}, index of dispersion 1 s {:.2f}, 10 s {:.2f}, 60 s {:.2f}",
      f.requests, f.input_mean, f.input[0], f.input[1], f.input[2], f.output_mean, f.output[0], f.output[1],
      f.output[2], f.correlation, f.dispersion_1s, f.dispersion_10s, f.dispersion_60s);
}

std::vector<Request> open_all(const WorkloadSpec& spec, std::uint64_t seed = 1) {
  static std::vector<std::unique_ptr<Source>> sources;  // requests refer to memory of their source
  Result<std::unique_ptr<Source>> source = open(spec, seed);
  if (!source) return {};
  sources.push_back(std::move(*source));
  return read_all_requests(*sources.back());
}

TEST(Profile, TheBundledHourHasTheTotalsOfTheTrace) {
  const Figures f = figures_of(open_all({}));
  EXPECT_EQ(f.requests, 19366);
  EXPECT_NEAR(f.input_mean, 1154.7, 1154.7 * 0.01);
  EXPECT_NEAR(f.output_mean, 211.1, 211.1 * 0.01);
}

TEST(Profile, TheBundledHourResemblesTheTrace) {
  if (!std::filesystem::exists(kAzureTrace)) GTEST_SKIP() << "the published trace is not at " << kAzureTrace;
  WorkloadSpec spec;
  spec.from = TraceSpec{kAzureTrace};
  const Figures trace = figures_of(open_all(spec));
  const Figures profile = figures_of(open_all({}));
  std::printf("trace:   %s\nprofile: %s\n", line_of(trace).c_str(), line_of(profile).c_str());
  EXPECT_EQ(profile.requests, trace.requests);
  for (int i = 0; i < 3; ++i) {
    EXPECT_NEAR(profile.input[i], trace.input[i], 0.06 * trace.input[i]) << i;
    EXPECT_NEAR(profile.output[i], trace.output[i], 0.06 * trace.output[i]) << i;
  }
  EXPECT_NEAR(profile.correlation, trace.correlation, 0.03);
  // Within a minute, the profile is a Poisson process and the trace is only close to one. docs/guides/workloads.md has
  // the figures.
  EXPECT_NEAR(profile.dispersion_60s, trace.dispersion_60s, 0.05 * trace.dispersion_60s);
  EXPECT_LE(profile.dispersion_1s, trace.dispersion_1s * 1.1);
}

TEST(Profile, ScalesItsCountsExactly) {
  for (const double scale : {0.001, 0.5, 1.0, 2.5, 300.0}) {
    WorkloadSpec spec;
    spec.scale = scale;
    const std::vector<Request> requests = open_all(spec);
    EXPECT_EQ(requests.size(), static_cast<std::size_t>(19366 * scale)) << scale;
    EXPECT_TRUE(std::ranges::is_sorted(requests, {}, &Request::arrival));
    EXPECT_LT(requests.back().arrival, Instant{std::chrono::milliseconds(3501722)});
  }
}

TEST(Profile, MayBeGivenAsItsText) {
  WorkloadSpec spec;
  spec.from = ProfileSpec{"capstan-profile,1\nduration_ms,90000\nminute,0,5\nminute,1,2\ncell,7,7,9,9,1,7,9\n"};
  const std::vector<Request> requests = open_all(spec);
  ASSERT_EQ(requests.size(), 7u);
  EXPECT_EQ(requests[0].input_tokens, 7);
  EXPECT_GE(requests[5].arrival, Instant{seconds(60)});
}

TEST(Open, StopsAtTheDuration) {
  WorkloadSpec spec;
  spec.duration = seconds(600);
  const std::vector<Request> requests = open_all(spec);
  EXPECT_LT(requests.back().arrival, Instant{seconds(600)});
  const std::vector<Request> all = open_all({});
  EXPECT_EQ(requests.size(), static_cast<std::size_t>(std::ranges::count_if(
                                 all, [](const Request& r) { return r.arrival < Instant{seconds(600)}; })));
}

std::unique_ptr<Source> csv(const std::string& text) {
  return std::move(*open_trace(*open_bytes_in_memory(text, "trace")));
}

/// Returns a trace with rows at these tenths of a second. The input tokens 1, 2, 3 ... identify the rows.
std::string rows_at(const std::vector<int>& tenths) {
  std::string text = "arrival_s,input_tokens,output_tokens\n";
  for (std::size_t i = 0; i < tenths.size(); ++i) {
    text += fmt::format("{}.{},{},1\n", tenths[i] / 10, tenths[i] % 10, i + 1);
  }
  return text;
}

TEST(SuperposedTrace, CopiesAreWholeShiftedAndInOrder) {
  std::vector<int> tenths;
  for (int i = 0; i < 3000; ++i) tenths.push_back(i * i / 1500);
  const std::string text = rows_at(tenths);
  for (const std::int64_t jitter : {0, 1, 30, 500}) {
    for (const std::int64_t scale_ppm : {1'000'000, 2'000'000, 2'500'000, 400'000, 7'250'000}) {
      SCOPED_TRACE(fmt::format("scale {} ppm, jitter {} s", scale_ppm, jitter));
      SuperposedTrace scaled(csv(text), scale_ppm, seconds(jitter), 5);
      const std::vector<Request> requests = read_all_requests(scaled, 97);
      EXPECT_TRUE(std::ranges::is_sorted(requests, {}, &Request::arrival));
      EXPECT_NEAR(static_cast<double>(requests.size()), 3000 * static_cast<double>(scale_ppm) * 1e-6, 120);
      std::map<std::uint64_t, std::vector<Request>> copies;
      for (const Request& request : requests) copies[request.prefix_salt].push_back(request);
      EXPECT_EQ(copies.size(), static_cast<std::size_t>(ceil_div(scale_ppm, 1'000'000)));
      for (const auto& [salt, copy] : copies) {
        // Each row of a copy arrives at its time plus the copy's shift, mirrored at the start if that is negative.
        std::vector<std::int64_t> at(3000, -1);
        for (const Request& r : copy) at[static_cast<std::size_t>(r.input_tokens - 1)] = r.arrival.since_start.count();
        std::optional<std::int64_t> shift;
        for (std::size_t i = 3000; i-- > 0;) {
          if (at[i] < 0) continue;
          if (!shift) shift = at[i] - tenths[i] * 100'000'000LL;
          EXPECT_EQ(at[i], std::abs(tenths[i] * 100'000'000LL + *shift));
        }
        EXPECT_LE(std::abs(*shift), Duration(seconds(jitter)).count());
        EXPECT_TRUE(salt != 0 || *shift == 0);
        EXPECT_TRUE(copy.size() == 3000 || scale_ppm % 1'000'000 != 0);
      }
    }
  }
}

TEST(SuperposedTrace, BatchSizesDoNotChangeTheResultAndSeedsDo) {
  std::vector<int> tenths;
  for (int i = 0; i < 500; ++i) tenths.push_back(3 * i);
  const auto hash = [&](std::size_t batch, std::uint64_t seed) {
    SuperposedTrace scaled(csv(rows_at(tenths)), 3'300'000, seconds(5), seed);
    StateHash state;
    for (const Request& r : read_all_requests(scaled, batch)) {
      state.add(static_cast<std::uint64_t>(r.arrival.since_start.count()));
      state.add(r.prefix_salt);
    }
    return state.value();
  };
  EXPECT_EQ(hash(1, 9), hash(1000, 9));
  EXPECT_NE(hash(1, 9), hash(1, 10));
}

TEST(SuperposedTrace, ReturnsTheRowsBeforeAnErrorAndThenTheError) {
  SuperposedTrace scaled(csv("arrival_s,input_tokens,output_tokens\n1,1,1\n2,1,1\nx,1,1\n"), 3'000'000, seconds(1), 1);
  EXPECT_EQ(read_all_requests(scaled).size(), 6U);
  ASSERT_TRUE(scaled.error());
  EXPECT_EQ(scaled.error()->text(), "trace:4:1: arrival_s is 'x', expected seconds from 0 to 3153600000");
}

TEST(SuperposedTrace, DispersionOfTheAzureHourGrowsWithTheScale) {
  if (!std::filesystem::exists(kAzureTrace)) GTEST_SKIP() << "the published trace is not at " << kAzureTrace;
  double before = 0;
  for (const double scale : {0.25, 1.0, 4.0, 16.0, 64.0}) {
    WorkloadSpec spec;
    spec.from = TraceSpec{kAzureTrace};
    spec.scale = scale;
    const Figures f = figures_of(open_all(spec));
    std::printf("scale %5.2f: %s\n", scale, line_of(f).c_str());
    EXPECT_NEAR(f.requests, 19366 * scale, 19366 * scale * 0.02);
    EXPECT_GT(f.dispersion_60s, before);  // the copies keep the curve of the hour, so its dispersion grows
    before = f.dispersion_60s;
  }
}

TEST(Open, ARecordedLoadMayStartLater) {
  WorkloadSpec spec;
  const std::vector<Request> recorded = open_all(spec);
  spec.start = seconds(3600);
  const std::vector<Request> later = open_all(spec);
  ASSERT_EQ(later.size(), recorded.size());
  EXPECT_EQ(later.front().arrival, recorded.front().arrival + seconds(3600));
  spec.duration = seconds(3660);
  const std::vector<Request> cut = open_all(spec);
  EXPECT_LT(cut.back().arrival, Instant{seconds(3660)}) << "the duration counts from the start of the run";
  EXPECT_GT(cut.size(), 0u);
}

}  // namespace
}  // namespace capstan::workload
