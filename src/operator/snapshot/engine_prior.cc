#include "operator/snapshot/engine_prior.h"

#include "engine/table.h"

namespace capstan::op {
namespace {

/// Returns the engine's stated limits as text; empty if it has none.
std::string limits_text(const model::StepLimits& limits) {
  std::string text;
  if (limits.max_seqs > 0) text += ", " + std::to_string(limits.max_seqs) + " sequences at most";
  if (limits.max_batched_tokens > 0) text += ", steps of " + std::to_string(limits.max_batched_tokens) + " tokens";
  return text;
}

/// The policy's estimate without a row is in src/decide/scale/capstan/capacity.cc.
constexpr const char* kWithout =
    "; the row of another model is used until replicas have reported step times with at least three running requests";

}  // namespace

EnginePrior engine_prior(const model::Catalog& catalog, const model::Workload& workload, bool gpu_known) {
  const engine::EngineTable& table = engine::EngineTable::bundled();
  const std::string& gpu = catalog.gpu_kind(workload.gpu);
  if (!gpu_known) {
    return {false, "GpuNotKnown",
            "gpu: the nodes have several kinds and no pod of the target has a node yet, expected a "
            "GPU kind in this field; until then " +
                gpu + " is assumed"};
  }
  const Result<const engine::EngineRow*> row =
      table.find(workload.model, gpu, workload.gpus_per_replica, workload.dtype);
  if (!row) return {false, "NotInEngineTable", "engineProfile: " + row.error().message + kWithout};
  return {true, "InEngineTable",
          (*row)->model + " in " + (*row)->weight_dtype + " on " + std::to_string((*row)->tp) + " x " + (*row)->gpu +
              limits_text(workload.step_limits)};
}

}  // namespace capstan::op
