#include <algorithm>

#include "lint/container_start.h"
#include "lint/pods.h"
#include "lint/rule.h"

namespace capstan::lint {
namespace cache_check_sentinel_wrong {
namespace {

bool is_weights(std::string_view path) {
  return path.ends_with("/model.safetensors") || path.ends_with("/pytorch_model.bin") || path.ends_with("/model.bin");
}

/// Returns true if the weights of the pod's model are so large that their repository has several files.
bool is_sharded(const Pod& pod) {
  constexpr double kOneFileGb = 10;
  return std::ranges::any_of(containers_of(pod),
                             [](const Value* container) { return weights_gb(*container).value_or(0) > kOneFileGb; });
}

void check(const Subject& s) {
  for (const Pod& pod : pods_of(s.object)) {
    for (const Value* container : init_containers_of(pod)) {
      bool is_recursive = false;
      std::optional<CommandWord> tested;
      for (const std::vector<CommandWord>& command : commands_of(start_of(*container))) {
        bool is_test = false;
        for (const CommandWord& word : command) {
          is_recursive = is_recursive || word.text == "--recursive" || word.text == "sync" || word.text == "-r";
          is_test = is_test || word.text == "-f" || word.text == "-e";
          if (is_test && is_weights(word.text)) tested = word;
        }
      }
      if (!tested || !is_recursive) continue;
      Finding& finding =
          s.report_span(span_of(*s.object.file, *container, *tested),
                        "a sharded checkpoint has no file of this name, so the check fails at every start");
      if (!is_sharded(pod)) finding.set_severity(Severity::info);
    }
  }
}

}  // namespace
}  // namespace cache_check_sentinel_wrong

extern const Rule rule_cache_check_sentinel_wrong;
const Rule rule_cache_check_sentinel_wrong = {
    .id = "cache-check-sentinel-wrong",
    .severity = Severity::warning,
    .kinds = "@pods",
    .title = "the model cache is checked by a file that never exists",
    .why =
        "A large model consists of many files such as model-00001-of-00030.safetensors. A check for model.safetensors "
        "always fails, so every start downloads the model again. A check for the first file accepts a download that "
        "was interrupted. The finding is advice unless the name of the model states more than 10 GB of weights.",
    .fix = "write a marker last, under a lock, in the folder of the model: /cache/llama-3-70b/.complete",
    .source = "Hugging Face layouts of sharded checkpoints",
    .bad = R"(apiVersion: v1
kind: Pod
metadata: {name: a}
spec:
  initContainers:
    - name: get
      image: "aws-cli:2"
      command:
        - sh
        - -c
        - |
          if [ ! -f /model-cache/model.safetensors ]; then
            aws s3 cp s3://models/llama-3-70b/ /model-cache/ --recursive
          fi
  containers:
    - name: a
      image: "vllm/vllm-openai:v0.20.0"
      args: [--model, meta-llama/Llama-3.3-70B-Instruct]
      resources: {limits: {nvidia.com/gpu: 1}}
)",
    .good = R"(apiVersion: v1
kind: Pod
metadata: {name: a}
spec:
  initContainers:
    - name: get
      image: "aws-cli:2"
      command:
        - sh
        - -c
        - |
          if [ ! -f /model-cache/llama-3-70b/.complete ]; then
            aws s3 cp s3://models/llama-3-70b/ /model-cache/llama-3-70b/ --recursive &&
              touch /model-cache/llama-3-70b/.complete
          fi
  containers:
    - name: a
      image: "vllm/vllm-openai:v0.20.0"
      args: [--model, meta-llama/Llama-3.3-70B-Instruct]
      resources: {limits: {nvidia.com/gpu: 1}}
)",
    .check = cache_check_sentinel_wrong::check,
};

}  // namespace capstan::lint
