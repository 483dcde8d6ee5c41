#include "experiment/run/endpoints.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"

namespace capstan::experiment {

Result<Endpoint> Endpoint::open(const EndpointSetup& setup, std::uint64_t seed) {
  Endpoint endpoint(setup);
  sim::FleetConfig config = setup.fleet;
  config.seed = seed;
  if (workload::is_closed_loop(setup.workload)) {
    Result<workload::ClosedLoop> clients = workload::open_closed_loop(setup.workload, seed);
    if (!clients) return std::unexpected(clients.error());
    endpoint.clients_ = std::make_unique<workload::ClosedLoop>(std::move(*clients));
    endpoint.fleet_ = std::make_unique<sim::Fleet>(config, setup.variants, setup.slo, *endpoint.clients_);
  } else {
    Result<std::unique_ptr<workload::Source>> source = workload::open(setup.workload, seed);
    if (!source) return std::unexpected(source.error());
    endpoint.source_ = std::move(*source);
    endpoint.fleet_ = std::make_unique<sim::Fleet>(config, setup.variants, setup.slo, *endpoint.source_);
  }
  return endpoint;
}

double Endpoint::part_done(Instant now) const {
  const Duration length = setup_->workload.duration.value_or(Duration{});
  // A source reads ahead of the simulated time, so its progress is used only if the load states no length.
  if (length.count() == 0) return source_ ? source_->progress() : 0;
  return std::min(1.0, static_cast<double>(now.since_start.count()) / static_cast<double>(length.count()));
}

Result<Endpoints> Endpoints::open(const SimulationSetup& setup) {
  Endpoints all;
  for (const EndpointSetup& endpoint_setup : setup.endpoints) {
    Result<Endpoint> endpoint = Endpoint::open(endpoint_setup, endpoint_seed(setup.seed, all.endpoints_.size()));
    if (!endpoint) return std::unexpected(std::move(endpoint.error()));
    CAPSTAN_ASSERT(endpoint_setup.first.value == all.by_service_.size());
    all.by_service_.insert(all.by_service_.end(), endpoint_setup.variants.size(), all.endpoints_.size());
    all.endpoints_.push_back(std::move(*endpoint));
  }
  return all;
}

std::vector<FleetRoute> Endpoints::routes() const {
  std::vector<FleetRoute> routes;
  for (const Endpoint& endpoint : endpoints_) {
    for (std::size_t i = 0; i < endpoint.setup().variants.size(); ++i) routes.push_back({&endpoint.fleet(), i});
  }
  return routes;
}

void Endpoints::advance(Instant now) const {
  for (const Endpoint& endpoint : endpoints_) endpoint.fleet().advance(now);
}

void Endpoints::finish(Instant now) const {
  for (const Endpoint& endpoint : endpoints_) endpoint.fleet().finish(now);
}

std::optional<Error> Endpoints::error() const {
  for (const Endpoint& endpoint : endpoints_) {
    if (std::optional<Error> found = endpoint.error()) return found;
  }
  return std::nullopt;
}

double Endpoints::part_done(Instant now) const {
  if (endpoints_.empty()) return 0;
  double sum = 0;
  for (const Endpoint& endpoint : endpoints_) sum += endpoint.part_done(now);
  return sum / static_cast<double>(endpoints_.size());
}

bool Endpoints::are_loads_over(Instant now) const {
  return std::ranges::all_of(endpoints_, [&](const Endpoint& endpoint) { return endpoint.is_load_over(now); });
}

bool Endpoints::is_over(Instant now) const {
  return std::ranges::all_of(
      endpoints_, [&](const Endpoint& endpoint) { return now >= endpoint.load_end() && endpoint.fleet().is_over(); });
}

Instant Endpoints::next_load_end(Instant now) const {
  Instant next = Instant::never();
  for (const Endpoint& endpoint : endpoints_) {
    if (now < endpoint.load_end()) next = std::min(next, endpoint.load_end());
  }
  return next;
}

RequestCount Endpoints::waiting() const {
  RequestCount sum = 0;
  for (const Endpoint& endpoint : endpoints_) sum += endpoint.fleet().waiting();
  return sum;
}

sim::RequestCounts Endpoints::counts() const {
  sim::RequestCounts sum;
  for (const Endpoint& endpoint : endpoints_) sum += endpoint.fleet().meter().counts;
  return sum;
}

bool Endpoints::check() const {
  return std::ranges::all_of(endpoints_, [](const Endpoint& endpoint) { return endpoint.fleet().check(); });
}

}  // namespace capstan::experiment
