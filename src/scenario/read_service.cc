#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "base/file.h"
#include "decide/scale/capstan/capacity.h"
#include "engine/names.h"
#include "manifest/scalars.h"
#include "model/role_names.h"
#include "model/topology_names.h"
#include "scenario/nearest_model.h"
#include "scenario/read_parts.h"

namespace capstan::scenario {

using manifest::ErrorList;
using manifest::Fields;
using manifest::Node;
using namespace std::chrono_literals;

std::string resolved_path(const Node& node, const std::string& file) {
  const std::size_t slash = file.find_last_of('/');
  if (node.place.from_option || node.text.starts_with('/') || slash == std::string::npos) return node.text;
  return file.substr(0, slash + 1) + node.text;
}

model::GpuKindId gpu_kind(model::Catalog& catalog, std::string_view name) {
  const auto found = std::find(catalog.gpu_kinds.begin(), catalog.gpu_kinds.end(), name);
  const auto index = static_cast<std::uint32_t>(found - catalog.gpu_kinds.begin());
  if (found == catalog.gpu_kinds.end()) catalog.gpu_kinds.emplace_back(name);
  return {index};
}

void read_latency(Fields& fields, std::string_view key, sim::Latency& out) {
  fields.check(key, [&](const Node& node, ErrorList& errors) {
    const std::string what = fmt::format("{}.{}", fields.what(), key);
    const manifest::Mark latency(errors);
    if (node.kind == Node::Kind::mapping) {
      Fields parts(node, what, errors);
      using Shape = sim::Latency::Shape;
      parts.duration("low", out.low, 0s, 24h);
      parts.duration("high", out.high, 0s, 24h);
      parts.choice<Shape>("shape", out.shape, {{"uniform", Shape::uniform}, {"log_normal", Shape::log_normal}});
      parts.finish();
      if (parts.ok() && out.shape == Shape::log_normal && out.low <= 0s) {
        errors.fail(node.place, what + ".low: found 0s, expected more than 0s for log_normal");
      }
    } else {
      const std::string_view text = node.text;
      const std::size_t dots = text.find("..");
      const auto low = manifest::read_duration(text.substr(0, dots));
      const auto high = dots == text.npos ? low : manifest::read_duration(text.substr(dots + 2));
      if (node.kind != Node::Kind::scalar || !low || !high || *high > 24h) {
        return errors.fail(
            node.place, fmt::format("{}: found {}, expected a duration such as 50s or 45s..60s", what, node.words()));
      }
      out = sim::Latency::between(*low, *high);
    }
    if (latency.ok() && out.low > out.high) {
      errors.fail(node.place, fmt::format("{}: {} is above {}, expected the shorter time first", what,
                                          manifest::duration_text(out.low), manifest::duration_text(out.high)));
    }
  });
}

void read_level(Fields& fields, std::string_view key, model::TopologyLevel& out) {
  using Level = model::TopologyLevel;
  const auto named = [](Level level) { return std::pair(model::name(level).key, level); };
  fields.choice<Level>(
      key, out,
      {named(Level::node), named(Level::nvlink), named(Level::rack), named(Level::zone), named(Level::cluster)});
}

namespace {

/// Reads a bound of the SLO. A stated bound of 0 is an error, because no request can meet it.
void read_bound(Fields& fields, std::string_view key, Duration& out, ErrorList& errors) {
  if (fields.duration(key, out, 0s, 24h) && out == 0s) {
    errors.fail(fields.node().find(key)->place, fmt::format("{}.{}: an SLO of 0 can never be met", fields.what(), key),
                ErrorKind::infeasible);
  }
}

/// @param what  path of the node, for messages: "slo", "services.chat.slo"
void read_slo(const Node& node, const std::string& what, model::Slo& slo, ErrorList& errors) {
  Fields fields(node, what, errors);
  read_bound(fields, "ttft", slo.ttft, errors);
  read_bound(fields, "tpot", slo.tpot, errors);
  read_bound(fields, "e2e", slo.e2e, errors);
  fields.share_ppm("attainment", slo.attainment_ppm, 1, 1'000'000);
  double prefills = 0;
  fields.number("ttft_prefills", prefills, 0, 1000);
  slo.ttft_prefills_milli = static_cast<std::uint32_t>(prefills * 1000.0 + 0.5);
  fields.finish();
  if (fields.ok() && slo.ttft == 0s && slo.tpot == 0s && slo.e2e == 0s) {
    errors.fail(node.place, what + " states no bound, expected at least one of ttft, tpot or e2e");
  }
  if (fields.ok() && slo.ttft_prefills_milli > 0 && slo.ttft == 0s) {
    errors.fail(node.find("ttft_prefills")->place,
                fmt::format("{0}.ttft_prefills: without {0}.ttft there is no bound to widen", what));
  }
}

void read_engine_settings(const Node& node, const std::string& owner, RoleSpec& spec, ErrorList& errors) {
  Fields fields(node, owner + ".engine_settings", errors);
  sim::ReplicaConfig& replica = spec.replica;
  // Policies know only the limits that the file states, as they would from a manifest.
  for (const auto& [key, limit, stated, most] :
       {std::tuple("max_batched_tokens", &replica.max_batched_tokens, &spec.stated_limits.max_batched_tokens, 1 << 24),
        std::tuple("max_seqs", &replica.max_seqs, &spec.stated_limits.max_seqs, 1 << 16)}) {
    if (fields.integer(key, *limit, 1, most)) *stated = static_cast<std::int32_t>(*limit);
  }
  fields.integer("max_waiting", replica.max_waiting, 1, 1 << 24);
  fields.integer("kv_blocks", replica.kv_blocks, 1, 1 << 30);
  fields.boolean("prefix_cache", replica.prefix_cache);
  fields.duration("front_end", spec.front_end, 0s, 10s);
  fields.finish();
  if (fields.ok() && replica.max_batched_tokens < replica.max_seqs) {
    errors.fail(fields.place_for_error({"max_batched_tokens", "max_seqs"}),
                fmt::format("{}: max_batched_tokens {} is below max_seqs {}, expected at least one token a sequence",
                            fields.what(), replica.max_batched_tokens, replica.max_seqs));
  }
}

void read_router(const Node& node, const std::string& owner, sim::FleetConfig& fleet, ErrorList& errors) {
  Fields fields(node, owner + ".router", errors);
  using Kind = sim::RouterKind;
  fields.choice<Kind>("policy", fleet.router.kind,
                      {{"round_robin", Kind::round_robin},
                       {"least_loaded", Kind::least_loaded},
                       {"prefix_affine", Kind::prefix_affine}});
  fields.integer("affinity_extra_load", fleet.router.affinity_extra_load, 0, 1'000'000);
  fields.integer("affinity_blocks", fleet.router.affinity_blocks, 1, 1 << 26);
  fields.integer("gateway_max_waiting", fleet.gateway_max_waiting, 0, 1 << 24);
  fields.finish();
}

void read_client(const Node& node, const std::string& owner, sim::ClientConfig& client, ErrorList& errors) {
  Fields fields(node, owner + ".client", errors);
  fields.duration("first_token_timeout", client.first_token_timeout, 0s, 24h);
  fields.duration("total_timeout", client.total_timeout, 0s, 24h);
  fields.integer("max_retries", client.max_retries, 0, 100);
  fields.boolean("retry_timed_out", client.retry_timed_out);
  fields.duration("backoff", client.backoff, 0s, 1h);
  fields.duration("backoff_max", client.backoff_max, 0s, 1h);
  fields.finish();
  if (fields.ok() && client.backoff > client.backoff_max) {
    errors.fail(fields.place_for_error({"backoff", "backoff_max"}),
                fmt::format("{}: backoff {} is above backoff_max {}", fields.what(),
                            manifest::duration_text(client.backoff), manifest::duration_text(client.backoff_max)));
  }
}

void read_start(const Node& node, const std::string& owner, sim::VariantStart& start, ErrorList& errors) {
  Fields fields(node, owner + ".start", errors);
  fields.bytes("image_size", start.image_size, {}, {1ll << 42});
  fields.bytes("weights", start.weights, {}, {1ll << 46});
  using Tier = sim::WeightTier;
  fields.choice<Tier>("weights_from", start.tier,
                      {{"object_store", Tier::object_store},
                       {"disk", Tier::disk},
                       {"host_memory", Tier::host_memory},
                       {"peer", Tier::peer}});
  read_latency(fields, "engine_init", start.engine_init);
  start.engine_init_cached = start.engine_init;
  read_latency(fields, "engine_init_cached", start.engine_init_cached);
  read_latency(fields, "warm_up", start.warm_up);
  read_latency(fields, "wake", start.sleep.wake);
  if (fields.take("slower_after") != nullptr) {
    start.slower_from = Instant{};
    fields.duration("slower_after", start.slower_from.since_start, 0s, 8784h);
  }
  fields.share_ppm("slower", start.slower_ppm, 1'000'000, 10'000'000);
  fields.finish();
  if (fields.ok() && node.find("slower") != nullptr && start.slower_from.is_never()) {
    errors.fail(node.find("slower")->place, owner + ".start.slower: found without slower_after, expected both");
  }
}

/// The replicas of a service at the start: their number, and whether they are ready.
struct Replicas {
  ReplicaCount initial = 1;
  bool ready = true;
};

model::BoundsWindow read_window(const Node& node, const std::string& owner, ErrorList& errors) {
  Fields fields(node, owner + ".windows", errors);
  model::BoundsWindow window;
  fields.take_required("start");
  fields.cron("start", window.start);
  fields.take_required("duration");
  fields.duration("duration", window.duration, 1min, model::BoundsWindow::kLongest);
  if (node.find("min") != nullptr) fields.integer("min", window.min.emplace(), 0, manifest::kMaxReplicas);
  if (node.find("max") != nullptr) fields.integer("max", window.max.emplace(), 1, manifest::kMaxReplicas);
  fields.finish();
  if (fields.ok() && !window.min && !window.max) {
    errors.fail(node.place, fmt::format("{}: neither min nor max, expected at least one", fields.what()));
  }
  return window;
}

Replicas read_replicas(const Node& node, const std::string& owner, model::Service& service, ErrorList& errors) {
  Fields fields(node, owner + ".replicas", errors);
  fields.integer("min", service.min_replicas, 0, manifest::kMaxReplicas);
  service.max_replicas = std::max(service.min_replicas, service.max_replicas);
  fields.integer("max", service.max_replicas, 1, manifest::kMaxReplicas);
  Replicas replicas{service.min_replicas, true};
  fields.integer("initial", replicas.initial, 0, manifest::kMaxReplicas);
  fields.boolean("ready", replicas.ready);
  using Level = model::TopologyLevel;
  using Survives = std::optional<Level>;
  fields.choice<Survives>(
      "survive", service.survives,
      {{"none", std::nullopt}, {"node", Level::node}, {"rack", Level::rack}, {"zone", Level::zone}});
  for (const Node& window : fields.list("windows")) {
    service.windows.push_back(read_window(window, fields.what(), errors));
  }
  fields.finish();
  if (service.windows.size() > model::BoundsWindow::kMax) {
    errors.fail(fields.place_for_error({"windows"}),
                fmt::format("{}.windows: found {}, expected at most {}", fields.what(), service.windows.size(),
                            model::BoundsWindow::kMax));
  }
  if (!fields.ok()) return replicas;
  if (service.min_replicas > service.max_replicas) {
    errors.fail(fields.place_for_error({"min", "max"}),
                fmt::format("{}: min {} is above max {}", fields.what(), service.min_replicas, service.max_replicas));
  } else if (replicas.initial < service.min_replicas || replicas.initial > service.max_replicas) {
    errors.fail(fields.place_for_error({"initial", "min", "max"}),
                fmt::format("{}: initial {} lies outside {} to {}", fields.what(), replicas.initial,
                            service.min_replicas, service.max_replicas));
  }
  return replicas;
}

/// Finds the row of a table for a model and a GPU. The model has its name in the table or on a model hub, the GPU its
/// name in the table or in a node label. The data type of the weights is the stated one, or else the one in the
/// model's name.
Result<const engine::EngineRow*> find_row(const engine::EngineTable& table, const model::Workload& workload,
                                          const std::string& gpu, bool dtype_stated, std::int64_t stages) {
  const std::optional<engine::ServedModel> served = engine::model_of_name(table, workload.model);
  // If the table has the name that the file states, errors show that name.
  const std::string key = table.gpu_key(gpu) ? gpu : engine::gpu_of_product(table, gpu).value_or(gpu);
  return table.find(served ? served->model : workload.model, key, workload.gpus_per_replica,
                    served && !dtype_stated ? served->weight_dtype : workload.dtype, stages);
}

/// Finds the engine's row in the scenario's table, and sets the number of KV blocks that fit into GPU memory next to
/// the weights.
void find_engine(const Fields& fields, const std::string& gpu, const model::Workload& workload, std::int64_t stages,
                 const engine::EngineTable& table, RoleSpec& spec, ErrorList& errors) {
  const manifest::Place& place =
      fields.place_for_error({"model", "gpu", "tensor_parallel", "pipeline_parallel", "dtype"});
  const Result<const engine::EngineRow*> row =
      find_row(table, workload, gpu, fields.node().find("dtype") != nullptr, stages);
  if (!row) {
    const std::string hint = unknown_model_hint(table, workload.model);
    return errors.fail(place, fields.what() + ": " + row.error().message + hint, row.error().kind);
  }
  spec.engine = *row;
  if (workload.gpus_per_replica % workload.pods != 0) {
    return errors.fail(fields.place_for_error({"pods_per_replica", "tensor_parallel"}),
                       fmt::format("{}: {} GPUs cannot be divided over {} pods, expected pods_per_replica "
                                   "to divide tensor_parallel x pipeline_parallel",
                                   fields.what(), workload.gpus_per_replica, workload.pods));
  }
  if (spec.replica.kv_blocks != 0) return;
  const Result<std::int64_t> blocks = engine::kv_capacity_blocks(*spec.engine);
  if (!blocks) return errors.fail(place, fields.what() + ": " + blocks.error().message, ErrorKind::infeasible);
  spec.replica.kv_blocks = *blocks;
}

/// Keys that describe replicas. A role or variant that lacks one of them inherits the value of `service`.
constexpr std::array<std::string_view, 14> kReplicaKeys = {
    "model",  "gpu",           "tensor_parallel", "pipeline_parallel", "dtype",    "pods_per_replica", "cpu",
    "memory", "node_selector", "together",        "topology",          "replicas", "engine_settings",  "start"};

/// Replaces the engine table of the scenario. The new table keeps the old one alive, because services that were read
/// before have pointers into it.
void replace_engines(engine::EngineTable table, Scenario& scenario) {
  scenario.engines = std::shared_ptr<const engine::EngineTable>(
      new engine::EngineTable(std::move(table)),
      [replaced = scenario.engines](const engine::EngineTable* rows) { delete rows; });
}

sim::EngineRole engine_role(model::Role role) {
  switch (role) {
    case model::Role::both:
      return sim::EngineRole::both;
    case model::Role::prefill:
      return sim::EngineRole::prefill;
    case model::Role::decode:
      return sim::EngineRole::decode;
  }
  return sim::EngineRole::both;
}

/// Reads the keys of `kReplicaKeys`, and adds a service with these replicas to the catalog.
/// @param service  name and SLO of the service; on a decode service also its prefill service
/// @param spec     settings of the replicas that the caller has read
void read_role(Fields& fields, model::Role role, model::Service service, RoleSpec spec, model::Catalog& catalog,
               Scenario& scenario, ErrorList& errors) {
  const std::string owner = fields.what();
  model::Workload& workload = service.workload;
  workload.role = role;
  spec.replica.role = engine_role(role);
  const manifest::Mark read_engine(errors);
  if (fields.take_required("model") != nullptr) fields.text("model", workload.model);
  std::string gpu;
  if (fields.take_required("gpu") != nullptr) fields.text("gpu", gpu);
  fields.integer("tensor_parallel", workload.gpus_per_replica, 1, 1024);
  std::int32_t stages = 1;
  fields.integer("pipeline_parallel", stages, 1, 64);
  if (read_engine.ok()) {
    workload.gpus_per_replica *= stages;
    if (stages > 1) replace_engines(scenario.engines->with_stages(stages), scenario);
  }
  fields.text("dtype", workload.dtype);
  fields.integer("pods_per_replica", workload.pods, 1, 1024);
  workload.pod_class = read_pod_needs(fields, scenario, errors);
  const bool named = read_engine.ok() && !workload.model.empty() && !gpu.empty();
  model::TopologyLevel required_level = model::TopologyLevel::node;
  read_level(fields, "together", required_level);
  workload.required_level = required_level;
  if (const Node* topology = fields.take("topology")) read_constraint(*topology, owner, catalog, workload, errors);
  Replicas replicas;
  if (const Node* bounds = fields.take_required("replicas")) replicas = read_replicas(*bounds, owner, service, errors);
  if (const Node* settings = fields.take("engine_settings")) read_engine_settings(*settings, owner, spec, errors);
  workload.step_limits = spec.stated_limits;
  const Node* start_node = fields.take("start");
  spec.engine = &scenario.engines->rows().front();  // a default, so that reading can go on if no row is found
  if (named) find_engine(fields, gpu, workload, stages, *scenario.engines, spec, errors);
  const model::ServiceId id{static_cast<std::uint32_t>(catalog.services.size())};
  sim::VariantStart start{.service = id,
                          .image = 0,
                          .image_size = {10'000'000'000},
                          .weights = {},
                          .tier = sim::WeightTier::object_store,
                          .engine_init = sim::Latency::between(30s, 45s),
                          .engine_init_cached = sim::Latency::between(15s, 20s),
                          .warm_up = sim::Latency::between(3s, 6s)};
  start.weights = spec.engine->weights();
  if (start_node != nullptr) read_start(*start_node, owner, start, errors);
  spec.states_engine_init = start_node != nullptr && start_node->find("engine_init") != nullptr;
  workload.model = engine::model_words(*spec.engine);
  workload.dtype = spec.engine->weight_dtype;
  workload.gpu = gpu_kind(catalog, spec.engine->gpu);
  workload.name = spec.name.empty() ? fmt::format("{} {} on {}", spec.engine->model,
                                                  engine::parallelism_words(*spec.engine), spec.engine->gpu_name)
                                    : spec.name;
  catalog.services.push_back(std::move(service));
  scenario.endpoints.back().roles.push_back(spec);
  scenario.cluster.starts.push_back(start);
  scenario.cluster.initial.push_back({id, replicas.initial, replicas.ready});
}

/// Returns the node of a role, with the keys of `kReplicaKeys` that it lacks taken from the service.
Node inherited(const Node& role, const Node& service) {
  Node whole = role;
  std::erase_if(whole.entries, [](const Node::Entry& entry) { return entry.value.is_null(); });
  for (const Node::Entry& entry : service.entries) {
    if (std::ranges::find(kReplicaKeys, entry.key) == kReplicaKeys.end() || whole.find(entry.key) != nullptr) continue;
    whole.entries.push_back(entry);
  }
  return whole;
}

/// Reads the bounds on the number of decode replicas for each prefill replica.
void read_ratio(const Node& node, const std::string& owner, model::RoleLimits& limits, ErrorList& errors) {
  Fields fields(node, owner + ".decode_per_prefill", errors);
  constexpr double kMax = model::RoleLimits::kMaxRatioMilli / 1000.0;
  for (const auto& [key, milli] : {std::pair("min", &limits.decode_per_prefill_least_milli),
                                   std::pair("max", &limits.decode_per_prefill_most_milli)}) {
    double ratio = 0;
    fields.number(key, ratio, 0.001, kMax);
    if (node.find(key) != nullptr) *milli = static_cast<std::int64_t>(ratio * 1000.0 + 0.5);
  }
  fields.finish();
  const std::int64_t most = limits.decode_per_prefill_most_milli;
  if (fields.ok() && most > 0 && limits.decode_per_prefill_least_milli > most) {
    errors.fail(node.place, fmt::format("{}: min {} is above max {}", fields.what(),
                                        limits.decode_per_prefill_least_milli / 1000.0, most / 1000.0));
  }
}

/// Returns the first keys in which prefill and decode replicas differ, so that a replica cannot change its role; empty
/// if they do not differ.
std::string_view differs_in(const EndpointSpec& endpoint, const model::Catalog& catalog) {
  const model::Workload& prefill = catalog.service(endpoint.service_of(0)).workload;
  const model::Workload& decode = catalog.service(endpoint.service_of(1)).workload;
  const sim::ReplicaConfig& one = endpoint.roles[0].replica;
  const sim::ReplicaConfig& other = endpoint.roles[1].replica;
  if (endpoint.roles[0].engine != endpoint.roles[1].engine) return "model, gpu, dtype or tensor_parallel";
  if (prefill.pods != decode.pods) return "pods_per_replica";
  if (prefill.pod_class != decode.pod_class) return "cpu, memory or node_selector";
  if (prefill.required_level != decode.required_level) return "together";
  if (prefill.preferred != decode.preferred) return "topology";
  const auto settings = [](const sim::ReplicaConfig& c) {
    return std::tuple(c.max_batched_tokens, c.max_seqs, c.kv_blocks, c.prefix_cache);
  };
  return settings(one) != settings(other) ? "engine_settings" : "";
}

/// Checks that a replica can change its role: both roles run the same engine on the same GPUs, and no role is spread
/// over failure domains.
void check_convertible(const Node& place, const std::string& owner, const EndpointSpec& endpoint,
                       const model::Catalog& catalog, ErrorList& errors) {
  if (const std::string_view what = differs_in(endpoint, catalog); !what.empty()) {
    return errors.fail(place.place,
                       fmt::format("{}.conversion: prefill and decode differ in {}, expected one engine on the same "
                                   "GPUs, so that a replica can take either role",
                                   owner, what));
  }
  const auto is_spread = [&](std::size_t role) {
    return catalog.service(endpoint.service_of(role)).survives.has_value();
  };
  if (is_spread(0) || is_spread(1)) {
    errors.fail(place.place,
                owner +
                    ".conversion: found together with replicas.survive, expected only one of them: replicas that are "
                    "spread over domains cannot change their role");
  }
}

void read_role_limits(Fields& fields, Scenario& scenario, model::Catalog& catalog, ErrorList& errors) {
  const EndpointSpec& endpoint = scenario.endpoints.back();
  model::RoleLimits limits;
  fields.check("decode_per_prefill",
               [&](const Node& ratio, ErrorList& v) { read_ratio(ratio, fields.what(), limits, v); });
  std::optional<sim::Latency> conversion;
  if (const Node* node = fields.take("conversion")) {
    read_latency(fields, "conversion", conversion.emplace());
    if (fields.ok()) check_convertible(*node, fields.what(), endpoint, catalog, errors);
    limits.conversion = std::max<Duration>(conversion->midpoint(), 1ms);
  }
  for (std::size_t i = endpoint.first.value; i < catalog.services.size(); ++i) {
    catalog.services[i].role_limits = limits;
    scenario.cluster.starts[i].conversion = conversion;
  }
}

/// Reads prefill and decode replicas. Each role becomes a service of the catalog.
void read_roles(const Node& node, const Fields& owner, const model::Service& service, model::Catalog& catalog,
                Scenario& scenario, ErrorList& errors) {
  Fields roles(node, owner.what() + ".roles", errors);
  for (const model::Role role : {model::Role::prefill, model::Role::decode}) {
    const std::string_view name = model::name(role);
    const Node* given = roles.take_required(name);
    ErrorList ignored;  // takes the errors of a role that the file lacks
    ErrorList& found = given == nullptr ? ignored : errors;
    const Node role_node = inherited(given == nullptr ? Node{} : *given, owner.node());
    Fields fields(role_node, fmt::format("{}.{}", roles.what(), name), found);
    model::Service part = service;
    part.name += fmt::format(" {}", name);
    if (role == model::Role::decode) part.prefill_service = {static_cast<std::uint32_t>(catalog.services.size() - 1)};
    read_role(fields, role, std::move(part), {}, catalog, scenario, found);
    fields.finish();
  }
  read_role_limits(roles, scenario, catalog, errors);
  roles.finish();
  const auto models = [&](std::size_t i) { return scenario.endpoints.back().roles[i].engine->model; };
  if (roles.ok() && models(0) != models(1)) {
    errors.fail(node.place,
                fmt::format("{}: prefill runs {}, decode {}, expected one model whose KV can be handed over",
                            roles.what(), models(0), models(1)));
  }
}

/// Returns the default weight of a variant in the router: the requests of usual length that a replica serves at once
/// within the SLO, by the engine table. With such weights all variants are full at the same load.
std::int64_t usual_weight(const RoleSpec& spec, const model::Slo& slo) {
  namespace scale = decide::scale;
  const scale::EngineEstimate engine =
      scale::estimate_engine(spec.engine, 1'000'000, model::Role::both, spec.stated_limits);
  return std::max<std::int64_t>(scale::capacity(engine, {}, {}, scale::slo_for_mean_prompt(slo, engine, {})).batch, 1);
}

void read_weights(std::span<const Node> items, const std::string& owner, const model::Slo& slo, EndpointSpec& endpoint,
                  ErrorList& errors) {
  const auto given = [](const Node& item) { return item.find("weight") != nullptr; };
  if (std::ranges::any_of(items, given)) {
    const auto lacks = std::ranges::find_if_not(items, given);
    if (lacks == items.end()) return;
    return errors.fail(lacks->place, owner +
                                         ".variants: found a variant without weight, expected a weight on every "
                                         "variant or on none");
  }
  if (!errors.ok()) return;  // the default needs a valid engine and SLO
  for (RoleSpec& spec : endpoint.roles) spec.weight = usual_weight(spec, slo);
}

/// Reads the variants behind one endpoint. Each becomes a service of the catalog, and the first one lists the others.
void read_variants(std::span<const Node> items, const Fields& owner, const model::Service& service,
                   model::Catalog& catalog, Scenario& scenario, ErrorList& errors) {
  constexpr std::size_t kMax = model::Service::kMaxAlternatives + 1;
  if (items.size() < 2 || items.size() > kMax) {
    errors.fail(items.front().place,
                fmt::format("{}.variants: found {}, expected 2 to {}", owner.what(), items.size(), kMax));
    items = items.first(std::min(items.size(), kMax));
  }
  const manifest::Mark engines_found(errors);
  EndpointSpec& endpoint = scenario.endpoints.back();
  for (std::size_t i = 0; i < items.size(); ++i) {
    const Node item = inherited(items[i], owner.node());
    Fields fields(item, fmt::format("{}.variants.{}", owner.what(), i), errors);
    RoleSpec spec;
    if (fields.take_required("name") != nullptr) fields.text("name", spec.name);
    fields.integer("weight", spec.weight, 1, 10'000);
    for (const RoleSpec& other : endpoint.roles) {
      if (!spec.name.empty() && other.name == spec.name) {
        errors.fail(item.find("name")->place,
                    fmt::format("{}.variants: \"{}\" is given twice", owner.what(), spec.name));
      }
    }
    model::Service part = service;
    part.name += " " + spec.name;
    read_role(fields, model::Role::both, std::move(part), spec, catalog, scenario, errors);
    fields.finish();
    if (catalog.services.back().survives) {
      errors.fail(item.place, fmt::format("{}.replicas.survive: found on one of several variants, expected it "
                                          "where a service has one",
                                          fields.what()));
    }
    if (i > 0) catalog.services[endpoint.first.value].alternatives.push_back(endpoint.service_of(i));
    if (engines_found.ok() && endpoint.roles[i].engine->model != endpoint.roles[0].engine->model) {
      errors.fail(item.place,
                  fmt::format("{}: runs {}, the first variant {}, expected one model behind one endpoint",
                              fields.what(), endpoint.roles[i].engine->model, endpoint.roles[0].engine->model));
    }
  }
  read_weights(items, owner.what(), service.slo, endpoint, errors);
}

void read_kv_transfer(const Node& node, const std::string& owner, KvTransfer& transfer, ErrorList& errors) {
  Fields fields(node, owner + ".kv_transfer", errors);
  fields.bytes_per_second("bandwidth", transfer.bytes_per_s, 1, std::int64_t{1} << 50);
  fields.duration("setup", transfer.setup, 0s, 10s);
  fields.finish();
}

/// Adds the rows of a user's own step times to the scenario's table.
void read_step_times(const Node& node, const std::string& owner, Scenario& scenario, ErrorList& errors) {
  const std::string path = resolved_path(node, scenario.file);
  const auto text = read_file(path, manifest::Limits{}.bytes);
  if (!text) {
    return errors.fail(
        node.place, fmt::format("{}.step_times: cannot read \"{}\", expected a table in the format of data/engines.csv",
                                owner, path));
  }
  Result<engine::EngineTable> table = scenario.engines->with_rows_of(*text, path);
  if (!table) return errors.fail(table.error());
  replace_engines(std::move(*table), scenario);
}

}  // namespace

void read_service(const Node& node, const std::string& owner, model::Catalog& catalog, Scenario& scenario,
                  ErrorList& errors) {
  EndpointSpec& endpoint = scenario.endpoints.emplace_back();
  endpoint.first = {static_cast<std::uint32_t>(catalog.services.size())};
  Fields fields(node, owner, errors);
  model::Service service;
  service.name = "service";
  fields.text("name", service.name);
  endpoint.name = service.name;
  fields.text("team", endpoint.team);
  fields.integer("priority", service.workload.priority, -kMaxPriority, kMaxPriority);
  if (owner != "service") fields.take("load");
  enum class Engine : std::uint8_t { vllm } engine = Engine::vllm;
  fields.choice<Engine>("engine", engine, {{"vllm", Engine::vllm}});
  fields.check("step_times", [&](const Node& rows, ErrorList& v) { read_step_times(rows, owner, scenario, v); });
  if (const Node* slo = fields.take_required("slo"))
    read_slo(*slo, owner == "service" ? "slo" : owner + ".slo", service.slo, errors);
  read_queue(fields, catalog, service.workload.queue, errors);
  fields.share_ppm("engine_perturbation", endpoint.engine_perturbation_ppm, 0, 500'000);
  if (const Node* router = fields.take("router")) read_router(*router, owner, endpoint.fleet, errors);
  if (const Node* client = fields.take("client")) read_client(*client, owner, endpoint.fleet.client, errors);
  if (const Node* roles = fields.take("roles")) {
    for (const std::string_view key : kReplicaKeys) fields.take(key);  // each role reads them
    fields.check("kv_transfer", [&](const Node& transfer, ErrorList& v) {
      read_kv_transfer(transfer, owner, endpoint.kv_transfer, v);
    });
    read_roles(*roles, fields, service, catalog, scenario, errors);
  } else if (const auto variants = fields.non_empty_list("variants"); !variants.empty()) {
    for (const std::string_view key : kReplicaKeys) fields.take(key);  // each variant reads them
    read_variants(variants, fields, service, catalog, scenario, errors);
  } else {
    read_role(fields, model::Role::both, std::move(service), {}, catalog, scenario, errors);
  }
  fields.finish();
}

}  // namespace capstan::scenario
