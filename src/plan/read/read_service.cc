#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "engine/names.h"
#include "plan/read/read_parts.h"
#include "scenario/nearest_model.h"

namespace capstan::plan {

namespace {

using manifest::ErrorList;
using manifest::Fields;
using manifest::Node;
using namespace std::chrono_literals;

/// Returns the default container image of an engine, in the version whose flags and metrics the manifests use.
std::string_view default_image(Engine engine) {
  switch (engine) {
    case Engine::vllm:
      return "vllm/vllm-openai:v0.25.1";
    case Engine::sglang:
      return "lmsysorg/sglang:v0.5.18";
    case Engine::tensorrt_llm:
      return "nvcr.io/nvidia/tensorrt-llm/release:1.2.1";
    case Engine::triton:
      return "nvcr.io/nvidia/tritonserver:25.05-trtllm-python-py3";
  }
  return "";
}

void read_spec_bound(Fields& fields, std::string_view key, Duration& out) {
  // In an Slo, 0 means that there is no bound. A stated 0 becomes the shortest bound, which the comparison with the
  // steps of the engine refuses.
  if (fields.duration(key, out, 0s, 24h) && out == 0s) out = Duration{1};
}

void read_spec_slo(const Node& node, const std::string& owner, ServiceSpec& service, DefaultList& defaults,
                   ErrorList& errors) {
  Fields fields(node, owner + ".slo", errors);
  read_spec_bound(fields, "ttft_p99", service.slo.ttft);
  read_spec_bound(fields, "tpot", service.slo.tpot);
  read_spec_bound(fields, "e2e", service.slo.e2e);
  fields.share_ppm("attainment", service.slo.attainment_ppm, 1, 1'000'000);
  defaults.note(fields, "attainment", "99 %", "a bound on the 99th percentile");
  if (fields.take("goodput_per_second") != nullptr) {
    fields.number("goodput_per_second", service.goodput_per_s.emplace(0), 0, 1e7);
  }
  fields.finish();
  if (fields.ok() && service.slo.ttft == 0s && service.slo.tpot == 0s && service.slo.e2e == 0s) {
    errors.fail(node.place,
                fmt::format("{} states no bound, expected at least one of ttft_p99, tpot or e2e", fields.what()));
  }
}

/// Returns the weight type: the stated one, else the type of all rows of the model if they have only one, else the
/// type that the model's name says.
std::string chosen_dtype(const ServiceSpec& service, const std::string& of_name, bool is_stated,
                         const engine::EngineTable& table) {
  const std::string& wanted = is_stated ? service.dtype : of_name;
  if (wanted == "bf16" || wanted == "fp16" || wanted == "float16") return "bfloat16";
  if (is_stated) return wanted;
  std::set<std::string> known;
  for (const engine::EngineRow& row : table.rows()) {
    if (row.model == service.model) known.insert(row.weight_dtype);
  }
  return known.size() == 1 ? *known.begin() : wanted;
}

/// Finds the rows of a model in the engine table. Names a similar model if there are none.
void find_spec_model(const Fields& fields, const std::string& served, bool has_dtype, ServiceSpec& service,
                     const PlanSpec& spec, ErrorList& errors) {
  const auto known = engine::model_of_name(*spec.engines, served);
  service.model = known ? known->model : served;
  service.dtype = chosen_dtype(service, known ? known->weight_dtype : "bfloat16", has_dtype, *spec.engines);
  std::vector<std::string_view> models;
  bool has_model = false, has_rows = false;
  for (const engine::EngineRow& row : spec.engines->rows()) {
    if (std::ranges::find(models, row.model) == models.end()) models.push_back(row.model);
    has_model |= row.model == service.model;
    has_rows |= row.model == service.model && row.weight_dtype == service.dtype;
  }
  if (!has_model) {
    errors.fail(
        fields.place_for_error({"model"}),
        fmt::format("{}.model: the engine table has no \"{}\", expected {}{}; for another model, state a table of your "
                    "own step times with step_times",
                    fields.what(), served, manifest::one_of(models), scenario::nearest_model_words(served, models)),
        ErrorKind::infeasible);
  } else if (!has_rows) {
    errors.fail(fields.place_for_error({"dtype", "model"}),
                fmt::format("{}: the engine table has no row of {} in {}, expected bfloat16 or fp8", fields.what(),
                            service.model, service.dtype),
                ErrorKind::infeasible);
  }
}

/// Returns the largest divisor of `number` that is at most `most`.
std::int64_t largest_divisor(std::int64_t number, std::int64_t most) {
  std::int64_t divisor = std::min(number, most);
  while (number % divisor != 0) --divisor;
  return divisor;
}

/// Reads the minima of prefill and decode replicas, which only a disaggregated service has.
void read_role_minima(Fields& fields, ServiceSpec& service, ErrorList& errors) {
  for (const auto& [key, minimum] : {std::pair("min_prefill_replicas", &service.min_prefill_replicas),
                                     std::pair("min_decode_replicas", &service.min_decode_replicas)}) {
    if (fields.take(key) == nullptr) continue;
    fields.integer(key, minimum->emplace(1), 1, 10'000);
    if (service.is_disaggregated) continue;
    errors.fail(fields.place_for_error({key}),
                fmt::format("{}: {} is stated for replicas that both prefill and decode, expected min_replicas, or "
                            "disaggregated: true",
                            fields.what(), key));
  }
}

/// Checks that a service may use a part of a GPU.
void check_sharing(const Fields& fields, const ServiceSpec& service, ErrorList& errors) {
  if (!service.may_share_gpu) return;
  if (service.sharing_memory_gib == 0) {
    errors.fail(fields.place_for_error({"may_share_gpu"}),
                fmt::format("{}: may_share_gpu needs memory_gib, the GPU memory of a replica", fields.what()));
  }
  const std::int64_t gpus = service.tensor_parallel.value_or(1) * service.pipeline_parallel;
  if (gpus > 1) {
    errors.fail(fields.place_for_error({"may_share_gpu", "tensor_parallel"}),
                fmt::format("{0}: a part of one GPU cannot be {1} GPUs, {2} more than it has; the nearest that is "
                            "possible is {3}: 1 or may_share_gpu: false",
                            fields.what(), gpus, gpus - 1,
                            service.pipeline_parallel > 1 ? "pipeline_parallel" : "tensor_parallel"),
                ErrorKind::infeasible);
  }
}

/// Returns the stated GPUs of a replica; nothing if the search chooses them.
std::optional<std::int64_t> gpus_of(const ServiceSpec& service) {
  if (!service.tensor_parallel) return std::nullopt;
  return *service.tensor_parallel * service.pipeline_parallel;
}

void read_spec_shape(Fields& fields, ServiceSpec& service, PlanSpec& spec, DefaultList& defaults, ErrorList& errors) {
  if (fields.take("tensor_parallel") != nullptr) {
    fields.integer("tensor_parallel", service.tensor_parallel.emplace(1), 1, 1024);
  }
  defaults.note(fields, "tensor_parallel", "found by search", "the cheapest that holds the SLO");
  fields.integer("pipeline_parallel", service.pipeline_parallel, 1, 64);
  defaults.note(fields, "pipeline_parallel", "1", "every GPU of a replica has a part of each layer");
  if (fields.ok() && service.pipeline_parallel > 1) {
    spec.engines = std::make_shared<const engine::EngineTable>(spec.engines->with_stages(service.pipeline_parallel));
  }
  const std::optional<std::int64_t> gpus = gpus_of(service);
  fields.integer("pods_per_replica", service.pods_per_replica, 1, 1024);
  defaults.note(fields, "pods_per_replica", "1", "one pod has all GPUs of a replica");
  fields.boolean("disaggregated", service.is_disaggregated);
  defaults.note(fields, "disaggregated", "false", "replicas that both prefill and decode");
  fields.boolean("may_share_gpu", service.may_share_gpu);
  defaults.note(fields, "may_share_gpu", "false", "whole GPUs");
  fields.integer("memory_gib", service.sharing_memory_gib, 1, 10'000);
  fields.integer("min_replicas", service.min_replicas, 1, 10'000);
  defaults.note(fields, "min_replicas", fmt::format("{}", service.min_replicas), "lower end of the search");
  read_role_minima(fields, service, errors);
  fields.integer("max_replicas", service.max_replicas, 1, 10'000);
  defaults.note(fields, "max_replicas", fmt::format("{}", service.max_replicas), "upper end of the search");
  for (const auto& [key, minimum] : {std::pair("min_replicas", std::optional(service.min_replicas)),
                                     std::pair("min_prefill_replicas", service.min_prefill_replicas),
                                     std::pair("min_decode_replicas", service.min_decode_replicas)}) {
    if (!fields.ok() || minimum.value_or(0) <= service.max_replicas) continue;
    errors.fail(fields.place_for_error({key, "max_replicas"}),
                fmt::format("{0}: {1} {2} is {3} above max_replicas {4}; the nearest that is possible is {1}: {4} or "
                            "max_replicas: {2}",
                            fields.what(), key, *minimum, *minimum - service.max_replicas, service.max_replicas),
                ErrorKind::infeasible);
  }
  if (gpus && *gpus % service.pods_per_replica != 0) {
    errors.fail(
        fields.place_for_error({"pods_per_replica", "tensor_parallel"}),
        fmt::format("{}: {} {} cannot be divided over {} pods, the remainder is {}; the nearest that is possible "
                    "is pods_per_replica: {}",
                    fields.what(),
                    service.pipeline_parallel > 1 ? "tensor_parallel x pipeline_parallel" : "tensor_parallel", *gpus,
                    service.pods_per_replica, *gpus % service.pods_per_replica,
                    largest_divisor(*gpus, service.pods_per_replica)),
        ErrorKind::infeasible);
  }
  check_sharing(fields, service, errors);
}

}  // namespace

ServiceSpec read_spec_service(const Node& node, PlanSpec& spec, ErrorList& errors) {
  ServiceSpec service;
  const Node* name = node.kind == Node::Kind::mapping ? node.find("name") : nullptr;
  service.name = name != nullptr ? name->text : fmt::format("service-{}", spec.services.size() + 1);
  const std::string owner = "services." + service.name;
  DefaultList defaults(spec.defaults);
  Fields fields(node, owner, errors);
  if (fields.text("name", service.name)) check_kube_name(fields, "name", service.name, false, errors);
  defaults.note(fields, "name", service.name, "its position in the list", DefaultKind::name);
  const manifest::Mark read_model(errors);
  if (fields.take_required("model") != nullptr) fields.text("model", service.served_model_name);
  fields.choice<Engine>("engine", service.engine,
                        {{"vllm", Engine::vllm},
                         {"sglang", Engine::sglang},
                         {"tensorrt-llm", Engine::tensorrt_llm},
                         {"triton", Engine::triton}});
  defaults.note(fields, "engine", "vllm", "the engine whose step times the table has");
  service.image = default_image(service.engine);
  service.has_stated_secret = fields.text("model_secret", service.model_secret);
  if (service.has_stated_secret) check_kube_name(fields, "model_secret", service.model_secret, true, errors);
  defaults.note(fields, "model_secret", service.model_secret, "needed only if the hub gates the model",
                DefaultKind::name);
  fields.text("image", service.image);
  defaults.note(fields, "image", service.image, "its flags and metrics are those of the manifests", DefaultKind::name);
  const bool has_dtype = fields.text("dtype", service.dtype);
  if (read_model.ok() && !service.served_model_name.empty()) {
    find_spec_model(fields, service.served_model_name, has_dtype, service, spec, errors);
  }
  defaults.note(fields, "dtype", service.dtype, "from the name of the model");
  read_spec_shape(fields, service, spec, defaults, errors);
  if (const Node* slo = fields.take_required("slo")) read_spec_slo(*slo, owner, service, defaults, errors);
  read_spec_cold_start(fields, owner, service, spec, errors);
  service.tenant = spec.tenants.empty() ? "production" : spec.tenants.front().name;
  fields.text("tenant", service.tenant);
  defaults.note(fields, "tenant", service.tenant, "the first tenant", DefaultKind::name);
  read_spec_load(fields.take("load"), owner, service, spec, errors);
  fields.finish();
  return service;
}

}  // namespace capstan::plan
