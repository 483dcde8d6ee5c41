#include "emulator/load_report.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

namespace capstan::emulator {
namespace {

struct LatencyRow {
  std::string_view name;
  std::string_view key;
  const sim::LatencyHistogram LoadReport::* values;
};

constexpr LatencyRow kLatencyRows[] = {{"TTFT", "ttft", &LoadReport::ttft},
                                       {"TPOT", "tpot", &LoadReport::tpot},
                                       {"end to end", "e2e", &LoadReport::e2e},
                                       {"sent late", "late", &LoadReport::send_delay}};
constexpr std::pair<std::string_view, std::int64_t> kPercentiles[] = {
    {"p50", 500'000}, {"p90", 900'000}, {"p95", 950'000}, {"p99", 990'000}};

std::string milliseconds(std::int64_t us) { return fmt::format("{:.1f}", static_cast<double>(us) / 1000); }

double per_second(std::int64_t count, Duration elapsed) {
  return elapsed > Duration{} ? static_cast<double>(count) / in_seconds(elapsed) : 0;
}

}  // namespace

RequestCount LoadReport::failed() const {
  RequestCount sum = 0;
  for (const auto& [kind, count] : errors) sum += count;
  return sum;
}

std::string render_text(const LoadReport& report) {
  std::string text = fmt::format(
      "requests: {} sent in {:.1f} s · {} completed · {} failed\n{:.2f} requests/s, {:.0f} input and {:.0f} output "
      "tokens/s\n\n",
      report.sent, in_seconds(report.elapsed), report.completed, report.failed(),
      per_second(report.completed, report.elapsed), per_second(report.input_tokens, report.elapsed),
      per_second(report.output_tokens, report.elapsed));
  if (report.completed == 0) {
    text += "no request completed, so there are no latencies\n";
  } else {
    text += fmt::format("  {:<12}{:>10}{:>10}{:>10}{:>10}{:>10}\n", "ms", "mean", "p50", "p90", "p95", "p99");
  }
  for (const LatencyRow& row : kLatencyRows) {
    const sim::LatencyHistogram& values = report.*row.values;
    if (report.completed == 0 || values.count() == 0) continue;
    text += fmt::format("  {:<12}{:>10}", row.name, milliseconds(values.mean_us()));
    for (const auto& [name, ppm] : kPercentiles) text += fmt::format("{:>10}", milliseconds(values.percentile_us(ppm)));
    text += "\n";
  }
  if (!report.errors.empty()) text += "\n";
  for (const auto& [kind, count] : report.errors) {
    const auto message = report.messages.find(kind);
    text +=
        fmt::format("  {:<20}{:>12}{}\n", kind, count, message == report.messages.end() ? "" : "  " + message->second);
  }
  return text;
}

std::string render_json(const LoadReport& report) {
  using Json = nlohmann::ordered_json;
  Json json = {{"format_version", 1},
               {"requests_sent", report.sent},
               {"requests_completed", report.completed},
               {"requests_failed", report.failed()},
               {"input_tokens", report.input_tokens},
               {"output_tokens", report.output_tokens},
               {"elapsed_ns", report.elapsed.count()}};
  for (const LatencyRow& row : kLatencyRows) {
    const sim::LatencyHistogram& values = report.*row.values;
    Json& out = json[std::string(row.key)];
    out = {{"count", values.count()}, {"mean_us", values.mean_us()}};
    for (const auto& [name, ppm] : kPercentiles) out[fmt::format("{}_us", name)] = values.percentile_us(ppm);
  }
  json["errors"] = Json::object();
  for (const auto& [kind, count] : report.errors) json["errors"][kind] = count;
  json["error_messages"] = Json::object();
  for (const auto& [kind, message] : report.messages) json["error_messages"][kind] = message;
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace capstan::emulator
