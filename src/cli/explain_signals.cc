#include "cli/explain_signals.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include <nlohmann/json.hpp>

#include "base/file.h"
#include "net/monotonic.h"
#include "operator/facts/fetch_pages.h"
#include "operator/facts/signal_page.h"

namespace capstan::cli {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kStates[] = {"passed", "failed", "unknown"};

void add(GatheredSignals& gathered, op::PageFacts facts, const ExplainSignalsArguments& arguments) {
  if (arguments.max_sequences > 0) facts.load.max_sequences = arguments.max_sequences;
  gathered.loads.push_back({facts.pod.name, facts.load});
  gathered.facts.pods.push_back(std::move(facts.pod));
  gathered.facts.unusable = std::move(facts.unusable);
}

template <typename T>
Json optional_json(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}

Json load_json(const PodLoad& slow) {
  const explain::SlowDiagnosis diagnosis = explain::diagnose(slow.load);
  return {{"pod", slow.pod},
          {"part", explain::name(diagnosis.part)},
          {"text", diagnosis.text},
          {"remedy", diagnosis.remedy},
          {"metric", diagnosis.metric},
          {"running", optional_json(slow.load.running)},
          {"waiting", optional_json(slow.load.waiting)},
          {"kv_usage_ppm", optional_json(slow.load.kv_usage_ppm)},
          {"gateway_waiting", optional_json(slow.load.gateway_waiting)},
          {"gpu_percent", optional_json(slow.load.gpu_percent)},
          {"max_sequences", optional_json(slow.load.max_sequences)},
          {"cpu_percent", optional_json(slow.load.cpu_percent)}};
}

}  // namespace

const PodLoad* slowest(const std::vector<PodLoad>& loads) {
  const auto found = std::ranges::max_element(loads, {}, [](const PodLoad& load) {
    return std::pair(load.load.waiting.value_or(-1), load.load.running.value_or(-1));
  });
  return found == loads.end() ? nullptr : &*found;
}

std::string signals_text(const GatheredSignals& gathered) {
  std::string out = explain::text(explain::signal_path(gathered.facts));
  const PodLoad* slow = slowest(gathered.loads);
  if (slow != nullptr && slow->load.running) {
    out += fmt::format("{}: {}\n", slow->pod, explain::text(explain::diagnose(slow->load), slow->load));
  }
  return out;
}

std::string signals_json(const GatheredSignals& gathered) {
  const explain::SignalPath path = explain::signal_path(gathered.facts);
  Json out = {{"format_version", 1},     {"service", gathered.facts.service},
              {"stages", Json::array()}, {"broken", path.broken ? Json(explain::name(*path.broken)) : Json()},
              {"remedy", path.remedy},   {"bottleneck", Json()}};
  for (const explain::StageResult& stage : path.stages) {
    out["stages"].push_back({{"stage", explain::name(stage.stage)},
                             {"state", kStates[static_cast<std::size_t>(stage.state)]},
                             {"text", stage.text}});
  }
  if (const PodLoad* slow = slowest(gathered.loads); slow != nullptr) out["bottleneck"] = load_json(*slow);
  return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Result<GatheredSignals> gather_from_page(const ExplainSignalsArguments& arguments) {
  GatheredSignals gathered;
  gathered.facts.service = arguments.service;
  gathered.facts.model = arguments.model;
  op::ExpectedPage question{.source = arguments.page, .model = arguments.model, .engine = arguments.engine, .pod = ""};
  if (!arguments.page.empty()) {
    constexpr std::size_t kMaxPage = 16u << 20;
    const std::expected<std::string, FileFault> text = read_file(arguments.page, kMaxPage);
    if (!text) {
      return std::unexpected(
          Error::about(arguments.page, "cannot be read, expected a page of metrics of at most 16 MiB"));
    }
    const op::MetricsPage page{.text = *text, .format = signals::Exposition::text, .at = {}};
    op::PageFacts facts = op::page_facts({&page, 1}, question);
    facts.pod.url = arguments.page;
    add(gathered, std::move(facts), arguments);
    return gathered;
  }
  question.source = arguments.url;
  net::HttpClient http(net::machine_clock());
  std::vector<op::FetchedPages> fetched = op::fetch_pages(http, net::machine_clock(), {arguments.url});
  add(gathered, op::facts_of(fetched.front(), question), arguments);
  return gathered;
}

ExitCode explain_signals(const ExplainSignalsArguments& arguments) {
  const bool page = !arguments.page.empty() || !arguments.url.empty();
  if (!page && arguments.service.empty()) {
    return report(
        {ErrorKind::usage, "capstan explain signals", 0, 0, "nothing is named, expected a service, --page or --url"});
  }
  const Result<GatheredSignals> gathered = page ? gather_from_page(arguments) : gather_from_cluster(arguments);
  if (!gathered) return report(gathered.error());
  const bool json = arguments.output == Output::json;
  const ExitCode printed = print(json ? signals_json(*gathered) : signals_text(*gathered));
  if (printed != kOk) return printed;
  return explain::signal_path(gathered->facts).broken ? kFindings : kOk;
}

}  // namespace capstan::cli
