#include "plan/measure/measure_loads.h"

#include <chrono>
#include <optional>
#include <utility>
#include <vector>

#include "net/http_client.h"
#include "net/monotonic.h"
#include "plan/measure/measured_load.h"
#include "signals/prometheus_client.h"

namespace capstan::plan {

namespace {

signals::PrometheusServer server_of(const MeasureSpec& measure) {
  signals::PrometheusServer server;
  server.url = measure.url;
  for (const auto& [name, value] : measure.headers) server.headers.push_back({name, value});
  server.bearer_token_file = measure.bearer_token_file;
  server.ca_file = measure.ca_file;
  server.certificate_file = measure.certificate_file;
  server.key_file = measure.key_file;
  server.timeout = measure.timeout;
  return server;
}

/// Adds the keys that state a login to the message of a server that asks for one.
std::string with_login_hint(const std::string& message) {
  const bool asks = message.find("HTTP status 401") != message.npos || message.find("HTTP status 403") != message.npos;
  return message + (asks ? "; state the login of the server in bearer_token_file or headers" : "");
}

/// Sends queries to one Prometheus server and waits for each answer.
class MeasuredServer {
 public:
  MeasuredServer(const ServiceSpec& service, MeasuredSpan span)
      : service_(service),
        span_(span),
        http_(net::machine_clock()),
        client_(http_, net::machine_clock(), server_of(service.load.measure)) {}

  Result<signals::ApiAnswer> ask(const std::string& query, bool is_range) {
    std::optional<Result<signals::ApiAnswer>> answer;
    const auto done = [&answer](Result<signals::ApiAnswer> got) { answer = std::move(got); };
    const Result<void> asked =
        is_range ? client_.range(query, span_.start_ms, span_.end_ms, service_.load.measure.step, done)
                 : client_.instant(query, span_.end_ms, done);
    if (!asked) return std::unexpected(asked.error());
    while (!answer) http_.run_once(std::chrono::milliseconds(100));
    if (*answer) return std::move(*answer);
    return std::unexpected(measure_error(service_, query, with_login_hint(answer->error().message)));
  }

 private:
  const ServiceSpec& service_;
  MeasuredSpan span_;
  net::HttpClient http_;
  signals::PrometheusClient client_;
};

Result<LoadSpec> measure(const ServiceSpec& service, const engine::EngineTable& engines, std::int64_t now_ms) {
  const MeasuredSpan span = measured_span(service.load.measure, now_ms);
  MeasuredServer server(service, span);
  const auto inventory = server.ask(inventory_query(service), false);
  if (!inventory) return std::unexpected(inventory.error());
  const auto queries = measure_queries(service, engines, *inventory);
  if (!queries) return std::unexpected(queries.error());
  std::vector<signals::ApiAnswer> answers;
  for (const MeasureQuery& query : queries->queries) {
    auto answer = server.ask(query.promql, query.is_range);
    if (!answer) return std::unexpected(answer.error());
    answers.push_back(std::move(*answer));
  }
  return measured_load(service, *queries, answers, span);
}

}  // namespace

Result<void> measure_loads(PlanSpec& spec, std::int64_t now_ms) {
  for (ServiceSpec& service : spec.services) {
    if (service.load.source != LoadSpec::Source::prometheus) continue;
    Result<LoadSpec> load = measure(service, *spec.engines, now_ms);
    if (!load) return std::unexpected(load.error());
    service.load = std::move(*load);
  }
  return {};
}

}  // namespace capstan::plan
