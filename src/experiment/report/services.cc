#include "experiment/report/services.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "base/number_text.h"
#include "experiment/report/result_words.h"
#include "experiment/text/layout.h"
#include "experiment/text/words.h"

namespace capstan::experiment {
namespace {

constexpr std::int64_t kPoint = 10'000;  // millionths
constexpr std::size_t kNamesMost = 3;
constexpr std::size_t kServiceNameLeast = 12;
constexpr std::size_t kServiceNameMost = 40;

std::string percent(std::int64_t ppm) { return tenths(ppm, kPoint) + " %"; }

std::string row(const std::string& name, std::size_t name_width, const std::vector<std::string>& cells) {
  static constexpr std::size_t kWidths[] = {10, 9, 10, 10, 9, 9, 11};
  std::string line = "  " + pad_right(shortened(name, name_width), name_width);
  for (std::size_t i = 0; i < cells.size(); ++i) line += pad_left(cells[i], kWidths[i]);
  return line + "\n";
}

}  // namespace

std::string service_table(const RunResult& result, std::size_t width) {
  if (result.services.empty()) return "";
  std::size_t name = kServiceNameLeast;
  for (const ServiceFigures& service : result.services) name = std::max(name, columns(service.name));
  name = std::min(name, kServiceNameMost);
  std::string out = row("service", name, {"met", "asked", "TTFT p99", "TPOT p99", "ready", "GPU-h", "USD"});
  for (const ServiceFigures& service : result.services) {
    const bool has_latency = service.requests.completed > 0;
    const auto minutes = static_cast<std::int64_t>(std::max<std::size_t>(result.minutes.size(), 1));
    out += row(
        service.name, name,
        {service.requests.arrived > 0 ? percent(service.attainment_ppm()) : "-", percent(service.slo.attainment_ppm),
         has_latency ? seconds(service.ttft.p99_us) : "-", has_latency ? seconds(service.tpot.p99_us) : "-",
         tenths(service.ready_minutes * 10 / minutes, 10), gpu_hours(service.gpu_ns), usd(service.micro_usd)});
  }
  out += row("no pod", name, {"", "", "", "", "", gpu_hours(result.idle_node_gpu_ns), usd(result.idle_node_micro_usd)});
  const std::string missed = missed_services_words(result);
  return missed.empty() ? out : out + wrapped("  ", result.policy + " misses " + missed, width);
}

std::string slo_phrase(const Comparison& c) {
  const std::size_t services = c.results.front().services.size();
  if (services > 0) return fmt::format("the SLOs of all {} services", services);
  return fmt::format("the SLO of {}", percent(c.slo.attainment_ppm));
}

std::string missed_services_words(const RunResult& result) {
  std::vector<const ServiceFigures*> missed;
  for (const ServiceFigures& service : result.services) {
    if (!service.holds_slo()) missed.push_back(&service);
  }
  std::string words;
  const std::size_t named = std::min(missed.size(), kNamesMost);
  for (std::size_t i = 0; i < named; ++i) {
    const bool is_last = i + 1 == missed.size();
    words += fmt::format("{}{} ({} met, {} asked)",
                         i == 0    ? ""
                         : is_last ? " and "
                                   : ", ",
                         missed[i]->name, percent(missed[i]->attainment_ppm()), percent(missed[i]->slo.attainment_ppm));
  }
  if (missed.size() > named) words += fmt::format(" and {} more", missed.size() - named);
  return words;
}

}  // namespace capstan::experiment
