#include "swarm/world.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "swarm/dice.h"
#include "swarm/policies.h"

namespace capstan::swarm {

namespace {

/// A setting that may be changed, with the possible values.
struct Choice {
  const char* path;
  std::int64_t percent;  ///< probability of a change
  std::vector<std::string> values;
};

const std::vector<Choice> kDelays = {
    {"cluster.actions.unknown_after", 35, {"0s", "30s", "2m", "5m"}},
    {"cluster.actions.latency", 35, {"1s", "10s", "45s"}},
    {"cluster.actions.bind_latency", 30, {"1s", "5s", "30s"}},
    {"cluster.actions.pod_creation", 30, {"0s", "1s..60s", "30s..2m"}},
    {"cluster.scrape",
     45,
     {"{delay: 5s}", "{delay: 14s}", "{interval: 5s, delay: 4s}", "{interval: 45s, delay: 14s}",
      "{interval: 2m, delay: 40s}"}},
    {"cluster.scrape.stale_after", 25, {"20s", "2m"}},
    {"cluster.provider.spot_notice", 30, {"0s", "15s"}},
    {"cluster.provider.removal", 20, {"0s", "5m"}},
    {"cluster.provider.scatter", 25, {"false"}},
    {"cluster.bandwidth.object_store", 25, {"1GB/s", "100MB/s"}},
    {"cluster.bandwidth.registry", 20, {"500MB/s"}},
    {"cluster.bandwidth.node_nic", 15, {"5Gbit/s"}},
    {"cluster.weight_cache", 30, {"none", "host_memory"}},
    {"cluster.image_cached_on_boot", 30, {"true"}},
    {"cluster.drain_poll", 20, {"10s", "1m"}},
    {"cluster.enforce_together", 10, {"false"}},
};

/// Faults. A world whose load ends has none of them, because its fleet must settle (invariant 12).
const std::vector<Choice> kFaults = {
    {"cluster.actions.refused", 35, {"5%", "15%", "40%"}},
    {"cluster.actions.unknown", 35, {"5%", "15%", "30%"}},
    {"cluster.scrape.loss", 30, {"10%", "50%", "90%"}},
    {"cluster.scrape.blackout", 15, {"2m", "10m"}},
    {"cluster.provider.spot_interruptions_per_hour", 35, {"50%", "200%", "600%"}},
    {"cluster.pools.0.offerings.0.refused", 35, {"30%", "100%"}},
    {"cluster.pools.0.offerings.1.refused", 30, {"20%", "60%"}},
    {"cluster.outages", 15, {"[{zone: zone-a, at: 70m, length: 10m}]", "[{zone: zone-b, at: 2h, length: 40m}]"}},
    {"cluster.pools.0.budgets", 20, {"[]", "[{nodes: 1}]", "[{nodes: 0, start: \"0 * * * *\", duration: 20m}]"}},
    {"cluster.pools.0.weight", 15, {"5"}},
};

const std::vector<Choice> kService = {
    {"service.client",
     30,
     {"{first_token_timeout: 4s, max_retries: 3, retry_timed_out: true}", "{total_timeout: 30s, max_retries: 1}"}},
    {"service.router", 30, {"{policy: round_robin}", "{policy: prefix_affine, affinity_extra_load: 4}"}},
    {"service.router.gateway_max_waiting", 20, {"0", "10"}},
    {"service.engine_settings.max_waiting", 25, {"2", "20"}},
    {"service.engine_settings.kv_blocks", 30, {"800", "3000"}},
    {"service.engine_settings.max_seqs", 30, {"1", "8", "64"}},
    {"service.engine_settings.max_batched_tokens", 20, {"512", "2048"}},
    {"service.engine_settings.prefix_cache", 15, {"false"}},
    {"service.engine_settings.front_end", 15, {"0s", "200ms"}},
    {"service.engine_perturbation", 25, {"0%", "40%"}},
    {"service.start.engine_init", 40, {"5s", "60s..200s", "{low: 20s, high: 5m, shape: log_normal}"}},
    {"service.start.weights_from", 25, {"disk", "host_memory", "peer"}},
    {"service.start.image_size", 20, {"0B", "40GB"}},
    {"service.start.slower_after", 10, {"1h"}},
    {"service.slo", 25, {"{ttft: 500ms, tpot: 30ms}", "{e2e: 20s}", "{ttft: 10s, attainment: 90%}"}},
};

/// Arrival rates. A replica with three concurrent sequences serves two to three requests/s.
const std::vector<std::string> kRates = {
    "0.4",
    "{kind: constant, rate: 0.01}",
    "{kind: constant, rate: 1.2}",
    "{kind: on_off, rate: 0.04, peak: 2, period: 40m, length: 12m}",
    "{kind: on_off, rate: 0, peak: 0.8, period: 70m, length: 5m}",
    "{kind: spike, rate: 0.2, peak: 5, start: 1h, length: 20m}",
    "{kind: ramp, rate: 0.1, peak: 2, start: 30m, length: 90m}",
    "{kind: ramp, rate: 2, peak: 0.05, start: 30m, length: 20m}",
    "{kind: diurnal, rate: 0.04, peak: 1.2, period: 3h, start: 1h}",
    "{kind: piecewise, step: 20m, step_rates: [0.4, 2, 0, 1, 0.05, 3, 0, 0, 1, 0.2, 2, 0.4, 0, 2, 0.4, 0, 1, 0.4]}",
};

const std::vector<Choice> kLoad = {
    {"load.duration", 30, {"1h", "3h", "12h"}},
    {"load.generator.arrivals", 30, {"{process: gamma, shape: 0.3}", "{process: weibull, shape: 2}"}},
    {"load.generator.input", 20, {"64", "{kind: uniform, min: 1, max: 6000}"}},
    {"load.generator.output", 20, {"20", "{kind: uniform, min: 1, max: 600}"}},
    {"load.generator.sessions", 15, {"{turns_mean: 3, turn_gap_mean: 30s, system_tokens: 512, max_context: 8192}"}},
};

constexpr std::int64_t kSettlingPercent = 12;      ///< share of worlds in which the load ends and the fleet must settle
constexpr std::int64_t kJobsPercent = 25;          ///< share of worlds with batch jobs
constexpr std::int64_t kQueuesPercent = 20;        ///< share of worlds with queues that have limits
constexpr std::int64_t kCpuPercent = 20;           ///< share of worlds in which pods request CPU and memory
constexpr std::int64_t kLabelsPercent = 20;        ///< share of worlds in which pods select nodes by labels
constexpr std::int64_t kTenantsPercent = 40;       ///< probability of a second service, if the world may have one
constexpr std::int64_t kSurvivingReplicasMax = 5;  ///< largest `max` of a service with `survive`

/// Numbers that must be consistent: a gang needs a large enough domain, and the minimum must fit the GPU limit.
struct Shape {
  std::int64_t tensor_parallel, pods, node_gpus, gpu_limit, existing;
  std::int64_t min, max, initial;
  std::string required_level;
  std::string every_node, on_demand_node;  ///< further settings of all nodes, and of the on-demand nodes
};

constexpr std::int64_t kCpuPerGpu = 16;         ///< CPUs of a node for each GPU
constexpr std::int64_t kMemoryGiBPerGpu = 128;  ///< memory of a node for each GPU

Shape draw_shape(Dice& dice) {
  Shape shape{};
  shape.tensor_parallel = dice.pick({1, 1, 2, 4});
  shape.pods = dice.chance(50) ? 1 : shape.tensor_parallel / (shape.tensor_parallel > 2 ? dice.pick({1, 2}) : 1);
  shape.required_level = dice.pick({"node", "nvlink", "rack", "zone", "cluster"});
  const bool in_one_node = shape.required_level == "node" || shape.required_level == "nvlink";
  // A rack has room for two nodes.
  const std::int64_t min_node_gpus =
      in_one_node ? shape.tensor_parallel : std::max(shape.tensor_parallel / shape.pods, shape.tensor_parallel / 2);
  shape.node_gpus = std::max<std::int64_t>(min_node_gpus, dice.pick({1, 2, 4, 8}));
  shape.existing = dice.between(1, 3);
  shape.min = dice.pick({0, 1, 1, 2});
  shape.max = dice.pick({2, 4, 7, 12, 20});
  shape.initial = dice.between(shape.min, std::min<std::int64_t>(shape.max, 4));
  const std::int64_t min_gpu_limit =
      std::max(shape.existing * shape.node_gpus, 2 * std::max<std::int64_t>(shape.min, 1) * shape.tensor_parallel);
  shape.gpu_limit = std::max<std::int64_t>(min_gpu_limit, dice.pick({4, 12, 20, 40}));
  return shape;
}

/// Returns a pool with two offerings: a cheap spot node and an expensive on-demand node.
std::string pool(const std::string& gpu, const Shape& shape) {
  return fmt::format(
      "{{name: {0}, gpu_limit: {1}, node_limit: {3}, offerings: [{{instance: cheap-{0}, gpu: {0}, gpus: {2}, "
      "usd_per_hour: 20, "
      "capacity: spot{4}}}, {{instance: dear-{0}, gpu: {0}, gpus: {2}, usd_per_hour: 30{4}{5}}}]}}",
      gpu, shape.gpu_limit, shape.node_gpus, shape.gpu_limit / shape.node_gpus, shape.every_node, shape.on_demand_node);
}

std::string bounds(std::int64_t min, std::int64_t max, std::int64_t initial) {
  return fmt::format("{{min: {}, max: {}, initial: {}}}", min, max, initial);
}

/// @param can_survive  true if the placement spreads replicas over domains, which `survive` requires
void set_shape(Dice& dice, const Shape& shape, ReplicaForms replicas, bool can_survive,
               std::vector<std::string>& sets) {
  sets.push_back(fmt::format("service.tensor_parallel={}", shape.tensor_parallel));
  sets.push_back(fmt::format("service.pods_per_replica={}", shape.pods));
  sets.push_back("service.together=" + shape.required_level);
  const bool variants = replicas == ReplicaForms::variants;
  sets.push_back(fmt::format("cluster.pools=[{}{}]", pool("h100_sxm", shape),
                             variants ? ", " + pool("a100_sxm", shape) : std::string()));
  sets.push_back(
      fmt::format("cluster.existing=[{{instance: dear, gpu: h100_sxm, gpus: {}, usd_per_hour: 30, "
                  "pool: h100_sxm, count: {}{}{}}}]",
                  shape.node_gpus, shape.existing, shape.every_node, shape.on_demand_node));
  const std::string bounds_text = bounds(shape.min, shape.max, shape.initial);
  if (replicas == ReplicaForms::one_kind) {
    const std::string domain = dice.pick({"node", "rack", "zone"});
    const bool survives = dice.chance(15) && can_survive;
    // A world in which many replicas each wait for a separate domain takes longer to simulate than fifty other worlds.
    const std::int64_t max = survives ? std::min<std::int64_t>(shape.max, kSurvivingReplicasMax) : shape.max;
    sets.push_back("service.replicas=" + bounds(shape.min, max, std::min(shape.initial, max)));
    if (survives) sets.push_back("service.replicas.survive=" + domain);
    if (dice.chance(15)) {
      sets.push_back(fmt::format("service.replicas.windows=[{{start: \"0 * * * *\", duration: 20m, min: {}, max: {}}}]",
                                 dice.between(0, max), max));
    }
  } else if (replicas == ReplicaForms::roles) {
    const std::string role =
        bounds(std::max<std::int64_t>(shape.min, 1), shape.max, std::max<std::int64_t>(shape.initial, 1));
    sets.push_back(fmt::format("service.roles={{prefill: {{replicas: {0}}}, decode: {{replicas: {0}}}}}", role));
    if (dice.chance(40)) sets.emplace_back("service.roles.decode_per_prefill={min: 0.5, max: 3}");
    if (dice.chance(40)) sets.emplace_back("service.roles.conversion=3s..5s");
  } else {
    sets.push_back(
        fmt::format("service.variants=[{{name: h100, gpu: H100, replicas: {0}}}, "
                    "{{name: a100, gpu: A100, replicas: {1}}}]",
                    bounds_text, bounds(0, shape.max, 0)));
  }
}

/// Adds batch jobs that share the pool with the replicas.
void set_jobs(Dice& dice, const Shape& shape, std::vector<std::string>& sets) {
  const std::int64_t gpus_per_pod = dice.between(1, shape.node_gpus);
  // The pool has a limit of GPUs and one of nodes, and no job may be larger than what both allow.
  const std::int64_t gpus_of_nodes = shape.gpu_limit / shape.node_gpus * shape.node_gpus;
  const std::string work = dice.pick({"3m", "{median: 10m, sigma: 1.5}", "40m"});
  const std::string checkpoints = dice.pick({"", ", checkpoint_every: 1m", ", checkpoint_every: 10m"});
  const std::string arrivals =
      dice.pick({"{count: 5, at: 30m}", "{per_hour: 4, until: 3h}", "{count: 2, at: 0s, every: 25m, until: 3h}"});
  sets.push_back(fmt::format(
      "jobs=[{{name: batch, gpu: H100, pods: {}, gpus_per_pod: {}, together: {}, work: {}, arrivals: {}{}}}]",
      std::min(dice.between(1, 2), std::max<std::int64_t>(1, gpus_of_nodes / gpus_per_pod)), gpus_per_pod,
      dice.pick({"rack", "zone", "cluster"}), work, arrivals, checkpoints));
  if (dice.chance(50)) sets.insert(sets.end(), {"jobs.0.preemptible=true", "jobs.0.priority=-1"});
  if (dice.chance(30)) sets.emplace_back("jobs.0.pods={min: 1, max: 3}");
}

/// Adds CPU and memory. A replica requests at most the share of a node that belongs to its GPUs. A pod of a job may
/// request half of a node whatever its number of GPUs, so that GPUs may be free on nodes without free CPU.
void set_cpu(Dice& dice, Shape& shape, bool has_jobs, std::vector<std::string>& sets) {
  shape.every_node +=
      fmt::format(", cpu: {}, memory: {}Gi", kCpuPerGpu * shape.node_gpus, kMemoryGiBPerGpu * shape.node_gpus);
  const std::int64_t pod_gpus = shape.tensor_parallel / shape.pods;
  sets.push_back(fmt::format("service.cpu={}", pod_gpus * dice.pick({2, 11, 16})));
  sets.push_back(fmt::format("service.memory={}Gi", pod_gpus * dice.pick({16, 100, 128})));
  if (!has_jobs) return;
  sets.push_back(fmt::format("jobs.0.cpu={}m", 1'000 * kCpuPerGpu * shape.node_gpus * dice.pick({5, 25, 50}) / 100));
  if (dice.chance(50)) sets.push_back(fmt::format("jobs.0.memory={}Gi", kMemoryGiBPerGpu * shape.node_gpus / 2));
}

/// Adds labels at random: replicas that need labelled on-demand nodes, and jobs that need one zone or on-demand nodes.
void set_labels(Dice& dice, Shape& shape, bool has_jobs, std::vector<std::string>& sets) {
  if (dice.chance(60)) {
    shape.on_demand_node += ", labels: {tier: serving}";
    sets.emplace_back("service.node_selector={tier: serving}");
  }
  if (has_jobs && dice.chance(60)) {
    sets.push_back(fmt::format("jobs.0.node_selector={{{}}}", dice.pick({"topology.kubernetes.io/zone: zone-b",
                                                                         "karpenter.sh/capacity-type: on-demand"})));
  }
}

/// Adds two queues, of which the upper one has a limit. The limit is high enough for the minimum replicas of all
/// services and for each job, because a scenario that can never place them is infeasible.
void set_queues(Dice& dice, const Shape& shape, bool has_jobs, std::vector<std::string>& sets) {
  const std::int64_t of_services = 2 * std::max<std::int64_t>(shape.min, 1) * shape.tensor_parallel + 1;
  const std::int64_t least = std::max(of_services, 2 * shape.node_gpus);
  const std::int64_t limit = std::max(least, shape.gpu_limit * dice.between(30, 100) / 100);
  sets.push_back(fmt::format("queues=[{{name: all, gpu_limit: {}}}, {{name: batch, parent: all}}]", limit));
  sets.emplace_back("service.queue=all");
  if (has_jobs) sets.emplace_back("jobs.0.queue=batch");
  if (has_jobs && dice.chance(50)) sets.emplace_back("service.priority=5");
}

/// Adds a second service. A scenario with several services lists them, so that every change of `service` and `load`
/// becomes one of the first service.
void add_service(Dice& dice, std::vector<std::string>& sets) {
  for (std::string& set : sets) {
    if (set.starts_with("service.")) set.replace(0, std::string_view("service").size(), "services.first");
    if (set.starts_with("load.")) set.insert(0, "services.first.");
  }
  // The first service and the lengths of prompts and answers are those of the calm world.
  constexpr const char* kLengths =
      "input: {kind: log_normal, tokens: 700, sigma: 1.0, max: 12000}, output: {kind: log_normal, tokens: 100, sigma: "
      "0.9, max: 1000}";
  constexpr const char* kEngine =
      "model: Llama-3.1-8B, gpu: H100, engine_settings: {max_seqs: 3}, start: {engine_init: 15s..25s, warm_up: 2s..4s}";
  const std::string services = fmt::format(
      "services=[{{name: first, {0}, slo: {{ttft: 2s, tpot: 60ms}}, replicas: {{min: 1, max: 8, initial: 2}}, "
      "load: {{duration: 6h, generator: {{rate: 0.4, {1}}}}}}}, "
      "{{name: second, queue: all, {0}, slo: {{ttft: {2}}}, replicas: {{min: {3}, max: 4}}, "
      "load: {{duration: 6h, generator: {{rate: {4}, {1}}}}}}}]",
      kEngine, kLengths, dice.pick({"500ms", "3s", "1m"}), dice.between(0, 1), dice.pick(kRates));
  sets.insert(sets.begin(), {"service=~", "load=~", services});
}

void set_some(Dice& dice, const std::vector<Choice>& choices, std::vector<std::string>& sets) {
  for (const Choice& choice : choices) {
    // A value is drawn even if it is not used, so that no choice depends on earlier choices.
    const bool is_changed = dice.chance(choice.percent);
    const std::string& value = dice.pick(choice.values);
    if (is_changed) sets.push_back(std::string(choice.path) + "=" + value);
  }
}

}  // namespace

World draw(std::uint64_t seed, std::uint64_t number) {
  World world{.seed = seed, .number = number, .run_seed = 0, .sets = {}, .owner = Owner::capstan};
  const auto dice = [&](std::string_view part) { return Dice(seed, number, part); };

  Dice shape = dice("shape");
  world.run_seed = static_cast<std::uint64_t>(shape.between(1, 1'000'000));
  const ReplicaForms replicas = shape.chance(70)   ? ReplicaForms::one_kind
                                : shape.chance(50) ? ReplicaForms::roles
                                                   : ReplicaForms::variants;
  Dice policies = dice("policy");
  const DrawnPolicy policy = draw_policy(policies, replicas);
  Shape drawn = draw_shape(shape);
  Dice jobs = dice("jobs");
  const bool has_jobs = jobs.chance(kJobsPercent);
  if (has_jobs) set_jobs(jobs, drawn, world.sets);
  Dice machines = dice("machines");
  if (machines.chance(kCpuPercent)) set_cpu(machines, drawn, has_jobs, world.sets);
  if (machines.chance(kLabelsPercent)) set_labels(machines, drawn, has_jobs, world.sets);
  set_shape(shape, drawn, replicas, policy.place != "first_fit", world.sets);

  const bool must_settle = dice("stillness").chance(kSettlingPercent);
  Dice load = dice("load");
  world.sets.push_back("load.generator.rate=" + load.pick(kRates));
  set_some(load, kLoad, world.sets);
  if (must_settle) {
    world.sets.emplace_back("load.duration=90m");
    world.sets.emplace_back("duration=6h");
  }
  Dice service = dice("service");
  set_some(service, kService, world.sets);
  Dice faults = dice("faults");
  set_some(faults, kDelays, world.sets);
  if (!must_settle) set_some(faults, kFaults, world.sets);

  Dice queues = dice("queues");
  const bool has_queues = queues.chance(kQueuesPercent);
  if (has_queues) set_queues(queues, drawn, has_jobs, world.sets);

  world.owner = policy.owner;
  world.sets.push_back("policies.0.scale=" + policy.scale);
  world.sets.push_back("policies.0.place=" + policy.place);
  world.sets.push_back("policies.0.provision=" + policy.provision);
  // A scenario cannot have `sleep` and `survive`: a replica wakes in the domain in which it fell asleep, so it adds
  // nothing to the spread that `survive` asks for.
  const bool survives = std::ranges::any_of(
      world.sets, [](const std::string& set) { return set.starts_with("service.replicas.survive="); });
  if (!policy.sleep.empty() && !survives) world.sets.push_back("policies.0.sleep=" + policy.sleep);
  const bool may_add_service =
      has_queues && !must_settle && replicas == ReplicaForms::one_kind && policy.owner == Owner::capstan;
  if (may_add_service && queues.chance(kTenantsPercent)) add_service(queues, world.sets);
  return world;
}

std::string World::name() const { return fmt::format("{}:{}", seed, number); }

std::string World::command() const {
  std::string words = fmt::format("capstan sim {} --seed {}", kWorldFile, run_seed);
  for (const std::string& set : sets) {
    const bool plain = set.find_first_of(" {}[]\"") == std::string::npos;
    words += plain ? " --set " + set : " --set '" + set + "'";
  }
  return words;
}

}  // namespace capstan::swarm
