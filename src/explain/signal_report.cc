#include "explain/signal_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <utility>

#include <nlohmann/json.hpp>

namespace capstan::explain {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kStates[] = {"passed", "failed", "unknown"};

template <typename T>
Json fact_json(const std::optional<T>& value) {
  return value ? Json(*value) : Json();
}

Json load_json(const PodLoad& slow) {
  const SlowDiagnosis diagnosis = diagnose(slow.load);
  return {{"pod", slow.pod},
          {"part", name(diagnosis.part)},
          {"text", diagnosis.text},
          {"remedy", diagnosis.remedy},
          {"metric", diagnosis.metric},
          {"running", fact_json(slow.load.running)},
          {"waiting", fact_json(slow.load.waiting)},
          {"kv_usage_ppm", fact_json(slow.load.kv_usage_ppm)},
          {"gateway_waiting", fact_json(slow.load.gateway_waiting)},
          {"gpu_percent", fact_json(slow.load.gpu_percent)},
          {"max_sequences", fact_json(slow.load.max_sequences)},
          {"cpu_percent", fact_json(slow.load.cpu_percent)}};
}

}  // namespace

const PodLoad* slowest(const std::vector<PodLoad>& loads) {
  const auto found = std::ranges::max_element(loads, {}, [](const PodLoad& load) {
    return std::pair(load.load.waiting.value_or(-1), load.load.running.value_or(-1));
  });
  return found == loads.end() ? nullptr : &*found;
}

std::string signals_text(const GatheredSignals& gathered) {
  std::string out = text(signal_path(gathered.facts));
  const PodLoad* slow = slowest(gathered.loads);
  if (slow != nullptr && slow->load.running) {
    out += fmt::format("{}: {}\n", slow->pod, text(diagnose(slow->load), slow->load));
  }
  return out;
}

std::string signals_json(const GatheredSignals& gathered) {
  const SignalPath path = signal_path(gathered.facts);
  Json out = {{"format_version", 1},     {"service", gathered.facts.service},
              {"stages", Json::array()}, {"broken", path.broken ? Json(name(*path.broken)) : Json()},
              {"remedy", path.remedy},   {"bottleneck", Json()}};
  for (const StageResult& stage : path.stages) {
    out["stages"].push_back({{"stage", name(stage.stage)},
                             {"state", kStates[static_cast<std::size_t>(stage.state)]},
                             {"text", stage.text}});
  }
  if (const PodLoad* slow = slowest(gathered.loads); slow != nullptr) out["bottleneck"] = load_json(*slow);
  return out.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace capstan::explain
