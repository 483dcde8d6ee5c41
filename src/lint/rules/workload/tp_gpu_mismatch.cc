#include <fmt/format.h>

#include "lint/container_start.h"
#include "lint/pods.h"
#include "lint/rule.h"

namespace capstan::lint {
namespace tp_gpu_mismatch {
namespace {

/// Returns true for an engine that spans pods. Such an engine counts the GPUs of all pods, and each rank is configured
/// with that number.
bool spans_pods(const Subject& s, const Value& container, const EngineCommand& engine) {
  const PodMaker maker = pod_maker(s.object).value_or(PodMaker::plain);
  if (maker == PodMaker::grouped || maker == PodMaker::merged || at(s.object, "spec.predictor.workerSpec")) return true;
  const auto backend = engine.flag({"--distributed-executor-backend"});
  const bool is_group =
      s.object.kind == "LeaderWorkerSet" && at(s.object, "spec.leaderWorkerTemplate.size").integer().value_or(2) > 1;
  return is_group || (backend && backend->text != "mp" && backend->text != "uni") ||
         (engine.flag({"--nnodes"}) && engine.number({"--nnodes"}) != 1) ||
         engine.flag({"--dist-init-addr", "--nodes", "--master-addr", "--node-rank", "--headless"}) ||
         engine.flag({"--data-parallel-address", "--data-parallel-rank", "--data-parallel-start-rank",
                      "--data-parallel-hybrid-lb", "--data-parallel-external-lb"}) ||
         joins_other_pods(start_of(container));
}

/// Reports an engine that needs another number of GPUs than the limit grants.
void compare(const Subject& s, const Value& limit, const EngineCommand& engine) {
  const std::optional<std::int64_t> gpus = limit.integer();
  const std::optional<std::int64_t> needed = wanted_gpus(engine);
  if (!gpus || *gpus == 0 || !needed || *needed == *gpus) return;
  Finding& finding = s.report(
      limit,
      *needed > *gpus
          ? fmt::format("the engine needs {} GPUs but the container has {}, so it does not start", *needed, *gpus)
          : fmt::format("the engine uses {} of {} GPUs; {} are idle and cost money", *needed, *gpus, *gpus - *needed));
  if (*needed < *gpus) finding.set_severity(Severity::warning);
  if (!engine.flag({"--tensor-parallel-size", "-tp", "--tp", "--tp-size"})) finding.mark_absence();
}

/// Checks a service of a DynamoGraphDeployment whose replicas have one pod each. Version v1alpha1 states the GPUs in
/// the service and not in its container.
void check_dynamo_service(const Subject& s, const Value& service) {
  if (service["multinode"]["nodeCount"].integer().value_or(1) > 1) return;
  const Value& container = at(service, "extraPodSpec.mainContainer");
  const auto engine = manifest::dynamo_worker_of(start_of(container));
  const Value& own_limit = at(service, "resources.limits.gpu");
  if (engine) compare(s, own_limit ? own_limit : at(container, "resources.limits")["nvidia.com/gpu"], *engine);
}

void check(const Subject& s) {
  for (const Value& service : at(s.object, "spec.services").children()) {
    if (s.object.kind == "DynamoGraphDeployment") check_dynamo_service(s, service);
  }
  if (s.object.kind == "DynamoComponentDeployment") check_dynamo_service(s, s.object["spec"]);
  for (const Pod& pod : pods_of(s.object)) {
    for (const Value* container : all_containers_of(pod)) {
      const Value& limit = at(*container, "resources.limits")["nvidia.com/gpu"];
      const std::optional<EngineCommand> engine = engine_of(start_of(*container));
      if (!engine || spans_pods(s, *container, *engine) || engines_in(start_of(*container)) > 1) continue;
      compare(s, limit, *engine);
    }
  }
}

}  // namespace
}  // namespace tp_gpu_mismatch

extern const Rule rule_tp_gpu_mismatch;
const Rule rule_tp_gpu_mismatch = {
    .id = "tp-gpu-mismatch",
    .severity = Severity::error,
    .kinds = "@gpu",
    .title = "the engine's parallelism and the container's GPUs differ",
    .why =
        "With fewer GPUs than it needs the engine does not start. With more, the others are idle and cost money, which "
        "is a warning.",
    .fix = "set tensor x pipeline (x local data) parallelism so that it equals the GPU limit of the container",
    .source = "vLLM and SGLang documentation",
    .bad = R"(apiVersion: v1
kind: Pod
metadata: {name: a}
spec:
  containers:
    - name: a
      image: vllm/vllm-openai:v0.11.0
      args: [--model, m, --tensor-parallel-size, "4"]
      resources: {limits: {nvidia.com/gpu: 8}}
)",
    .good = R"(apiVersion: v1
kind: Pod
metadata: {name: a}
spec:
  containers:
    - name: a
      image: vllm/vllm-openai:v0.11.0
      args: [--model, m, --tensor-parallel-size, "4"]
      resources: {limits: {nvidia.com/gpu: 4}}
)",
    .check = tp_gpu_mismatch::check,
};

}  // namespace capstan::lint
