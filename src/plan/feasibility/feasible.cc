#include "plan/feasibility/feasible.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <set>

#include "base/number_text.h"
#include "base/quantity.h"
#include "engine/step_model.h"
#include "manifest/fields.h"
#include "model/capacity_names.h"
#include "plan/feasibility/machine_bound.h"
#include "plan/fleet/capacity.h"
#include "plan/fleet/engine_limits.h"
#include "plan/spec/candidates.h"
#include "plan/spec/gpu_kinds.h"

namespace capstan::plan {

namespace {

using model::CapacityType;

/// Fewest requests that a replica must run at once within a bound, so that an error proposes this bound. With fewer
/// requests at once, a replica has no room for random arrivals.
constexpr std::int64_t kRequestsAtOnce = 4;

double milliseconds(Duration duration) { return std::chrono::duration<double, std::milli>(duration).count(); }
Duration of_picoseconds(engine::Picoseconds ps) { return Duration{ps / engine::kPicosecondsPerNanosecond}; }

/// Returns a duration as people read it: "6.8 ms", "1.52 s".
std::string time_words(Duration duration) {
  const double ms = milliseconds(duration);
  if (ms < 0.001) return "0 ms";
  return ms < 1000 ? fmt::format("{:.3g} ms", ms) : fmt::format("{:.3g} s", ms / 1000);
}

/// Returns the length of prompts or answers that the given share of requests does not exceed.
std::int64_t length_quantile(const TokenSpec& tokens, double share) {
  if (tokens.sigma == 0) return tokens.median;
  double low = -10, high = 10;  // standard deviations
  for (int i = 0; i < 60; ++i) {
    const double middle = (low + high) / 2;
    (std::erfc(-middle / std::sqrt(2.0)) / 2 < share ? low : high) = middle;
  }
  const double length = tokens.median * std::exp(tokens.sigma * low);
  return std::max<std::int64_t>(1, static_cast<std::int64_t>(std::min(length, static_cast<double>(tokens.longest))));
}

/// The shortest time that any candidate reaches, and the row that reaches it.
struct Fastest {
  Duration time = Duration::max();
  const engine::EngineRow* row = nullptr;

  void take(Duration other, const engine::EngineRow& of) {
    if (other >= time) return;
    time = other;
    row = &of;
  }
};

/// Finds the impossible demands of one service.
class ServiceCheck {
 public:
  ServiceCheck(const PlanSpec& spec, std::size_t index, std::vector<ImpossibleDemand>& found)
      : spec_(spec), service_(spec.services[index]), path_(fmt::format("services.{}", index)), found_(found) {}

  /// @return the candidates that fit; none if no machine can hold a replica, or if its pods cannot divide the model
  std::vector<SpecCandidate> check() {
    if (std::string message = undivided(); !message.empty()) {
      add("pods_per_replica", std::move(message));
      return {};
    }
    const std::vector<SpecCandidate> candidates = spec_candidates(service_, spec_);
    if (candidates.empty()) {
      add("", no_machine());
      return {};
    }
    std::vector<SpecCandidate> fitting = fitting_candidates(service_, spec_);
    if (fitting.empty()) {
      add("", no_room(candidates));
      return {};
    }
    check_slo(fitting);
    check_goodput();
    // If the idle replicas of some candidates hold the SLO, the checks of the limits use only these candidates.
    if (std::vector<SpecCandidate> fast = fast_candidates(fitting); !fast.empty()) fitting = std::move(fast);
    check_minimum(fitting);
    check_tenant(fitting);
    return fitting;
  }

 private:
  std::string name() const { return "services." + service_.name; }
  void add(const std::string& key, std::string message) {
    found_.push_back({key.empty() ? path_ : path_ + "." + key, std::move(message)});
  }

  /// Returns true if the row is of the model and the pipeline stages of the service.
  bool is_of_service(const engine::EngineRow& row) const {
    return row.model == service_.model && row.stages == service_.pipeline_parallel;
  }

  /// Returns true if a machine of the cluster has GPUs of this kind.
  bool has_gpu(const std::string& gpu) const {
    const std::vector<MachineSpec>& machines = spec_.cluster.machines;
    return std::ranges::find(machines, gpu, &MachineSpec::gpu) != machines.end();
  }

  /// Says that no parallelism of the model can be divided over the pods of a replica; empty if one can.
  std::string undivided() const {
    std::set<std::int64_t> known;
    for (const engine::EngineRow& row : spec_.engines->rows()) {
      if (is_of_service(row) && row.weight_dtype == service_.dtype) known.insert(row.tp);
    }
    const auto divides = [&](std::int64_t pods) {
      return std::ranges::any_of(known, [&](std::int64_t tp) { return tp % pods == 0; });
    };
    if (known.empty() || divides(service_.pods_per_replica)) return "";
    std::int64_t nearest = std::min(service_.pods_per_replica, *known.rbegin());
    while (!divides(nearest)) --nearest;
    return fmt::format(
        "{0}.pods_per_replica: no replica of {1} in {2} can be divided over {3} pods, because the engine "
        "table has it on {4} GPUs; the nearest that is possible is pods_per_replica: {5}",
        name(), service_.model, service_.dtype, service_.pods_per_replica, fmt::join(known, ", "), nearest);
  }

  std::string no_machine() const {
    std::vector<std::string> known;
    Bytes weights{0};
    std::string nearest;
    std::int64_t fewest = std::numeric_limits<std::int64_t>::max();
    for (const engine::EngineRow& row : spec_.engines->rows()) {
      if (!is_of_service(row) || row.weight_dtype != service_.dtype) continue;
      known.push_back(fmt::format("{} x {}", row.tp, row.gpu_name));
      const std::int64_t distance = row.tp + (has_gpu(row.gpu) ? 0 : 100);
      if (distance < fewest) nearest = known.back();
      fewest = std::min(fewest, distance);
      if (weights.count == 0) weights = row.weights();
    }
    const std::string asked =
        service_.tensor_parallel ? fmt::format(" with tensor parallelism {}", *service_.tensor_parallel) : "";
    const std::string stages =
        service_.pipeline_parallel > 1 ? fmt::format(" in {} pipeline stages", service_.pipeline_parallel) : "";
    return fmt::format(
        "{}: no machine that exists or can be bought runs {} in {}{}{}, expected a machine for one of: "
        "{}{}",
        name(), service_.model, service_.dtype, asked + stages, missing_memory(weights), fmt::join(known, ", "),
        nearest.empty() ? unknown_gpu() : fmt::format("; the nearest is {}{}", nearest, unknown_gpu()));
  }

  /// Says which GPU kinds have step times, if no machine of the cluster has such a kind. Otherwise returns an empty
  /// text.
  std::string unknown_gpu() const {
    const auto has_rows = [&](const MachineSpec& machine) {
      return std::ranges::find(spec_.engines->rows(), machine.gpu, &engine::EngineRow::gpu) !=
             spec_.engines->rows().end();
    };
    const std::vector<MachineSpec>& machines = spec_.cluster.machines;
    if (machines.empty() || std::ranges::any_of(machines, has_rows)) return "";
    return "; " + known_gpu_kinds(*spec_.engines, machines.front().gpu);
  }

  /// Says by how much the weights exceed the GPU memory of the largest machine; nothing if they do not.
  std::string missing_memory(Bytes weights) const {
    const MachineSpec* largest = nullptr;
    std::int64_t most = 0;
    for (const MachineSpec& machine : spec_.cluster.machines) {
      const auto row = std::ranges::find(spec_.engines->rows(), machine.gpu, &engine::EngineRow::gpu);
      if (row == spec_.engines->rows().end() || row->gpu_memory.count * machine.gpus <= most) continue;
      most = row->gpu_memory.count * machine.gpus;
      largest = &machine;
    }
    if (largest == nullptr || most >= weights.count) return "";
    return fmt::format(" ({:.1f} GB of weights, {:.1f} GB more than the GPUs of {} have)", gigabytes(weights.count),
                       gigabytes(weights.count - most), largest->name);
  }

  static double gigabytes(std::int64_t bytes) { return static_cast<double>(bytes) / 1e9; }

  /// Says how much memory is missing on the candidate that lacks the least, and names the nearest row of the model
  /// whose GPUs have room for the weights.
  std::string no_room(const std::vector<SpecCandidate>& candidates) const {
    const auto missing = [](const SpecCandidate& c) { return c.row->weights_per_gpu.count - c.row->gpu_memory.count; };
    const SpecCandidate& largest = *std::ranges::min_element(candidates, {}, missing);
    std::string nearest = "no row of the engine table";
    std::int64_t fewest = std::numeric_limits<std::int64_t>::max();
    for (const engine::EngineRow& row : spec_.engines->rows()) {
      if (!is_of_service(row) || !engine::kv_capacity_blocks(row)) continue;
      const std::int64_t distance =
          row.tp + (has_gpu(row.gpu) ? 0 : 100) + (row.weight_dtype == service_.dtype ? 0 : 10);
      if (distance >= fewest) continue;
      fewest = distance;
      nearest = row_words(row);
    }
    return fmt::format("{}: {}; the nearest that fits: {}", name(),
                       engine::kv_capacity_blocks(*largest.row).error().message, nearest);
  }

  bool is_generated() const { return service_.load.source == LoadSpec::Source::generated; }
  /// Returns the length that the share of requests which must hold the SLO does not exceed; 1 if it is not known.
  std::int64_t longest_length_within_slo(const TokenSpec& tokens) const {
    return is_generated() ? length_quantile(tokens, service_.slo.attainment_ppm / 1e6) : 1;
  }

  /// Times of one request on an idle replica.
  struct IdleTimes {
    Duration step{};     ///< one step
    Duration prefill{};  ///< prompt
    Duration whole{};    ///< lower bound of the whole request: the longer of prefill and decode
  };
  IdleTimes idle_times(const SpecCandidate& candidate, std::int64_t prompt, std::int64_t answer) const {
    const engine::StepModel model(candidate.row->coefficients);
    const Duration step = of_picoseconds(model.decode_step_ps(1, 1));
    const Duration prefill = of_picoseconds(model.prefill_alone_ps(prompt, 0, kEngineLimits.max_batched_tokens));
    return {step, prefill, std::max(prefill, step * (answer - 1))};
  }

  /// Returns the candidates whose idle replicas hold every bound.
  std::vector<SpecCandidate> fast_candidates(const std::vector<SpecCandidate>& fitting) const {
    const std::int64_t prompt = longest_length_within_slo(service_.load.prompt),
                       answer = longest_length_within_slo(service_.load.answer);
    const auto holds = [](Duration bound, Duration time) { return bound == Duration{} || bound >= time; };
    std::vector<SpecCandidate> fast;
    for (const SpecCandidate& candidate : fitting) {
      const IdleTimes idle = idle_times(candidate, prompt, answer);
      if (holds(service_.slo.tpot, idle.step) && holds(service_.slo.ttft, idle.prefill) &&
          holds(service_.slo.e2e, idle.whole)) {
        fast.push_back(candidate);
      }
    }
    return fast;
  }

  void check_slo(const std::vector<SpecCandidate>& fitting) {
    const std::int64_t prompt = longest_length_within_slo(service_.load.prompt),
                       answer = longest_length_within_slo(service_.load.answer);
    const std::int64_t further_steps = std::max<std::int64_t>(answer - 1, 0);
    Fastest step, prefill, whole;
    for (const SpecCandidate& candidate : fitting) {
      const IdleTimes idle = idle_times(candidate, prompt, answer);
      step.take(idle.step, *candidate.row);
      prefill.take(idle.prefill, *candidate.row);
      whole.take(idle.whole, *candidate.row);
    }
    const std::string share_words =
        is_generated() && service_.load.prompt.sigma > 0
            ? fmt::format(" ({} of the prompts are not longer)", percent_text(service_.slo.attainment_ppm))
            : "";
    const std::string length =
        fmt::format("a prompt of {} {}{} on an idle replica", prompt, prompt == 1 ? "token" : "tokens", share_words);
    const std::optional<Duration> tpot = workable_bound(fitting, &model::Slo::tpot);
    check_bound("slo.tpot", service_.slo.tpot, "one step with a single request", step, tpot);
    // The longest prompt that must meet the SLO waits for other prompts about as long as its own prefill takes.
    std::optional<Duration> ttft = workable_bound(fitting, &model::Slo::ttft);
    if (ttft) ttft = std::max<Duration>(*ttft, std::chrono::ceil<std::chrono::milliseconds>(prefill.time * 2));
    check_bound("slo.ttft_p99", service_.slo.ttft, length, prefill, ttft);
    check_bound("slo.e2e", service_.slo.e2e,
                fmt::format("the longer of {} and {} further steps", length, further_steps), whole,
                ttft && tpot ? std::optional(*ttft + *tpot * further_steps) : std::nullopt);
  }

  /// Returns true if a replica of a candidate runs several requests at once within these bounds, by the engine model.
  bool is_workable(const SpecCandidate& candidate, model::Role role, const model::Slo& slo) const {
    const ReplicaCapacity capacity = replica_capacity(*candidate.row, role, slo, mean_request(service_, {}));
    return !capacity.found.out_of_reach && capacity.found.batch >= kRequestsAtOnce;
  }

  /// Returns the lowest bound, in whole milliseconds, with which a replica runs several requests at once. The idle
  /// replica of `IdleTimes` is faster, but no fleet of replicas with one request each would serve a load.
  /// @return nothing if no bound up to a minute is enough, or if the lengths of the requests are not known
  std::optional<Duration> workable_bound(const std::vector<SpecCandidate>& fitting,
                                         Duration model::Slo::* bound) const {
    if (!is_generated()) return std::nullopt;
    const bool is_ttft = bound == &model::Slo::ttft;
    const model::Role role = !service_.is_disaggregated ? model::Role::both
                             : is_ttft                  ? model::Role::prefill
                                                        : model::Role::decode;
    const auto holds = [&](std::int64_t ms) {
      model::Slo slo;
      slo.*bound = std::chrono::milliseconds(ms);
      return std::ranges::any_of(fitting, [&](const SpecCandidate& c) { return is_workable(c, role, slo); });
    };
    std::int64_t low = 1, high = 60'000;
    if (!holds(high)) return std::nullopt;
    while (low < high) {
      const std::int64_t middle = low + (high - low) / 2;
      if (holds(middle)) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    return std::chrono::milliseconds(low);
  }

  void check_bound(const std::string& key, Duration bound, const std::string& work, const Fastest& fastest,
                   std::optional<Duration> workable) {
    if (bound == Duration{} || bound >= fastest.time) return;
    const std::string nearest =
        workable && *workable > fastest.time
            ? fmt::format(
                  "the nearest possible bound is {}, with which a replica runs {} requests at once by the engine "
                  "model",
                  time_words(*workable), kRequestsAtOnce)
            : fmt::format("expected more than {}: that is one request alone, and under the load a request takes longer",
                          time_words(fastest.time));
    add(key, fmt::format("{}.{}: {} is {} shorter than {}, which takes {} at best ({}); {}", name(), key,
                         time_words(bound), time_words(fastest.time - bound), work, time_words(fastest.time),
                         row_words(*fastest.row), nearest));
  }

  void check_goodput() {
    const double highest = service_.load.requests_per_s * service_.load.burst_factor;
    if (service_.load.source != LoadSpec::Source::generated || !service_.goodput_per_s ||
        *service_.goodput_per_s <= highest) {
      return;
    }
    add("slo.goodput_per_second",
        fmt::format("{0}.slo.goodput_per_second: {1:g} requests/s within the SLO are {2:g} more than the load has in a "
                    "burst; the nearest that is possible is {3:g}",
                    name(), *service_.goodput_per_s, *service_.goodput_per_s - highest, highest));
  }

  /// Compares the smallest fleet that the search tries with the limits. Replicas that share GPUs are not counted.
  void check_minimum(const std::vector<SpecCandidate>& fitting) {
    const GpuCount roles = service_.is_disaggregated ? 2 : 1;
    const ReplicaCount replicas = service_.least_replicas();
    if (replicas <= roles || service_.may_share_gpu) return;
    const GpuCount of_replica = std::ranges::min(fitting, {}, [](const SpecCandidate& c) { return c.row->tp; }).row->tp;
    const GpuCount needed = of_replica * replicas;
    const std::string key = service_.min_prefill_replicas  ? "min_prefill_replicas"
                            : service_.min_decode_replicas ? "min_decode_replicas"
                                                           : "min_replicas";
    const auto check = [&](std::optional<GpuCount> limit, const std::string& of) {
      if (!limit || *limit >= needed) return;
      const std::string nearest = roles > 1 ? fmt::format("{} replicas of both roles together", *limit / of_replica)
                                            : fmt::format("min_replicas: {}", *limit / of_replica);
      add(key, fmt::format("{}.{}: {} replicas{} need at least {} GPUs, {} more than {} of {}; the nearest that is "
                           "possible is {}",
                           name(), key, replicas, roles > 1 ? " of both roles" : "", needed, needed - *limit, of,
                           *limit, nearest));
    };
    check(spec_.limits.gpus, "limits.gpus");
    const auto tenant = std::ranges::find(spec_.tenants, service_.tenant, &TenantSpec::name);
    if (tenant != spec_.tenants.end()) check(tenant->gpu_limit, fmt::format("gpu_limit of tenant {}", tenant->name));
  }

  void check_tenant(const std::vector<SpecCandidate>& fitting) {
    const auto tenant = std::ranges::find(spec_.tenants, service_.tenant, &TenantSpec::name);
    if (tenant == spec_.tenants.end() || !tenant->gpu_limit) return;
    const GpuCount fewest = std::ranges::min(fitting, {}, [](const SpecCandidate& c) { return c.row->tp; }).row->tp *
                            (service_.is_disaggregated ? 2 : 1);
    if (*tenant->gpu_limit >= fewest) return;
    add("tenant",
        fmt::format("{0}.tenant: the smallest fleet needs {5}, {2} more than gpu_limit {3} of tenant {4}; the "
                    "nearest that is possible is gpu_limit: {1}",
                    name(), fewest, fewest - *tenant->gpu_limit, *tenant->gpu_limit, tenant->name,
                    fewest == 1 ? "1 GPU" : fmt::format("{} GPUs", fewest)));
  }

  const PlanSpec& spec_;
  const ServiceSpec& service_;
  std::string path_;
  std::vector<ImpossibleDemand>& found_;
};

/// The smallest machines that hold one replica of each role of a service. Prefill and decode replicas may stand on one
/// machine.
struct SmallestFleet {
  GpuCount gpus = std::numeric_limits<GpuCount>::max();
  std::optional<MicroUsd> per_hour{};
  /// GPUs that the pods hold; the rest of the machines is free.
  GpuCount held_gpus = std::numeric_limits<GpuCount>::max();
  std::optional<MicroUsd> held_per_hour{};  ///< price of the held part of the machines
};

SmallestFleet smallest_fleet(const ServiceSpec& service, const std::vector<SpecCandidate>& fitting,
                             const ClusterSpec& cluster) {
  SmallestFleet smallest;
  const auto lower = [](std::optional<MicroUsd>& known, MicroUsd cost) {
    if (!known || cost < *known) known = cost;
  };
  for (const SpecCandidate& candidate : fitting) {
    const GpuCount needed = candidate.row->tp * (service.is_disaggregated ? 2 : 1);
    const std::int64_t machines = ceil_div(needed, candidate.machine->gpus);
    smallest.gpus = std::min(smallest.gpus, machines * candidate.machine->gpus);
    smallest.held_gpus = std::min(smallest.held_gpus, needed);
    const std::optional<MicroUsd> price = lowest_price(*candidate.machine, cluster);
    if (!price) continue;
    lower(smallest.per_hour, *price * machines);
    lower(smallest.held_per_hour, MicroUsd{price->count * needed / candidate.machine->gpus});
  }
  return smallest;
}

/// Returns the services that need fewer GPUs with smaller weights: "; chat in fp8 needs 2 GPUs".
std::string smaller_weights(const PlanSpec& spec, const std::vector<SmallestFleet>& fleets) {
  std::string words;
  for (std::size_t i = 0; i < fleets.size(); ++i) {
    ServiceSpec smaller = spec.services[i];
    if (smaller.may_share_gpu || smaller.dtype != "bfloat16") continue;
    smaller.dtype = "fp8";
    const std::vector<SpecCandidate> fitting = fitting_candidates(smaller, spec);
    if (fitting.empty()) continue;
    const GpuCount gpus = smallest_fleet(smaller, fitting, spec.cluster).gpus;
    if (gpus >= fleets[i].gpus) continue;
    words += fmt::format("; {} in fp8 needs {} GPU{}", smaller.name, gpus, gpus == 1 ? "" : "s");
  }
  return words;
}

/// Compares the limits with the smallest fleets. Services may share machines. So together they need at least the parts
/// of machines that their replicas hold, and at least the whole machines of the largest service. Services that share
/// GPUs are not counted.
void check_limits(const PlanSpec& spec, const std::vector<SmallestFleet>& fleets,
                  std::vector<ImpossibleDemand>& found) {
  GpuCount gpus = 0, most_gpus = 0;
  MicroUsd per_hour{0}, most_per_hour{0};
  for (std::size_t i = 0; i < fleets.size(); ++i) {
    if (spec.services[i].may_share_gpu) continue;
    gpus += fleets[i].held_gpus;
    most_gpus = std::max(most_gpus, fleets[i].gpus);
    per_hour = per_hour + fleets[i].held_per_hour.value_or(MicroUsd{0});
    most_per_hour = std::max(most_per_hour, fleets[i].per_hour.value_or(MicroUsd{0}));
  }
  gpus = std::max(gpus, most_gpus);
  per_hour = std::max(per_hour, most_per_hour);
  // The proposed limits allow at least two machines, because a cluster of one machine is refused.
  const MachineStock stock = machine_stock(spec.cluster);
  const auto because = [](bool is_raised) { return is_raised ? ", because a cluster of one machine is refused" : ""; };
  if (spec.limits.gpus && *spec.limits.gpus < gpus) {
    const GpuCount nearest = std::max(gpus, stock.gpus_of_two());
    found.push_back({"limits.gpus",
                     fmt::format("limits.gpus: the smallest machines for one replica of each service have {} GPUs, {} "
                                 "more than the limit of {}; the nearest that is possible is limits.gpus: {}{}{}",
                                 gpus, gpus - *spec.limits.gpus, *spec.limits.gpus, nearest, because(nearest > gpus),
                                 smaller_weights(spec, fleets))});
  }
  if (spec.limits.per_hour && *spec.limits.per_hour < per_hour) {
    const MicroUsd nearest = std::max(per_hour, stock.price_of_two());
    found.push_back(
        {"limits.usd_per_hour",
         fmt::format("limits.usd_per_hour: the cheapest machines for one replica of each service, shared where they "
                     "can be, cost {} USD/h, {} USD/h more than the limit of {:.2f} USD/h; the nearest that is "
                     "possible is limits.usd_per_hour: {}{}",
                     usd_limit(per_hour), usd_limit(per_hour - *spec.limits.per_hour),
                     static_cast<double>(spec.limits.per_hour->count) / 1e6, usd_limit(nearest),
                     because(nearest > per_hour))});
  }
}

/// Says which price is missing if no machine can be bought, and for which capacity types the first machine has a price.
std::string no_price(const ClusterSpec& cluster) {
  constexpr std::array<std::pair<CapacityType, std::string_view>, 3> kPriceKeys = {
      {{CapacityType::on_demand, "usd_per_hour"},
       {CapacityType::reserved, "reserved_usd_per_hour"},
       {CapacityType::spot, "spot_usd_per_hour"}}};
  const MachineSpec& machine = cluster.machines.front();
  const bool is_spot_only =
      std::ranges::all_of(cluster.capacity, [](CapacityType type) { return type == CapacityType::spot; });
  std::vector<std::string_view> asked, priced;
  std::string_view needed_key, nearest;
  for (const auto& [type, key] : kPriceKeys) {
    const std::string_view word = model::name(type).key;
    const bool is_asked = std::ranges::find(cluster.capacity, type) != cluster.capacity.end();
    if (is_asked) asked.push_back(word);
    if (is_asked && needed_key.empty() && (type != CapacityType::spot || is_spot_only)) needed_key = key;
    if (price_of(machine, type)) priced.push_back(word);
  }
  if (!priced.empty()) nearest = priced.front();
  return fmt::format(
      "cluster.capacity: [{}] needs {} of a machine, and {} has {}; the nearest that is possible is "
      "{}{} of {}{}",
      fmt::join(asked, ", "), needed_key, machine.name,
      priced.empty() ? "no price" : fmt::format("a price only as {}", fmt::join(priced, " and as ")),
      nearest.empty() ? "" : fmt::format("capacity: [{}], or ", nearest), needed_key, machine.name,
      machine.on_demand_per_hour || machine.reserved_per_hour || !machine.spot_per_hour
          ? ""
          : "; the nodes of the minimum are spot only with capacity: [spot]");
}

}  // namespace

std::vector<ImpossibleDemand> impossible_demands(const PlanSpec& spec) {
  std::vector<ImpossibleDemand> found;
  const bool has_machine =
      std::ranges::any_of(spec.cluster.machines, [&](const MachineSpec& m) { return is_available(m, spec.cluster); });
  if (!has_machine) {
    found.push_back({"cluster", spec.cluster.provisioner == Provisioner::none
                                    ? "cluster: provisioner none buys no machine and none exists, expected `existing` "
                                      "of at least one of the instances"
                                    : no_price(spec.cluster)});
    return found;
  }
  std::vector<SmallestFleet> fleets;
  for (std::size_t i = 0; i < spec.services.size(); ++i) {
    const std::vector<SpecCandidate> fitting = ServiceCheck(spec, i, found).check();
    if (!fitting.empty()) fleets.push_back(smallest_fleet(spec.services[i], fitting, spec.cluster));
  }
  if (fleets.size() == spec.services.size()) check_limits(spec, fleets, found);
  return found;
}

}  // namespace capstan::plan
