// Compares Capstan's PromQL evaluator with a real Prometheus (Debian's) on the same series. scripts/setup unpacks it
// into build/prometheus. Without it, every test is skipped.
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cmath>

#include "expressions.h"
#include "net/http_client.h"
#include "net/monotonic.h"
#include "promql/evaluate.h"
#include "promql/parser.h"
#include "real_prometheus.h"
#include "series.h"
#include "signals/prometheus_client.h"

namespace capstan::test {
namespace {

using namespace std::chrono_literals;
namespace fs = std::filesystem;

constexpr Duration kTimeout = 60s;

/// The elements of an answer, by their labels. The answers of both evaluators are converted to this type.
using Elements = std::vector<std::pair<std::string, std::vector<promql::Point>>>;

Elements elements_of(const promql::Value& value, std::int64_t at_ms) {
  Elements out;
  if (value.type == promql::ValueType::scalar) out.push_back({"{}", {{at_ms, value.scalar}}});
  if (value.type == promql::ValueType::string) out.push_back({value.text, {}});
  for (const promql::Sample& sample : value.vector)
    out.push_back({promql::text(sample.labels), {{at_ms, sample.value}}});
  for (const promql::Series& series : value.matrix) out.push_back({promql::text(series.labels), series.points});
  std::ranges::sort(out, {}, [](const auto& element) { return element.first; });
  return out;
}

Elements elements_of(const signals::ApiAnswer& answer) {
  Elements out;
  if (answer.kind == signals::ApiAnswer::Kind::string) out.push_back({answer.text, {}});
  for (const signals::ApiSeries& series : answer.series) {
    std::vector<promql::Point> points;
    for (const signals::ApiPoint& point : series.points) points.push_back({point.unix_ms, point.value});
    out.push_back({promql::text(series.labels), points});
  }
  std::ranges::sort(out, {}, [](const auto& element) { return element.first; });
  return out;
}

/// Returns true if two values are equal, apart from the last bits of a sum, because Prometheus does not define the
/// order of additions.
bool equal(double a, double b) {
  constexpr double kRelative = 1e-11;
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  if (a == b) return true;
  return std::abs(a - b) <= kRelative * std::max(std::abs(a), std::abs(b));
}

bool equal(const Elements& a, const Elements& b) {
  return std::ranges::equal(a, b, [](const auto& left, const auto& right) {
    return left.first == right.first && std::ranges::equal(left.second, right.second, [](auto p, auto q) {
             return p.at_ms == q.at_ms && equal(p.value, q.value);
           });
  });
}

std::string text(const Elements& elements) {
  std::string out;
  for (const auto& [labels, points] : elements) {
    out += "  " + labels;
    for (const promql::Point& point : points) out += " " + std::to_string(point.value);
    out += "\n";
  }
  return out;
}

struct PromqlRealTest : testing::Test {
  net::Clock clock = net::machine_clock();
  net::HttpClient client{clock};
  fs::path folder = fs::path(testing::TempDir()) / ("promql_real_test_" + std::to_string(getpid()));
  promql::SeriesStore store = make_series();
  std::optional<Prometheus> server;
  std::optional<signals::PrometheusClient> prometheus;

  void SetUp() override {
    if (find_prometheus().empty()) GTEST_SKIP() << "Prometheus is not installed; scripts/setup unpacks it";
    fs::create_directories(folder);
    std::ofstream(folder / "series.txt") << openmetrics(store);
    const std::string promtool = fs::path(find_prometheus()).parent_path() / "promtool";
    const std::string fill = "'" + promtool + "' tsdb create-blocks-from openmetrics '" +
                             (folder / "series.txt").string() + "' '" + (folder / "data").string() + "' >'" +
                             (folder / "promtool.log").string() + "' 2>&1";
    ASSERT_EQ(std::system(fill.c_str()), 0) << read_text(folder / "promtool.log");
    server.emplace(folder, "global: {evaluation_interval: 1m}\n", "");
    ASSERT_TRUE(wait([&] { return server->address().has_value(); })) << server->log();
    signals::PrometheusServer options;
    options.url = "http://" + *server->address();
    prometheus.emplace(client, clock, options);
  }
  void TearDown() override { fs::remove_all(folder); }

  template <typename Until>
  bool wait(Until until) {
    const Instant end = clock() + kTimeout;
    while (!until() && clock() < end) client.run_once(5ms);
    return until();
  }

  Result<signals::ApiAnswer> ask(const std::string& query, std::int64_t at_ms) {
    std::optional<Result<signals::ApiAnswer>> answer;
    const Result<void> asked =
        prometheus->instant(query, at_ms, [&](Result<signals::ApiAnswer> got) { answer = std::move(got); });
    EXPECT_TRUE(asked.has_value());
    EXPECT_TRUE(wait([&] { return answer.has_value(); }));
    return answer ? *answer : Result<signals::ApiAnswer>(std::unexpected(Error{.file = {}, .message = "no answer"}));
  }

  /// Expects equal answers from both sides, or an error from both.
  void compare(const std::string& query, std::int64_t at_ms) {
    SCOPED_TRACE(query + "  at " + std::to_string(at_ms));
    const Result<signals::ApiAnswer> expected = ask(query, at_ms);
    const Result<promql::ExpressionPtr> parsed = promql::parse(query);
    const Result<promql::Value> found =
        parsed ? promql::evaluate(**parsed, store, at_ms) : Result<promql::Value>(std::unexpected(parsed.error()));
    ASSERT_EQ(found.has_value(), expected.has_value())
        << (found ? "" : found.error().text()) << (expected ? "" : expected.error().text());
    if (!found) return void(++refused);
    const Elements a = elements_of(*found, at_ms), b = elements_of(*expected);
    EXPECT_TRUE(equal(a, b)) << "Capstan:\n" << text(a) << "Prometheus:\n" << text(b);
    (a.empty() ? empty : answered) += 1;
  }

  int answered = 0, empty = 0, refused = 0;
};

TEST_F(PromqlRealTest, AgreesOnWrittenExpressions) {
  for (const std::string& query : written_expressions()) {
    for (const std::int64_t offset_ms : {0, 60'000, 1'500'000, 2'345'678, 3'700'000})
      compare(query, kFirstMs + offset_ms);
  }
  EXPECT_GT(answered, 200);
}

TEST_F(PromqlRealTest, AgreesOnRandomExpressions) {
  RandomStream random(11, "expressions");
  for (int i = 0; i < 1500; ++i) {
    compare(random_expression(random), kFirstMs + random.between(0, 250) * 15'000 + random.between(0, 1) * 1234);
  }
  EXPECT_GT(answered, 500) << empty << " empty, " << refused << " refused";
}

TEST_F(PromqlRealTest, AgreesOnErrors) {
  for (const char* query : {"sum(",
                            "a[5m] + 1",
                            "1 > 2",
                            "{a=~\".*\"}",
                            "running[5m:] offset",
                            "rate(running)",
                            "(running)[5m]",
                            "topk(running)",
                            "running and 1",
                            "a{b=~\"(\"}",
                            "running offset 1m offset 1m",
                            "running[1s1m]",
                            "sum by (1) (a)",
                            "a + bool b",
                            "\"\\q\"",
                            "08x",
                            "nothing(a)",
                            "+bool",
                            "on",
                            "a - -ignoring",
                            "Group_Left",
                            "a + + group_right",
                            "atan2"}) {
    compare(query, kFirstMs);
  }
  EXPECT_EQ(answered + empty, 0);
}

}  // namespace
}  // namespace capstan::test
