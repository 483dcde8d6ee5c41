#include "workload/generator.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "workload/testing.h"

namespace capstan::workload {
namespace {

using std::chrono::minutes;
using std::chrono::seconds;
using testing::read_all_requests;
using Kind = RateCurve::Kind;
using Process = ArrivalSpec::Process;

std::vector<Request> generate(const GeneratorSpec& generator, std::optional<Duration> duration, std::uint64_t seed = 1,
                              double scale = 1) {
  WorkloadSpec spec;
  spec.from = generator;
  spec.duration = duration;
  spec.scale = scale;
  Result<std::unique_ptr<Source>> source = open(spec, seed);
  if (!source) return {};
  return read_all_requests(**source);
}

RateCurve curve(Kind kind, double rate, double peak, Duration period, Duration start, Duration length) {
  return {.kind = kind,
          .rate = rate,
          .peak = peak,
          .period = period,
          .start = start,
          .length = length,
          .step = {},
          .step_rates = {}};
}

struct CurveRow {
  const char* teaches;
  RateCurve curve;
  Duration at;
  double rate;
  Duration end;
};

TEST(RateCurve, ReturnsTheRateAndItsEnd) {
  RateCurve pieces;
  pieces.kind = Kind::piecewise;
  pieces.step = minutes(1);
  pieces.step_rates = {5, 0, 7};
  const CurveRow rows[] = {
      {"constant", curve(Kind::constant, 3, 0, {}, {}, {}), seconds(9), 3, Duration::max()},
      {"before a spike", curve(Kind::spike, 3, 9, {}, seconds(10), seconds(5)), seconds(9), 3, seconds(10)},
      {"inside a spike", curve(Kind::spike, 3, 9, {}, seconds(10), seconds(5)), seconds(10), 9, seconds(15)},
      {"after a spike", curve(Kind::spike, 3, 9, {}, seconds(10), seconds(5)), seconds(15), 3, Duration::max()},
      {"on_off while on", curve(Kind::on_off, 1, 9, seconds(60), {}, seconds(20)), seconds(61), 9, seconds(80)},
      {"on_off while off", curve(Kind::on_off, 1, 9, seconds(60), {}, seconds(20)), seconds(80), 1, seconds(120)},
      {"the first step of a ramp", curve(Kind::ramp, 0, 1000, {}, seconds(10), seconds(1000)), seconds(10), 0.5,
       seconds(11)},
      {"the middle of a ramp", curve(Kind::ramp, 0, 1000, {}, seconds(10), seconds(1000)), seconds(510), 500.5,
       seconds(511)},
      {"after a ramp", curve(Kind::ramp, 0, 1000, {}, seconds(10), seconds(1000)), seconds(1010), 1000,
       Duration::max()},
      {"a piecewise step of rate 0", pieces, seconds(60), 0, seconds(120)},
  };
  for (const CurveRow& row : rows) {
    SCOPED_TRACE(row.teaches);
    const std::optional<RateStep> step = rate_at(row.curve, row.at);
    ASSERT_TRUE(step);
    EXPECT_DOUBLE_EQ(step->rate, row.rate);
    EXPECT_EQ(step->end, row.end);
  }
  EXPECT_FALSE(rate_at(pieces, minutes(3)));
  const RateCurve day = curve(Kind::diurnal, 2, 10, std::chrono::hours(24), std::chrono::hours(14), {});
  EXPECT_NEAR(rate_at(day, std::chrono::hours(14))->rate, 10, 1e-3);
  EXPECT_NEAR(rate_at(day, std::chrono::hours(26))->rate, 2, 1e-3);
}

TEST(PortableGamma, EqualsFactorialsAndAKnownValue) {
  double factorial = 1;
  for (int n = 1; n <= 20; factorial *= n++) EXPECT_NEAR(portable_gamma(n) / factorial, 1, 1e-12) << n;
  EXPECT_NEAR(portable_gamma(1.5), std::sqrt(M_PI) / 2, 1e-12);
}

struct ProcessRow {
  const char* teaches;
  Process process;
  double shape;
  double variation;  ///< squared coefficient of variation of the gaps
};

// Variances of gamma and Weibull gaps: 1 / k, and Gamma(1 + 2 / k) / Gamma(1 + 1 / k)^2 - 1.
constexpr ProcessRow kProcesses[] = {
    {"Poisson", Process::poisson, 1, 1},
    {"gamma with shape below 1 is bursty", Process::gamma, 0.5, 2},
    {"gamma with shape above 1 is regular", Process::gamma, 4, 0.25},
    {"Weibull with shape below 1 is bursty", Process::weibull, 0.5, 5},
    {"Weibull with shape 1 is Poisson", Process::weibull, 1, 1},
    {"Weibull with shape above 1 is regular", Process::weibull, 2, 4 / M_PI - 1},
};

TEST(Generator, GapsHaveTheConfiguredRateAndVariation) {
  for (const ProcessRow& row : kProcesses) {
    SCOPED_TRACE(row.teaches);
    GeneratorSpec spec;
    spec.rate.rate = 100;
    spec.arrivals = {row.process, row.shape};
    const std::vector<Request> requests = generate(spec, seconds(5000));
    EXPECT_NEAR(static_cast<double>(requests.size()), 500'000, 500'000 * 0.01);
    double sum = 0, squares = 0;
    for (std::size_t i = 1; i < requests.size(); ++i) {
      const double gap = static_cast<double>((requests[i].arrival - requests[i - 1].arrival).count()) * 1e-9;
      sum += gap;
      squares += gap * gap;
    }
    const double mean = sum / static_cast<double>(requests.size() - 1);
    const double variation = squares / static_cast<double>(requests.size() - 1) / (mean * mean) - 1;
    EXPECT_NEAR(variation, row.variation, 0.05 * row.variation);
  }
}

TEST(Generator, CountsFollowTheCurve) {
  GeneratorSpec spec;
  spec.rate.kind = Kind::piecewise;
  spec.rate.step = minutes(1);
  spec.rate.step_rates = {100, 0, 400};
  std::map<std::int64_t, int> counts;
  for (const Request& request : generate(spec, std::nullopt, 1, 2)) ++counts[request.arrival.since_start / minutes(1)];
  EXPECT_EQ(counts.size(), 2U);
  EXPECT_NEAR(counts[0], 12000, 500);
  EXPECT_NEAR(counts[2], 48000, 1000);
}

TEST(Generator, LengthsComeFromTheirDistributions) {
  GeneratorSpec spec;
  spec.rate.rate = 1000;
  spec.lengths.input = {.kind = LengthSpec::Kind::log_normal, .tokens = 500, .sigma = 1, .min = 10, .max = 8000};
  spec.lengths.output = {.kind = LengthSpec::Kind::uniform, .tokens = 1, .sigma = 1, .min = 100, .max = 300};
  std::vector<Request> requests = generate(spec, seconds(100));
  double output = 0;
  for (const Request& request : requests) {
    ASSERT_TRUE(request.input_tokens >= 10 && request.input_tokens <= 8000);
    ASSERT_TRUE(request.output_tokens >= 100 && request.output_tokens <= 300);
    output += request.output_tokens;
  }
  EXPECT_NEAR(output / static_cast<double>(requests.size()), 200, 1);
  std::ranges::sort(requests, {}, &Request::input_tokens);
  EXPECT_NEAR(requests[requests.size() / 2].input_tokens, 500, 10);
  EXPECT_NEAR(requests[requests.size() * 841 / 1000].input_tokens, 500 * std::exp(1), 40);
}

TEST(Generator, DrawsFromATableKeepItsCellsAndTheirMeans) {
  const LengthTable table({{1, 10, 100, 200, 3, 2500, 180000}, {1000, 1000, 5, 5, 1, 1000000, 5000}});
  RandomStream stream(1, "test");
  std::int64_t small = 0, input = 0, output = 0;
  for (int i = 0; i < 400'000; ++i) {
    const Lengths lengths = table.draw(stream);
    if (lengths.input == 1000) {
      ASSERT_EQ(lengths.output, 5);
      continue;
    }
    ASSERT_TRUE(lengths.input >= 1 && lengths.input <= 10 && lengths.output >= 100 && lengths.output <= 200);
    ++small;
    input += lengths.input;
    output += lengths.output;
  }
  EXPECT_NEAR(static_cast<double>(small), 300'000, 1500);
  EXPECT_NEAR(static_cast<double>(input) / static_cast<double>(small), 2.5, 0.02);
  EXPECT_NEAR(static_cast<double>(output) / static_cast<double>(small), 180, 0.3);
}

GeneratorSpec conversations() {
  GeneratorSpec spec;
  spec.rate.rate = 2;
  spec.lengths.input = {.kind = LengthSpec::Kind::log_normal, .tokens = 800, .sigma = 0.5, .min = 1, .max = 4000};
  spec.lengths.output = {.kind = LengthSpec::Kind::uniform, .tokens = 1, .sigma = 1, .min = 50, .max = 400};
  spec.sessions =
      SessionSpec{.turns_mean = 5, .turn_gap_mean = seconds(20), .system_tokens = 1024, .max_context = 16000};
  return spec;
}

TEST(Sessions, EachTurnBeginsWithTheWholeConversation) {
  std::map<std::uint32_t, Request> last;
  std::size_t turns = 0;
  std::uint64_t system[2] = {};
  const GeneratorSpec generator = conversations();
  WorkloadSpec spec;
  spec.from = generator;
  spec.duration = minutes(30);
  Result<std::unique_ptr<Source>> source = open(spec, 7);
  ASSERT_TRUE(source);
  const std::vector<Request> requests = read_all_requests(**source);
  for (const Request& request : requests) {
    ASSERT_NE(request.client, 0U);
    ASSERT_LE(request.input_tokens, 16000);
    ASSERT_EQ(request.prefix_hashes.size(), static_cast<std::size_t>(request.input_tokens / kPrefixBlockTokens));
    if (turns++ == 0) system[0] = request.block(0), system[1] = request.block(1);
    ASSERT_TRUE(request.block(0) == system[0] && request.block(1) == system[1]);
    const auto [before, first] = last.try_emplace(request.client, request);
    if (!first) {
      const Request& old = before->second;
      ASSERT_GE(request.input_tokens, old.input_tokens + old.output_tokens + 1);
      for (std::size_t i = 0; i < old.prefix_hashes.size(); ++i) ASSERT_EQ(request.block(i), old.block(i));
      before->second = request;
    }
  }
  for (const auto& [client, request] : last) {
    if (client > 1 && last.contains(client - 1) && request.prefix_hashes.size() > 2 &&
        last.at(client - 1).prefix_hashes.size() > 2) {
      EXPECT_NE(request.block(2), last.at(client - 1).block(2));
    }
  }
  // 2 sessions/s for 30 min. The mean is 5 turns, minus the turns after the end of the load or beyond the longest
  // context.
  EXPECT_NEAR(static_cast<double>(last.size()), 3600, 200);
  EXPECT_NEAR(static_cast<double>(turns) / static_cast<double>(last.size()), 4.7, 0.4);
}

TEST(ClosedLoop, StopsAtItsRequestsOrItsDuration) {
  WorkloadSpec spec;
  ClosedLoopSpec closed;
  closed.concurrency = 2;
  closed.think_time = seconds(3);
  closed.lengths.input.tokens = 7;
  closed.requests = 3;
  spec.from = closed;
  Result<ClosedLoop> loop = open_closed_loop(spec, 1);
  ASSERT_TRUE(loop);
  EXPECT_EQ(loop->make({})->arrival, Instant{});
  EXPECT_EQ(loop->make({})->input_tokens, 7);
  EXPECT_EQ(loop->make({seconds(10)})->arrival, Instant{seconds(13)});
  EXPECT_FALSE(loop->make({seconds(11)}));

  closed.requests.reset();
  spec.from = closed;
  spec.duration = seconds(12);
  spec.scale = 2;
  loop = open_closed_loop(spec, 1);
  ASSERT_TRUE(loop);
  EXPECT_EQ(loop->concurrency(), 4);
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(loop->make({}));
  EXPECT_TRUE(loop->make({seconds(8)}));
  EXPECT_FALSE(loop->make({seconds(9)}));
}

std::uint64_t hash_of(const std::vector<Request>& requests) {
  StateHash hash;
  for (const Request& r : requests) {
    for (std::int64_t word :
         {r.arrival.since_start.count(), std::int64_t{r.input_tokens}, std::int64_t{r.output_tokens}}) {
      hash.add(static_cast<std::uint64_t>(word));
    }
  }
  return hash.value();
}

RC_GTEST_PROP(Generator, IsInOrderAndRepeatable, (std::uint8_t kind, std::uint8_t process, std::uint16_t seed)) {
  GeneratorSpec spec = conversations();
  if (seed % 2 == 0) spec.sessions.reset();
  spec.rate = curve(static_cast<Kind>(kind % 5), 2, 40, minutes(1), seconds(10), seconds(20));
  spec.arrivals = {static_cast<Process>(process % 3), 0.4};
  const std::vector<Request> once = generate(spec, minutes(2), seed);
  const std::vector<Request> repeated = generate(spec, minutes(2), seed);
  RC_ASSERT(hash_of(once) == hash_of(repeated));
  RC_ASSERT(hash_of(once) != hash_of(generate(spec, minutes(2), seed + 1U)));
  RC_ASSERT(std::ranges::is_sorted(once, {}, &Request::arrival));
  RC_ASSERT((once.empty() || once.back().arrival < Instant{minutes(2)}));
}

TEST(Generator, ArrivalsDoNotDependOnLengths) {
  GeneratorSpec spec;
  spec.rate.rate = 50;
  const std::vector<Request> constant = generate(spec, seconds(100));
  spec.lengths.input.kind = LengthSpec::Kind::log_normal;
  const std::vector<Request> drawn = generate(spec, seconds(100));
  ASSERT_EQ(constant.size(), drawn.size());
  for (std::size_t i = 0; i < drawn.size(); ++i) ASSERT_EQ(constant[i].arrival, drawn[i].arrival);
}

}  // namespace
}  // namespace capstan::workload
