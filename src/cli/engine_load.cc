#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <utility>

#include "base/number_text.h"
#include "cli/endpoint_feed.h"
#include "cli/engine_options.h"
#include "cli/progress.h"
#include "cli/stop_signal.h"
#include "emulator/addresses.h"
#include "emulator/load_driver.h"
#include "emulator/scaled_clock.h"
#include "experiment/text/words.h"
#include "net/http_client.h"
#include "workload/spec.h"

namespace capstan::cli {
namespace {

using namespace std::chrono_literals;

/// Returns the endpoints as URLs. Texts that are URLs lose only their final slashes; addresses and ranges of addresses
/// become URLs.
Result<std::vector<std::string>> endpoints_of(const std::vector<std::string>& given) {
  std::vector<std::string> endpoints;
  for (std::string text : given) {
    if (text.starts_with("http://") || text.starts_with("https://")) {
      while (text.ends_with('/')) text.pop_back();
      endpoints.push_back(std::move(text));
      continue;
    }
    const auto addresses = emulator::parse_addresses(text);
    if (!addresses) return std::unexpected(addresses.error());
    for (const net::SocketAddress& address : *addresses) endpoints.push_back("http://" + address.text());
  }
  return endpoints;
}

workload::WorkloadSpec workload_of(const EngineLoadArguments& a) {
  workload::WorkloadSpec spec;
  if (!a.trace.empty()) {
    spec.from = workload::TraceSpec{a.trace};
  } else {
    spec.from = workload::ProfileSpec{a.profile.empty() ? "azure-hour" : a.profile};
  }
  spec.duration = a.duration;
  spec.scale = a.scale;
  return spec;
}

/// Returns the progress of the load as one line.
std::string status_text(const emulator::LoadDriver& driver) {
  const emulator::LoadReport& report = driver.report();
  return fmt::format("{} sent · {} in flight · {} completed · {} failed · {:.0f} %", grouped_text(report.sent),
                     grouped_text(report.in_flight), grouped_text(report.completed), grouped_text(report.failed()),
                     100 * driver.progress());
}

void run(emulator::LoadDriver& driver, net::HttpClient& client, const emulator::ScaledClock& clock,
         const net::Clock& world, EndpointFeed* feed) {
  ProgressLine status(progress_output());
  const Stopwatch watch;
  Instant next_status = world() + kStopPollInterval;
  while (stop_signals() == 0 && !driver.is_over()) {
    if (feed != nullptr) {
      if (auto endpoints = feed->poll_changes()) driver.set_endpoints(std::move(*endpoints));
    }
    driver.run();
    const Duration timeout = feed != nullptr ? EndpointFeed::kPollInterval : kStopPollInterval;
    client.run_once(std::clamp(clock.until(driver.next_event()), Duration{}, timeout));
    if (world() < next_status) continue;
    status.show(status_text(driver), watch.elapsed());
    next_status = world() + kStopPollInterval;
  }
}

/// Returns the remedy for errors of this kind.
std::string_view remedy_for(std::string_view kind) {
  if (kind == "tls") return "a trusted certificate: --ca-file names its authority, --insecure trusts any";
  if (kind == "http_401" || kind == "http_403") return "a key that the server accepts: --api-key or --header";
  return "a server at the endpoint";
}

ExitCode judge(const emulator::LoadReport& report) {
  if (report.sent == 0 || report.completed > 0) return kOk;
  const auto most_frequent =
      std::ranges::max_element(report.errors, {}, [](const auto& entry) { return entry.second; });
  const std::string kind = most_frequent == report.errors.end() ? "unknown" : most_frequent->first;
  const auto message = report.messages.find(kind);
  const std::string why = message == report.messages.end() ? "" : " (" + message->second + ")";
  return cli::report(
      {.file = {},
       .message = fmt::format("no request was answered ({} sent); the most frequent error is {}{}, expected {}",
                              report.sent, kind, why, remedy_for(kind))});
}

}  // namespace

ExitCode engine_load(const EngineLoadArguments& arguments) {
  Result<std::vector<std::string>> endpoints = endpoints_of(arguments.endpoints);
  if (!endpoints) return report(endpoints.error());
  if (endpoints->empty() && arguments.service.empty() && arguments.endpoint_file.empty()) {
    return report({ErrorKind::usage, "engine load", 0, 0,
                   "no endpoint is given, expected --endpoint, --endpoint-file or --service"});
  }
  Result<emulator::LoadAccess> access = emulator::load_access(arguments.access);
  if (!access) return report(access.error());
  auto source = workload::open(workload_of(arguments), static_cast<std::uint64_t>(arguments.seed));
  if (!source) return report(source.error());

  catch_stop_signals();
  const Result<std::unique_ptr<EndpointFeed>> feed = open_endpoint_feed(arguments);
  if (!feed) return report(feed.error());
  if (*feed != nullptr) endpoints = (*feed)->first();
  if (!endpoints) return report(endpoints.error());
  const net::Clock world = net::machine_clock();
  net::HttpClient::Options options;
  options.connections_per_host_max = 4096;
  options.connections_max = 16'384;
  net::HttpClient client(world, options);
  const emulator::ScaledClock clock(world, static_cast<std::int64_t>(arguments.speed * 1000 + 0.5));
  emulator::LoadSettings settings;
  settings.endpoints = std::move(*endpoints);
  settings.model = arguments.model;
  settings.route =
      arguments.route == "least_loaded" ? emulator::LoadRoute::least_loaded : emulator::LoadRoute::round_robin;
  settings.limit = arguments.limit.value_or(INT64_MAX);
  settings.timeout = arguments.timeout;
  settings.headers = std::move(access->headers);
  settings.tls = std::move(access->tls);
  emulator::LoadDriver driver(std::move(settings), **source, client, clock.clock());
  run(driver, client, clock, world, feed->get());
  if (const std::optional<Error> error = driver.error()) return report(*error);

  const bool json = arguments.output == Output::json;
  const ExitCode printed = print(json ? render_json(driver.report()) : render_text(driver.report()));
  return printed == kOk ? judge(driver.report()) : printed;
}

}  // namespace capstan::cli
