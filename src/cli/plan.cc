#include "cli/plan.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <vector>

#include "base/number_text.h"
#include "base/output_folder.h"
#include "base/replace_file.h"
#include "cli/progress.h"
#include "experiment/text/words.h"
#include "kube/wall_clock.h"
#include "manifest/fields.h"
#include "plan/against/render.h"
#include "plan/against/terms.h"
#include "plan/feasibility/refusal.h"
#include "plan/make_plan.h"
#include "plan/measure/measure_loads.h"
#include "plan/read/read_spec.h"
#include "plan/render/files.h"
#include "plan/render/page.h"
#include "plan/render/render.h"
#include "plan/report/plan_report.h"
#include "plan/result/figures.h"
#include "serve/page.h"

namespace capstan::cli {

namespace {

namespace fs = std::filesystem;

/// Reports the choices that the plan refuses, each with what to do instead.
ExitCode report_refusals(const std::vector<plan::Refusal>& refusals) {
  for (const plan::Refusal& refusal : refusals) {
    std::fputs(
        fmt::format("{}: refused: {}: {}\n  instead: {}\n", refusal.place, refusal.what, refusal.why, refusal.instead)
            .c_str(),
        stderr);
  }
  return kInfeasible;
}

/// Reads all objects of a file or of the YAML files below a folder, in the order of their paths.
Result<std::vector<plan::ExistingObject>> read_existing(const std::string& path) {
  std::vector<std::string> files;
  std::error_code failed;
  if (fs::is_directory(path, failed)) {
    for (const auto& entry : fs::recursive_directory_iterator(path, failed)) {
      const std::string extension = entry.path().extension().string();
      if (extension == ".yaml" || extension == ".yml") files.push_back(entry.path().string());
    }
    std::ranges::sort(files);
  } else {
    files.push_back(path);
  }
  std::vector<plan::ExistingObject> objects;
  for (const std::string& file : files) {
    Result<std::vector<manifest::Node>> documents = manifest::parse_documents_file(file);
    if (!documents) return std::unexpected(documents.error());
    for (manifest::Node& document : *documents) {
      if (document.find("kind") != nullptr) objects.push_back({file, std::move(document)});
    }
  }
  if (objects.empty()) return std::unexpected(Error::about(path, "has no Kubernetes object, expected manifests"));
  return objects;
}

ExitCode print_against(const PlanArguments& arguments, const plan::Plan& made,
                       const std::vector<plan::ExistingObject>& existing, const plan::SearchOptions& options) {
  const std::vector<plan::Difference> differences = plan::find_differences(made, existing);
  const auto scalers = plan::simulate_existing(made, existing, options);
  if (!scalers) return report(scalers.error());
  const auto render = arguments.output == PlanOutput::json       ? plan::render_against_json
                      : arguments.output == PlanOutput::markdown ? plan::render_against_markdown
                                                                 : plan::render_against_text;
  std::vector<std::string> notes = plan::notes_on_constant_fleets(made, *scalers);
  std::ranges::move(plan::comparison_notes(made, existing), std::back_inserter(notes));
  const ExitCode printed = print(render(made, differences, *scalers, notes));
  return printed == kOk && !differences.empty() ? kFindings : printed;
}

std::string page(const PlanArguments& arguments, const plan::Plan& made) {
  const plan::PageDetail detail = arguments.details ? plan::PageDetail::all : plan::PageDetail::page;
  switch (arguments.output) {
    case PlanOutput::text:
      return plan::render_text(made, detail);
    case PlanOutput::markdown:
      return plan::render_markdown(made, detail);
    case PlanOutput::json:
      return plan::render_json(made);
  }
  return {};
}

/// Returns advice about the limits of the spec, from the results of the simulations.
std::string limit_advice(const plan::ServicePlan& service) {
  if (service.bounded_by.empty()) return "no limit binds, so allow another GPU kind or a longer bound";
  const std::string limits = fmt::format("{}", fmt::join(service.bounded_by, "; "));
  if (!service.raised) {
    return fmt::format(
        "raise the limit ({}); {} leave room for twice the replicas that the peak needs by the engine table, "
        "which was not simulated",
        limits, service.sufficient_limits);
  }
  const plan::RaisedLimits& raised = *service.raised;
  const std::string met = experiment::share_text(raised.attainment_ppm);
  if (raised.bounds.empty()) {
    return fmt::format(
        "a higher limit ({}) is not enough: without limits the best fleet that was simulated meets {}, so allow "
        "another GPU kind or a longer bound",
        limits, met);
  }
  return fmt::format("raise the limit ({}): with {}, {} meet at least {} in {} simulations", limits, raised.bounds,
                     raised.fleet, met, raised.seeds);
}

/// Returns what would make a plan possible: higher limits or another GPU kind, and the latency bounds that the best
/// fleet can hold.
std::string advice_for_missed_slo(const plan::ServicePlan& service, const model::Slo& slo) {
  Duration ttft{}, tpot{};
  for (const plan::Trial& trial : service.seeds) {
    ttft = std::max(ttft, trial.ttft_p99);
    tpot = std::max(tpot, trial.tpot_p99);
  }
  std::vector<std::string> bounds;
  const auto add = [&](const char* key, Duration bound, Duration reached) {
    if (bound == Duration{} || reached <= bound) return;
    bounds.push_back(
        fmt::format("{}: {}", key, manifest::duration_text(std::chrono::ceil<std::chrono::milliseconds>(reached))));
  };
  add("ttft_p99", slo.ttft, ttft);
  add("tpot", slo.tpot, tpot);
  std::string advice = limit_advice(service);
  if (!bounds.empty()) advice += fmt::format("; the 99th percentiles of the best are {}", fmt::join(bounds, " and "));
  return advice;
}

/// Prints the page of a plan that misses an SLO, and says by how much. Such a plan has no manifests.
ExitCode report_missed(const PlanArguments& arguments, const plan::Plan& made) {
  if (const ExitCode printed = print(page(arguments, made)); printed != kOk) return printed;
  for (std::size_t i = 0; i < made.services.size(); ++i) {
    const plan::ServicePlan& service = made.services[i];
    if (service.holds_slo) continue;
    std::fputs(
        fmt::format("{}: no fleet that was simulated holds the SLO of {}: the best meets {} of the requests, {} are "
                    "asked for; {}\n",
                    made.spec.file, service.service, experiment::share_text(plan::lowest_attainment_ppm(service)),
                    experiment::share_text(made.spec.services[i].slo.attainment_ppm),
                    advice_for_missed_slo(service, made.spec.services[i].slo))
            .c_str(),
        stderr);
  }
  if (made.together && !made.together->trials.holds_slo()) {
    std::fputs(fmt::format("{}: every service holds its SLO alone, but not all of them do on one cluster; {}\n",
                           made.spec.file, plan::together_advice(made))
                   .c_str(),
               stderr);
  }
  return kInfeasible;
}

/// Returns the command that writes the report of a plan again.
std::string command_of(const PlanArguments& arguments) {
  std::string command = "capstan plan " + experiment::shell_word(arguments.spec);
  for (const std::string& set : arguments.sets) command += " --set " + experiment::shell_word(set);
  return command + " --report " + experiment::shell_word(arguments.report);
}

/// Simulates the proof of the plan again and writes a page with charts for each service.
Result<void> write_report(const PlanArguments& arguments, const plan::Plan& made, const plan::SearchOptions& options) {
  const plan::PlanReportOptions report{.command = command_of(arguments), .out = arguments.out};
  for (const auto& [spec, planned] : plan::planned_services(made.spec, made.services)) {
    const Result<experiment::Comparison> proof = plan::prove_plan(spec, planned, options);
    if (!proof) return std::unexpected(proof.error());
    const std::string path = plan::plan_report_path(made.spec, planned.service, arguments.report);
    const Result<void> written = replace_file(path, serve::page(plan::plan_report_json(spec, planned, *proof, report)));
    if (!written) return written;
  }
  return {};
}

}  // namespace

ExitCode make_plan(const PlanArguments& arguments) {
  if (arguments.example) return print(std::string(plan::example_spec()));
  plan::SpecResult spec = plan::read_plan_spec(arguments.spec, arguments.sets);
  if (!spec) return report(spec.error());
  if (const auto refusals = plan::refusals(*spec); !refusals.empty()) return report_refusals(refusals);
  if (!arguments.out.empty()) {
    if (const auto error = check_output_folder(arguments.out)) return report(*error);
  }
  if (!arguments.report.empty()) {
    for (const plan::ServiceSpec& service : spec->services) {
      const std::string path = plan::plan_report_path(*spec, service.name, arguments.report);
      if (const Result<void> good = check_replaceable(path); !good) return report(good.error());
    }
  }
  Result<std::vector<plan::ExistingObject>> existing;
  if (!arguments.against.empty()) existing = read_existing(arguments.against);
  if (!existing) return report(existing.error());
  const std::int64_t now_ms = kube::machine_wall_clock()().unix_us / 1000;
  if (const Result<void> measured = plan::measure_loads(*spec, now_ms); !measured) return report(measured.error());
  plan::SearchOptions options{.jobs = arguments.jobs, .progress = {}};
  std::optional<ProgressReport> progress(std::in_place, progress_output());
  options.progress = [&progress](const std::string& words) {
    progress->note([words](Duration elapsed) {
      return fmt::format("{} · {}", words, time_text(std::chrono::floor<std::chrono::seconds>(elapsed)));
    });
  };
  Result<plan::Plan> made = plan::make_plan(std::move(*spec), options);
  progress.reset();
  options.progress = {};
  if (!made) return report(made.error());
  if (!arguments.report.empty()) {
    if (const auto written = write_report(arguments, *made, options); !written) return report(written.error());
  }
  if (!plan::holds_slo(*made)) return report_missed(arguments, *made);
  if (!arguments.out.empty()) {
    if (const auto error = write_output_folder(arguments.out, plan::plan_files(*made))) return report(*error);
  }
  return arguments.against.empty() ? print(page(arguments, *made))
                                   : print_against(arguments, *made, *existing, options);
}

}  // namespace capstan::cli
