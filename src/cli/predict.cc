#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/input_file.h"
#include "cli/commands.h"
#include "cli/progress.h"
#include "engine/table.h"
#include "experiment/run/predict.h"

namespace capstan::cli {

namespace {

/// Rounds a fraction to units of 1e-6, because the further digits of a double carry no information.
double rounded(double fraction) {
  return static_cast<double>(static_cast<std::int64_t>(fraction * 1e6 + (fraction < 0 ? -0.5 : 0.5))) / 1e6;
}

std::string json_of(const experiment::PredictReport& report, const std::string& engine) {
  using Json = nlohmann::ordered_json;
  Json json = {{"format_version", 1},
               {"engine", engine},
               {"tpot_error_min", rounded(report.tpot_error_min)},
               {"tpot_error_median", rounded(report.tpot_error_median)},
               {"tpot_error_p90", rounded(report.tpot_error_p90)},
               {"tpot_error_max", rounded(report.tpot_error_max)},
               {"rows", report.rows.size()},
               {"rows_skipped", report.rows_skipped}};
  json["groups"] = Json::array();
  for (const experiment::PredictGroup& group : report.groups) {
    json["groups"].push_back({{"model", group.model},
                              {"gpu", group.gpu},
                              {"rows", group.rows},
                              {"tpot_error_median", rounded(group.tpot_error_median)},
                              {"tpot_error_bias_median", rounded(group.tpot_error_bias_median)}});
  }
  json["points"] = Json::array();
  for (const experiment::PredictRow& row : report.rows) {
    json["points"].push_back({{"line", row.line},
                              {"id", row.id},
                              {"model", row.model},
                              {"gpu", row.gpu},
                              {"tensor_parallel", row.tp},
                              {"weight_dtype", row.weight_dtype},
                              {"input_tokens", row.input_tokens},
                              {"output_tokens", row.output_tokens},
                              {"concurrency", row.concurrency},
                              {"tpot_error", rounded(row.tpot_error)},
                              {"ttft_measured_ns", row.ttft_measured.count()},
                              {"ttft_predicted_ns", row.ttft_predicted.count()},
                              {"tpot_measured_ns", row.tpot_measured.count()},
                              {"tpot_predicted_ns", row.tpot_predicted.count()}});
  }
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

/// Returns the errors of all points. Quantiles of fewer than ten points say little, so their range is stated instead.
std::string summary_of(const experiment::PredictReport& report) {
  constexpr std::size_t kFewestForQuantiles = 10;
  if (report.rows.size() == 1)
    return fmt::format("TPOT error of the only point: {:.1f} %", 100 * report.tpot_error_max);
  if (report.rows.size() < kFewestForQuantiles) {
    return fmt::format("TPOT error of the {} points: {:.1f} to {:.1f} %", report.rows.size(),
                       100 * report.tpot_error_min, 100 * report.tpot_error_max);
  }
  return fmt::format("TPOT error: median {:.1f} %, 90 % of points within {:.1f} %", 100 * report.tpot_error_median,
                     100 * report.tpot_error_p90);
}

std::string text_of(const experiment::PredictReport& report, const std::string& engine) {
  std::string text = fmt::format(
      "{} · {} measured points compared, {} skipped (no engine table, or another engine, mode or precision)\n\n",
      engine, report.rows.size(), report.rows_skipped);
  text += fmt::format("  {:<24} {:<8} {:>5}  {:>11}  {:>6}\n", "model", "GPU", "rows", "TPOT error", "bias");
  for (const experiment::PredictGroup& group : report.groups) {
    text += fmt::format("  {:<24} {:<8} {:>5}  {:>9.1f} %  {:>+4.1f} %\n", group.model, group.gpu, group.rows,
                        100 * group.tpot_error_median, 100 * group.tpot_error_bias_median);
  }
  return text + "\n" + summary_of(report) + "\n";
}

/// Returns the bundled table, with the rows of the file `step_times` if one is named.
Result<engine::EngineTable> table_of(const std::string& step_times) {
  if (step_times.empty()) return engine::EngineTable::bundled();
  const Result<std::string> rows = read_input(step_times, "a table in the format of data/engines.csv");
  if (!rows) return std::unexpected(rows.error());
  return engine::EngineTable::bundled().with_rows_of(*rows, step_times);
}

}  // namespace

ExitCode predict(const PredictArguments& arguments) {
  const Result<std::string> points = read_input(arguments.points, "a CSV file");
  if (!points) return report(points.error());
  const Result<engine::EngineTable> table = table_of(arguments.step_times);
  if (!table) return report(table.error());
  const Result<experiment::PredictReport> prediction = [&] {
    ProgressReport report(progress_output());
    const auto note = [&](std::size_t done, std::size_t rows) {
      report.note([=](Duration elapsed) {
        return fmt::format("{} of {} points · {} s", done, rows, elapsed / std::chrono::seconds(1));
      });
    };
    return experiment::predict(*points, arguments.points, arguments.engine, *table, note);
  }();
  if (!prediction) return report(prediction.error());
  return print(arguments.output == Output::json ? json_of(*prediction, arguments.engine)
                                                : text_of(*prediction, arguments.engine));
}

}  // namespace capstan::cli
