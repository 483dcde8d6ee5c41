#include "plan/search/scenario_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "manifest/fields.h"
#include "model/role_names.h"
#include "plan/fleet/engine_limits.h"
#include "plan/objects/names.h"

namespace capstan::plan {

namespace {

using namespace std::chrono_literals;
using manifest::duration_text;
using model::CapacityType;

std::string absolute(const std::string& path) { return std::filesystem::absolute(path).lexically_normal().string(); }

/// Returns a number that is written without quotes.
Yaml number(double value) { return Yaml::plain(fmt::format("{}", value)); }
Yaml range(Duration low, Duration high, std::int64_t percent) {
  return fmt::format("{}..{}", duration_text(low * percent / 100), duration_text(high * percent / 100));
}

Yaml range(const DurationRange& times, std::int64_t percent) { return range(times.low, times.high, percent); }

/// Returns the bytes that a node downloads in this time.
std::int64_t bytes_in(Duration time) {
  return static_cast<std::int64_t>(static_cast<__int128>(time.count()) * kWeightsBytesPerS / 1'000'000'000);
}

Yaml tokens_of(const TokenSpec& tokens) {
  if (tokens.sigma <= 0) return tokens.median;
  Yaml out = Yaml::map({{"kind", "log_normal"}, {"tokens", tokens.median}, {"sigma", number(tokens.sigma)}});
  out.set("max", std::max(tokens.median, tokens.longest));
  return out;
}

Yaml replicas_yaml(const FleetOption& fleet, std::size_t role) {
  const ReplicaCount minimum = fleet.minimum[role], maximum = fleet.maximum[role];
  Yaml out = Yaml::map({{"min", minimum}, {"max", maximum}});
  const ReplicaCount first = fleet.first_replicas(role);
  if (first != minimum) out.set("initial", first, "the load does not begin in an idle fleet");
  return out;
}

Yaml pods_yaml(const workload::JobSize& size) {
  if (size.min_pods == 0) return size.pods;
  return Yaml::map({{"min", size.min_pods}, {"max", size.pods}});
}

Yaml work_yaml(const workload::JobWork& work) {
  return Yaml::map({{"median", duration_text(work.median)},
                    {"sigma", number(work.sigma)},
                    {"min", duration_text(work.least)},
                    {"max", duration_text(work.most)}});
}

Yaml arrivals_yaml(const workload::JobLoad& load, Duration until) {
  Yaml out;
  if (load.batches.count > 0) {
    out.set("count", load.batches.count).set("at", duration_text(load.batches.at));
    if (load.batches.interval > 0s) out.set("every", duration_text(load.batches.interval));
  } else {
    out.set("per_hour", number(load.rate.per_hour));
    if (load.rate.peak_per_hour > load.rate.per_hour) {
      out.set("peak_per_hour", number(load.rate.peak_per_hour)).set("peak_at", duration_text(load.rate.peak_at));
    }
  }
  out.set("until", duration_text(std::min(until, load.until)));
  return out;
}

/// Returns a share as a scenario states it: "2%", "0.5%".
std::string percent_setting(std::int64_t ppm) { return fmt::format("{}%", static_cast<double>(ppm) / 10'000); }

}  // namespace

Yaml load_yaml(const LoadSpec& load, const LoadFacts& facts, const Conditions& conditions) {
  Yaml out;
  const double scale = load.scale * static_cast<double>(conditions.load_percent) / 100;
  if (load.source == LoadSpec::Source::trace) {
    out.set("trace", absolute(load.from));
  } else if (load.source == LoadSpec::Source::profile) {
    out.set("profile", load.from.find('/') == std::string::npos ? load.from : absolute(load.from));
  } else {
    const workload::WorkloadSpec workload = workload_of(load);
    const auto& generator = std::get<workload::GeneratorSpec>(workload.from);
    if (generator.rate.kind == workload::RateCurve::Kind::constant) {
      out["generator"].set("rate", number(generator.rate.rate));
    } else {
      out["generator"].set("rate", Yaml::map({{"kind", "on_off"},
                                              {"rate", number(generator.rate.rate)},
                                              {"peak", number(generator.rate.peak)},
                                              {"period", duration_text(load.burst_every)},
                                              {"length", duration_text(load.burst_length)}}));
    }
    out["generator"].set("input", tokens_of(load.prompt));
    out["generator"].set("output", tokens_of(load.answer));
  }
  if (scale != 1) out.set("scale", number(scale));
  if (conditions.length) {
    out.set("duration", duration_text(*conditions.length));
  } else if (load.duration > 0s || !facts.is_whole) {
    out.set("duration", duration_text(facts.length));
  }
  return out;
}

Yaml service_yaml(const PlanSpec& spec, const ServiceSpec& service, const FleetOption& fleet,
                  const Conditions& conditions) {
  const engine::EngineRow& row = fleet.candidate->engine;
  Yaml out = Yaml::map({{"name", service.name},
                        {"model", row.model},
                        {"gpu", row.gpu},
                        {"dtype", row.weight_dtype},
                        {"tensor_parallel", row.tensor_parallel()}});
  if (row.stages > 1) out.set("pipeline_parallel", row.stages);
  if (!spec.step_times.empty()) out.set("step_times", absolute(spec.step_times));
  if (service.pods_per_replica > 1) out.set("pods_per_replica", service.pods_per_replica);
  if (fleet.candidate->machines_per_replica() > 1) out.set("together", "zone");
  Yaml slo;
  if (service.slo.ttft > 0s) slo.set("ttft", duration_text(service.slo.ttft));
  if (service.slo.ttft_prefills_milli > 0) {
    slo.set("ttft_prefills", number(static_cast<double>(service.slo.ttft_prefills_milli) / 1000));
  }
  if (service.slo.tpot > 0s) slo.set("tpot", duration_text(service.slo.tpot));
  if (service.slo.e2e > 0s) slo.set("e2e", duration_text(service.slo.e2e));
  slo.set("attainment", number(static_cast<double>(service.slo.attainment_ppm) / 1e6));
  out.set("slo", slo);
  if (fleet.minimum.size() > 1) {
    for (std::size_t i = 0; i < fleet.minimum.size(); ++i) {
      out["roles"][model::name(fleet.candidate->needs[i].role)].set("replicas", replicas_yaml(fleet, i));
    }
  } else {
    out.set("replicas", replicas_yaml(fleet, 0));
  }
  out.set("engine_settings",
          Yaml::map({{"max_batched_tokens", kEngineLimits.max_batched_tokens}, {"max_seqs", kEngineLimits.max_seqs}}));
  const std::int64_t percent = conditions.start_percent;
  const ColdStartSpec& times = service.cold_start;
  // Weights that the engine quantizes are loaded in bfloat16, which is twice as large as FP8.
  const std::int64_t stored = row.weights().count * (quantizes_weights(service, row.weight_dtype) ? 2 : 1);
  // The stated time is that of one node, which loads only its share of the weights of the replica.
  const std::int64_t weights =
      times.weights ? bytes_in(*times.weights) * fleet.candidate->machines_per_replica() : stored;
  Yaml start;
  start.set("image_size", fmt::format("{}B", bytes_in(times.image_pull) * percent / 100),
            fmt::format("takes {} at node_nic, which stands for the pull with its unpacking",
                        duration_text(times.image_pull * percent / 100)));
  start.set("weights", fmt::format("{}B", weights * percent / 100)).set("weights_from", "object_store");
  start.set("engine_init", range(times.engine_start, percent));
  start.set("engine_init_cached", range(times.engine_start_cached, percent));
  start.set("warm_up", range(times.warm_up, percent));
  out.set("start", start);
  out.set("router", Yaml::map({{"policy", "least_loaded"}, {"gateway_max_waiting", 10'000}}));
  return out;
}

Yaml job_class_yaml(const PlacedJobs& placed, bool has_queue, bool has_preemption, Duration until) {
  const TenantJobs& jobs = *placed.jobs;
  Yaml out = Yaml::map({{"name", jobs.name}, {"team", placed.tenant->name}});
  if (has_queue) out.set("queue", placed.tenant->name);
  out.set("gpu", placed.pool->gpu);
  out.set("gpus_per_pod", placed.size.gpus_per_pod);
  out.set("pods", pods_yaml(placed.size));
  out.set("together", placed.is_on_one_node ? "node" : "zone");
  out.set("work", work_yaml(jobs.load.work));
  out.set("arrivals", arrivals_yaml(jobs.load, until));
  if (has_preemption) {
    out.set("priority", placed.tenant->priority);
    out.set("preemptible", jobs.preemptible);
  }
  if (jobs.checkpoint_every > 0s) out.set("checkpoint_every", duration_text(jobs.checkpoint_every));
  return out;
}

Yaml machine_yaml(const MachineSpec& machine, CapacityType capacity) {
  Yaml out = Yaml::map({{"instance", machine.name}, {"gpu", machine.gpu}, {"gpus", machine.gpus}});
  if (capacity == CapacityType::spot) out.set("capacity", "spot");
  if (capacity == CapacityType::reserved) out.set("capacity", "reserved");
  out.set("usd_per_hour", Yaml::plain(manifest::usd_text(*price_of(machine, capacity))));
  return out;
}

Yaml pool_yaml(const MachineSpec& machine, const std::string& name, std::int64_t machines, CapacityType capacity) {
  Yaml pool = Yaml::map({{"name", name}, {"gpu_limit", machines * machine.gpus}});
  pool.set("offerings", Yaml::list({machine_yaml(machine, capacity)}));
  return pool;
}

void add_initial_nodes(const ClusterSpec& cluster, const InitialMachines& standing, Yaml& list) {
  const std::int64_t owned = standing.machine->existing;
  const std::int64_t all = std::max(owned, standing.needed);
  const auto zones = static_cast<std::int64_t>(cluster.zones.size());
  for (std::int64_t zone = 0; zone < zones; ++zone) {
    const auto count_here = [&](std::int64_t machines) {
      const std::int64_t whole = machines / standing.unit, rest = zone == 0 ? machines % standing.unit : 0;
      return (whole + zones - 1 - zone) / zones * standing.unit + rest;
    };
    const std::int64_t here_owned = count_here(owned), here = count_here(all);
    // The zones get nodes in turn. The last nodes are the spot nodes, so that the others are also spread evenly.
    const std::int64_t here_spot = std::max<std::int64_t>(here - count_here(std::max(owned, all - standing.spot)), 0);
    const auto add = [&](std::int64_t count, CapacityType capacity, const std::string& pool) {
      if (count == 0) return;
      Yaml nodes = machine_yaml(*standing.machine, capacity);
      nodes.set("zone", cluster.zones[static_cast<std::size_t>(zone)]).set("count", count);
      if (!pool.empty()) nodes.set("pool", pool);
      list.add(nodes);
    };
    add(here_owned, standing.base, "");
    add(here - here_owned - here_spot, standing.base, standing.pool);
    add(here_spot, CapacityType::spot, standing.spot_pool);
  }
}

void add_cluster_facts(std::uint32_t reclaims_ppm, bool has_spot, Yaml& cluster) {
  cluster.set("bandwidth", Yaml::map({{"node_nic", fmt::format("{}B/s", kWeightsBytesPerS)}}));
  if (!has_spot) return;
  cluster["provider"].set("spot_interruptions_per_hour", Yaml::plain(percent_setting(reclaims_ppm)));
}

Yaml provision_yaml(const PlanSpec& spec, const Conditions& conditions) {
  if (spec.cluster.provisioner == Provisioner::none) return "none";
  Yaml provision = Yaml::map({{"policy", "group"}});
  const std::int64_t percent = conditions.start_percent;
  const bool is_slow = spec.cluster.provisioner == Provisioner::cluster_autoscaler;
  provision.set("latency", Yaml::map({{"decision", is_slow ? range(33s, 46s, percent) : range(3s, 6s, percent)},
                                      {"boot", range(spec.cluster.node_start.boot, percent)},
                                      {"driver", range(spec.cluster.node_start.driver, percent)}}));
  provision.set("consolidation", Yaml::map({{"policy", "when_empty"}, {"after", "1h"}}));
  return provision;
}

}  // namespace capstan::plan
