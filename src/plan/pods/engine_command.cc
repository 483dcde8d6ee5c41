#include "plan/pods/engine_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/assert.h"
#include "plan/fleet/engine_limits.h"
#include "plan/objects/names.h"
#include "plan/pods/weight_cache.h"

namespace capstan::plan {

namespace {

constexpr std::int64_t kNixlPort = 5600, kRayPort = 6379, kSglangPort = 20000, kTritonMetricsPort = 8002;

Yaml container_port(std::string_view name, std::int64_t number) {
  return Yaml::map({{"name", name}, {"containerPort", number}});
}

/// Returns a variable with the address of the pod.
Yaml pod_address(std::string_view name) {
  Yaml out = Yaml::map({{"name", name}});
  out["valueFrom"]["fieldRef"].set("fieldPath", "status.podIP");
  return out;
}

/// Returns the part of a GPU's memory that each of the pods that share it may take: 0.45 for the default of 0.9 and two
/// pods. MPS refuses memory above 1/shares.
std::string memory_share(double whole, std::int64_t shares) {
  return fmt::format("{:.2f}", std::floor(100 * whole / static_cast<double>(shares)) / 100);
}

void add_vllm(const ServiceSpec& service, const RoleFleet& role, std::int64_t drain_s, EngineCommand& out) {
  std::vector<std::string> flags = {fmt::format("--served-model-name={}", service.served_model_name),
                                    fmt::format("--tensor-parallel-size={}", role.engine.tensor_parallel()),
                                    fmt::format("--max-num-seqs={}", kEngineLimits.max_seqs),
                                    fmt::format("--max-num-batched-tokens={}", kEngineLimits.max_batched_tokens),
                                    fmt::format("--port={}", kPortNumber),
                                    fmt::format("--shutdown-timeout={}", drain_s)};
  if (role.engine.stages > 1) flags.push_back(fmt::format("--pipeline-parallel-size={}", role.engine.stages));
  if (quantizes_weights(service, role.engine.weight_dtype)) flags.emplace_back("--quantization=fp8");
  if (role.gpu_shares > 1) flags.push_back("--gpu-memory-utilization=" + memory_share(0.9, role.gpu_shares));
  if (role.role != model::Role::both) {
    flags.emplace_back(R"(--kv-transfer-config={"kv_connector": "NixlConnector", "kv_role": "kv_both"})");
    out.environment.push_back(pod_address("VLLM_NIXL_SIDE_CHANNEL_HOST"));
    out.ports.push_back(container_port("kv-transfer", kNixlPort));
  }
  if (role.pods < 2) {
    out.args.push_back(fmt::format("--model={}", model_folder(service)));
    out.args.insert(out.args.end(), flags.begin(), flags.end());
    return;
  }
  std::string words;
  for (const std::string& flag : flags) {
    words += flag.find(' ') == flag.npos ? " " + flag : fmt::format(" '{}'", flag);
  }
  out.command = {"sh", "-c"};
  out.args = {fmt::format("ray start --head --port={}\nexec vllm serve {}{} --distributed-executor-backend=ray\n",
                          kRayPort, model_folder(service), words)};
}

void add_sglang(const ServiceSpec& service, const RoleFleet& role, EngineCommand& out) {
  out.command = {"python3", "-m", "sglang.launch_server"};
  out.args = {fmt::format("--model-path={}", model_folder(service)),
              fmt::format("--served-model-name={}", service.served_model_name),
              fmt::format("--tp-size={}", role.engine.tensor_parallel()),
              fmt::format("--max-running-requests={}", kEngineLimits.max_seqs),
              fmt::format("--chunked-prefill-size={}", kEngineLimits.max_batched_tokens),
              "--host=0.0.0.0",
              fmt::format("--port={}", kPortNumber),
              "--enable-metrics"};
  if (role.engine.stages > 1) out.args.push_back(fmt::format("--pp-size={}", role.engine.stages));
  if (quantizes_weights(service, role.engine.weight_dtype)) out.args.emplace_back("--quantization=fp8");
  if (role.gpu_shares > 1) out.args.push_back("--mem-fraction-static=" + memory_share(0.85, role.gpu_shares));
  if (role.role != model::Role::both) {
    out.args.push_back(
        fmt::format("--disaggregation-mode={}", role.role == model::Role::prefill ? "prefill" : "decode"));
    out.args.emplace_back("--disaggregation-transfer-backend=nixl");
  }
  if (role.pods > 1) {
    out.args.push_back(fmt::format("--nnodes={}", role.pods));
    out.args.emplace_back("--node-rank=$(LWS_WORKER_INDEX)");
    out.args.push_back(fmt::format("--dist-init-addr=$(LWS_LEADER_ADDRESS):{}", kSglangPort));
  }
}

}  // namespace

bool supports_gang(Engine engine) { return engine == Engine::vllm || engine == Engine::sglang; }
bool bounds_gpu_memory(Engine engine) { return supports_gang(engine); }
bool supports_disaggregation(Engine engine) { return supports_gang(engine); }

std::optional<MissingCommand> missing_command(const ServiceSpec& service, const RoleFleet& role) {
  if (role.pods > 1 && !supports_gang(service.engine)) {
    return MissingCommand{"the plan has no command for this engine on several pods",
                          "use vLLM or SGLang, or fewer GPUs for a replica"};
  }
  if (service.is_disaggregated && service.pipeline_parallel > 1) {
    return MissingCommand{
        "the plan has no command that hands KV memory from prefill to decode replicas with pipeline stages",
        "use pipeline_parallel: 1 with a larger tensor_parallel, or replicas that do both"};
  }
  if (service.engine == Engine::tensorrt_llm && quantizes_weights(service, role.engine.weight_dtype)) {
    return MissingCommand{"TensorRT-LLM serves FP8 only from weights that are stored as FP8",
                          fmt::format("name such a checkpoint as the model of the service, or leave out dtype, in "
                                      "place of {}",
                                      service.served_model_name)};
  }
  return std::nullopt;
}

bool drains_itself(Engine engine) { return engine == Engine::vllm; }

EngineCommand engine_command(const ServiceSpec& service, const RoleFleet& role, std::int64_t drain_s) {
  EngineCommand out{.ports = {container_port(kPort, kPortNumber)}, .health_path = "/health"};
  switch (service.engine) {
    case Engine::vllm:
      add_vllm(service, role, drain_s, out);
      break;
    case Engine::sglang:
      add_sglang(service, role, out);
      break;
    case Engine::tensorrt_llm:
      out.command = {"trtllm-serve", model_folder(service)};
      out.args = {"--host=0.0.0.0",
                  fmt::format("--port={}", kPortNumber),
                  fmt::format("--tp_size={}", role.engine.tensor_parallel()),
                  fmt::format("--max_batch_size={}", kEngineLimits.max_seqs),
                  fmt::format("--max_num_tokens={}", kEngineLimits.max_batched_tokens),
                  fmt::format("--served_model_name={}", service.served_model_name),
                  fmt::format("--extra_llm_api_options={}/{}", kConfigMount, kConfigFile)};
      if (role.engine.stages > 1) out.args.push_back(fmt::format("--pp_size={}", role.engine.stages));
      // Without chunks, a prompt that is longer than a step is refused.
      out.config = "return_perf_metrics: true\nenable_iter_perf_stats: true\nenable_chunked_prefill: true\n";
      break;
    case Engine::triton:
      // One process for each GPU, as the tensorrtllm backend wants it.
      out.command = {"mpirun", "--allow-run-as-root", "-n", fmt::format("{}", role.engine.tp), "tritonserver"};
      out.args = {fmt::format("--model-repository={}", kModelsMount), fmt::format("--http-port={}", kPortNumber),
                  fmt::format("--metrics-port={}", kTritonMetricsPort)};
      out.ports.push_back(container_port("metrics", kTritonMetricsPort));
      out.health_path = "/v2/health/ready";
      break;
  }
  return out;
}

EngineCommand worker_command(const ServiceSpec& service, const RoleFleet& role) {
  CAPSTAN_ASSERT(supports_gang(service.engine));
  if (service.engine == Engine::vllm) {
    return {.command = {"sh", "-c"},
            .args = {fmt::format("exec ray start --block --address=$(LWS_LEADER_ADDRESS):{}", kRayPort)}};
  }
  EngineCommand out;
  add_sglang(service, role, out);
  return out;
}

}  // namespace capstan::plan
