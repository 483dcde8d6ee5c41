#include "operator/loop/signal_sources.h"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include "base/known_row.h"
#include "decide/scale/scale.h"
#include "model/signal_names.h"
#include "net/socket_address.h"
#include "operator/view/selector.h"

namespace capstan::op {
namespace {

using signals::MissingReason;

constexpr std::string_view kHttpPort = "http";
constexpr std::int64_t kUsualPort = 8000;
constexpr Duration kLongestScrape = std::chrono::seconds(10);
/// Number of intervals after which a value is stale.
constexpr int kIntervalsStale = 3;

std::int64_t port_of(const InferenceScaler& scaler, const kube::Pod& pod) {
  if (scaler.port) return *scaler.port;
  for (const kube::Container& container : pod.spec.containers) {
    for (const kube::ContainerPort& port : container.ports) {
      if (port.name == kHttpPort) return port.port;
    }
  }
  return kUsualPort;
}

/// Returns a text that is equal for two scalers only if they read pages in the same way.
std::string reading_key(const InferenceScaler& scaler) {
  std::string text = std::to_string(scaler.interval.count()) + '\n' + std::to_string(scaler.slo.ttft.count()) + '\n' +
                     std::to_string(scaler.slo.max_queue_time().count()) + '\n' +
                     std::to_string(scaler.slo.tpot.count());
  for (const std::string& part : {scaler.model, scaler.engine, scaler.prometheus_url, scaler.prometheus_selector}) {
    text += '\n' + part;
  }
  for (const std::string& metric : scaler.custom) text += '\n' + metric;
  return text;
}

constexpr Duration kMinWindow = std::chrono::seconds(15);
/// Returns the window of the percentile of the time to the first token: 7/8 of the interval of the scrapes, or 7/8 of
/// `kMinWindow` if the interval is shorter. From an interval of `kMinWindow` on, the window is shorter than the
/// interval, so that a page that arrives early does not add the tokens of an earlier page.
Duration percentile_window(Duration interval) { return std::max(interval, kMinWindow) * 7 / 8; }

/// Returns the location of a field of a scaler, for messages.
std::string place(const InferenceScaler& scaler, std::string_view field) {
  return "InferenceScaler " + scaler.meta.key() + " " + std::string(field);
}

std::vector<signals::MetricText> rows_of(const InferenceScaler& scaler) {
  std::vector<signals::MetricText> rows;
  for (std::size_t i = 0; i < scaler.custom.size(); ++i) {
    if (scaler.custom[i].empty()) continue;
    signals::MetricText& row = rows.emplace_back();
    row.signal = kCustomMetrics[i].signal;
    row.metric = scaler.custom[i];
    row.kind = kCustomMetrics[i].kind;
    row.unit = kCustomMetrics[i].unit;
  }
  return rows;
}

}  // namespace

std::string page_url(const InferenceScaler& scaler, const kube::Pod& pod) {
  return "http://" + net::host_and_port(pod.ip, std::to_string(port_of(scaler, pod))) + scaler.path;
}

std::vector<signals::SignalName> needed_signals(const InferenceScaler& scaler) {
  std::vector<signals::SignalName> needed;
  const std::vector<model::SignalField> fields = decide::scale::needed_signals(policy_of(scaler));
  for (const model::ReplicaSignal& signal : model::kReplicaSignals) {
    if (std::ranges::find(fields, signal.field) != fields.end()) {
      needed.push_back(signals::signal_named(signal.name).value());
    }
  }
  return needed;
}

SignalSources::SignalSources(net::Transport& transport, net::Clock clock)
    : transport_(transport), clock_(std::move(clock)) {}

SignalSources::~SignalSources() = default;

void SignalSources::follow(const ClusterView& view, const std::vector<SnapshotBuilder::ServingPod>& serving,
                           const std::map<model::ServiceId, ServiceOrigin>& services) {
  const ScalersByUid scalers = scalers_by_uid(view);
  std::map<std::string, Pod> before = std::exchange(pods_, {});
  settings_errors_.clear();
  std::set<std::string> with_server;
  for (const SnapshotBuilder::ServingPod& replica : serving) {
    const InferenceScaler& scaler = *known_row(scalers, known_row(services, replica.service).scaler_uid);
    const kube::Pod& pod = *replica.pod;
    auto known = before.extract(pod.meta.uid);
    Pod& followed = pods_[pod.meta.uid];
    if (!known.empty()) followed = std::move(known.mapped());
    followed.scaler_uid = scaler.meta.uid;
    followed.name = pod.meta.name;
    followed.needed = needed_signals(scaler);
    if (!scaler.prometheus_url.empty()) {
      if (with_server.insert(scaler.meta.uid).second) follow_server(scaler);
    } else {
      follow_pod(scaler, pod, followed);
      continue;
    }
    if (followed.scraped) followed.scraped->scraper->remove(followed.scraped->id);
    followed.scraped.reset();
  }
  for (const auto& [uid, gone] : before) {
    if (gone.scraped) gone.scraped->scraper->remove(gone.scraped->id);
  }
  std::erase_if(servers_, [&](const auto& entry) { return !with_server.contains(entry.first); });
}

SignalSources::ReadingRules SignalSources::reading_of(const InferenceScaler& scaler) {
  ReadingRules reading;
  signals::TargetOptions& options = reading.options;
  options.window = percentile_window(scaler.interval);
  options.ttft_bound = scaler.slo.ttft;
  options.queue_bound = scaler.slo.max_queue_time();
  options.tpot_bound = scaler.slo.tpot;
  options.gap_max = std::max<Duration>(options.gap_max, 4 * scaler.interval);
  options.stale_after = options.missing_after = kIntervalsStale * scaler.interval;
  if (scaler.engine == "custom") {
    auto catalog = signals::MetricCatalog::custom(rows_of(scaler), place(scaler, "spec.signals.custom"));
    if (!catalog) {
      reading.error = catalog.error().text();
      return reading;
    }
    reading.custom = std::make_shared<const signals::MetricCatalog>(std::move(*catalog));
    options.catalog = reading.custom.get();
    options.engine = options.catalog->engine("custom").value();
    return reading;
  }
  options.models = {scaler.model};
  if (scaler.engine.empty()) return reading;
  if (const Result<std::uint16_t> engine = options.catalog->engine(scaler.engine)) {
    options.engine = *engine;
  } else {
    reading.error = place(scaler, "spec.engine") + ": " + engine.error().message;
  }
  return reading;
}

void SignalSources::follow_pod(const InferenceScaler& scaler, const kube::Pod& pod, Pod& followed) {
  const std::string url = page_url(scaler, pod);
  const std::string key = url + '\n' + reading_key(scaler);
  if (followed.scraped && followed.scraped->key == key) return;
  if (followed.scraped) followed.scraped->scraper->remove(followed.scraped->id);
  followed.scraped.reset();
  ReadingRules reading = reading_of(scaler);
  if (!reading.error.empty()) settings_errors_[scaler.meta.uid] = reading.error;
  if (!reading.error.empty() || pod.ip.empty()) return;
  reading.options.pod = pod.meta.name;
  signals::Scraper& page_scraper = scraper(scaler.interval);
  const signals::ScrapeId id = page_scraper.add({.url = url, .headers = {}, .tls = nullptr, .reader = reading.options});
  followed.scraped = PodScrape{.scraper = &page_scraper, .id = id, .key = key, .custom = reading.custom};
}

signals::Scraper& SignalSources::scraper(Duration interval) {
  std::unique_ptr<signals::Scraper>& made = scrapers_[interval];
  if (!made) {
    signals::ScraperOptions options;
    options.interval = interval;
    options.timeout = std::min<Duration>(interval * 9 / 10, kLongestScrape);
    made = std::make_unique<signals::Scraper>(transport_, clock_, options);
  }
  return *made;
}

void SignalSources::follow_server(const InferenceScaler& scaler) {
  const std::string key = reading_key(scaler);
  std::unique_ptr<QueriedServer>& server = servers_[scaler.meta.uid];
  if (server && server->key == key) {
    if (!server->signals) settings_errors_[scaler.meta.uid] = server->error;
    return;
  }
  server = std::make_unique<QueriedServer>();
  server->key = key;
  server->interval = scaler.interval;
  ReadingRules reading = reading_of(scaler);
  auto matchers = read_matchers(scaler.prometheus_selector);
  if (reading.error.empty() && !matchers) {
    reading.error = place(scaler, "spec.signals.prometheus.selector") + ": " + matchers.error().text();
  }
  if (!reading.error.empty()) {
    server->error = settings_errors_[scaler.meta.uid] = reading.error;
    return;
  }
  if (matchers->empty()) matchers->push_back({"namespace", signals::Matcher::Op::equal, scaler.meta.ns});
  signals::PrometheusQuery query;
  query.matchers = std::move(*matchers);
  query.lookback = std::max<Duration>(query.lookback, 2 * reading.options.gap_max);
  query.reader = reading.options;
  server->custom = reading.custom;
  server->signals = std::make_unique<signals::PrometheusSignals>(std::move(query));
  signals::PrometheusServer address;
  address.url = scaler.prometheus_url;
  address.timeout = std::min<Duration>(scaler.interval * 9 / 10, kLongestScrape);
  server->client = std::make_unique<signals::PrometheusClient>(transport_, clock_, std::move(address));
}

void SignalSources::tick() {
  for (const auto& [interval, scraper] : scrapers_) scraper->tick();
  for (const auto& [uid, server] : servers_) {
    if (server->signals && server->due <= clock_() && server->client->in_flight() == 0) query(*server);
  }
}

void SignalSources::query(QueriedServer& server) {
  server.due = clock_() + server.interval;
  const std::int64_t unix_ms = clock_().since_start / std::chrono::milliseconds(1);
  const auto failed = [&server](const Error& error) {
    server.error = error.text();
    server.signals->failed(error);
    server.has_answered = true;
  };
  const Result<void> begun =
      server.client->instant(server.signals->expression(), unix_ms,
                             [this, &server, unix_ms, failed](const Result<signals::ApiAnswer>& answer) {
                               if (!answer) return failed(answer.error());
                               server.error.clear();
                               server.signals->take(*answer, clock_(), unix_ms);
                               server.has_answered = true;
                             });
  if (!begun) failed(begun.error());
}

Instant SignalSources::next_due() const {
  Instant next = Instant::never();
  for (const auto& [interval, scraper] : scrapers_) next = std::min(next, scraper->next_due());
  for (const auto& [uid, server] : servers_) {
    if (server->signals && server->client->in_flight() == 0) next = std::min(next, server->due);
  }
  return next;
}

std::optional<signals::TargetReadings> SignalSources::latest_readings(const Pod& pod) const {
  if (pod.scraped) return pod.scraped->scraper->readings(pod.scraped->id);
  const auto server = servers_.find(pod.scaler_uid);
  if (server == servers_.end() || !server->second->signals) return std::nullopt;
  return server->second->signals->readings(pod.name, clock_());
}

Readings SignalSources::readings() const {
  Readings::Map readings;
  for (const auto& [uid, pod] : pods_) {
    if (const auto latest = latest_readings(pod)) readings[uid] = signals::replica_signals(latest->single());
  }
  return Readings(std::move(readings));
}

/// Returns the reason why a pod is silent: its page failed, or the page lacks a needed value. Empty if the pod is not
/// silent.
std::string SignalSources::silence_reason(const Pod& pod, const signals::TargetReadings& latest) {
  const signals::SubjectReadings readings = latest.single();
  for (const signals::SignalName name : pod.needed) {
    if (readings[name].signal.usable()) continue;
    if (latest.error) return pod.name + ": " + latest.error->text();
    if (latest.page != MissingReason::none) return pod.name + ": " + std::string(signals::info(latest.page).sentence);
    return pod.name + ": " + std::string(signals::info(name).name) + ": " +
           std::string(signals::info(readings[name].why).sentence);
  }
  return {};
}

std::map<std::string, std::string> SignalSources::troubles() const {
  std::map<std::string, std::string> troubles = settings_errors_;
  for (const auto& [uid, pod] : pods_) {
    const auto latest = latest_readings(pod);
    if (!latest) continue;
    if (std::string trouble = silence_reason(pod, *latest); !trouble.empty()) troubles[uid] = std::move(trouble);
  }
  for (const auto& [uid, server] : servers_) {
    if (!server->error.empty()) troubles[uid] = server->error;
  }
  return troubles;
}

bool SignalSources::have_all_answered() const {
  const bool servers = std::ranges::all_of(
      servers_, [](const auto& entry) { return entry.second->has_answered || !entry.second->signals; });
  return servers && std::ranges::all_of(pods_, [](const auto& entry) {
           const std::optional<PodScrape>& scraped = entry.second.scraped;
           return !scraped || scraped->scraper->readings(scraped->id).page != MissingReason::never_scraped;
         });
}

signals::ScraperCounts SignalSources::counts() const {
  signals::ScraperCounts sum;
  for (const auto& [interval, scraper] : scrapers_) {
    const signals::ScraperCounts& each = scraper->counts();
    sum.started += each.started;
    sum.failed += each.failed;
    sum.refused += each.refused;
    sum.skipped += each.skipped;
  }
  return sum;
}

}  // namespace capstan::op
