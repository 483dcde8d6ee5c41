#include <fmt/format.h>

#include <algorithm>

#include "base/similar_names.h"
#include "lint/container_start.h"
#include "lint/pods.h"
#include "lint/rule.h"

namespace capstan::lint {
namespace engine_argument_malformed {
namespace {

/// Flags of vLLM that take no value.
constexpr std::string_view kSwitches[] = {
    "--trust-remote-code",       "--enforce-eager",     "--enable-prefix-caching",
    "--enable-auto-tool-choice", "--enable-lora",       "--enable-expert-parallel",
    "--enable-sleep-mode",       "--disable-log-stats", "--disable-custom-all-reduce",
    "--disable-log-requests"};
/// Flags of vLLM that manifests also write without their dashes.
constexpr std::string_view kFlags[] = {"model",         "host",
                                       "port",          "dtype",
                                       "max-model-len", "tensor-parallel-size",
                                       "quantization",  "gpu-memory-utilization",
                                       "max-num-seqs",  "served-model-name"};

/// Flags of vLLM that are so long that a similar word is the same flag, misspelt.
constexpr std::string_view kLongFlags[] = {
    "--tensor-parallel-size", "--pipeline-parallel-size", "--data-parallel-size",     "--gpu-memory-utilization",
    "--served-model-name",    "--enable-prefix-caching",  "--max-num-batched-tokens", "--enable-chunked-prefill",
    "--shutdown-timeout",     "--max-model-len",          "--trust-remote-code",      "--enable-expert-parallel"};

bool is_boolean(std::string_view text) {
  return text == "true" || text == "false" || text == "True" || text == "False";
}

/// Returns true if an argument holds a flag and its value, separated by a blank: "--port 8000", "-- port=8000".
bool joins_flag_and_value(const CommandWord& word) {
  if (word.size != CommandWord::kWhole || !word.text.starts_with("--")) return false;
  const std::size_t blank = word.text.find_first_of(" \t");
  return blank != std::string::npos && blank < word.text.find('=');
}

bool is_switch(std::string_view text) { return std::ranges::find(kSwitches, text) != std::end(kSwitches); }

/// Returns the switch of "--enforce-eager=true" or of "--enforce-eager true"; empty if the word has no needless value.
std::string_view switch_with_value(const CommandWord& word, const CommandWord* next) {
  const std::string_view text = word.text;
  const std::size_t equals = text.find('=');
  if (equals == text.npos) return next != nullptr && is_switch(text) && is_boolean(next->text) ? text : "";
  return is_switch(text.substr(0, equals)) ? text.substr(0, equals) : "";
}

/// Returns true if a word is a flag without its dashes: "port=8000". The result is false after a flag that may take the
/// word as its value.
bool lacks_dashes(const CommandWord& word, const CommandWord* previous) {
  const std::size_t equals = word.text.find('=');
  if (equals == std::string::npos) return false;
  const bool is_value =
      previous != nullptr && previous->text.starts_with("--") && previous->text.find('=') == std::string::npos;
  const std::string_view name = std::string_view(word.text).substr(0, equals);
  return !is_value && std::ranges::find(kFlags, name) != std::end(kFlags);
}

/// Returns the flag that a misspelt one means: "--tensor-parallel-size" for "--tenser-parallel-size=4". Empty for all
/// other words, also for an abbreviated flag, which vLLM accepts.
std::string_view misspelt_flag(const CommandWord& word) {
  constexpr std::size_t kMaxEdits = 2;
  if (!word.text.starts_with("--")) return {};
  std::string name = word.text.substr(0, word.text.find_first_of("= "));
  std::ranges::replace(name, '_', '-');
  for (const std::string_view flag : kLongFlags) {
    if (flag.starts_with(name)) return {};
  }
  for (const std::string_view flag : kLongFlags) {
    // The difference in length is a lower bound for the edit distance.
    const std::size_t longer = std::max(name.size(), flag.size()), shorter = std::min(name.size(), flag.size());
    if (longer - shorter <= kMaxEdits && edit_distance(name, flag) <= kMaxEdits) return flag;
  }
  return {};
}

void check_engine(const Subject& s, const Value& container, const EngineCommand& engine) {
  for (std::size_t i = 0; i < engine.words.size(); ++i) {
    const CommandWord& word = engine.words[i];
    const CommandWord* previous = i > 0 ? &engine.words[i - 1] : nullptr;
    const CommandWord* next = i + 1 < engine.words.size() ? &engine.words[i + 1] : nullptr;
    const Span span = span_of(*s.object.file, container, word);
    if (joins_flag_and_value(word)) {
      s.report_span(
          span, fmt::format("\"{}\" is one argument, so the engine finds no flag of this name and exits", word.text));
      continue;
    }
    if (engine.kind != EngineKind::vllm) continue;
    if (const std::string_view name = switch_with_value(word, next); !name.empty()) {
      s.report_span(span, fmt::format("{} takes no value, so vLLM exits at its start", name))
          .suggest("delete the value; to switch a feature off, delete the flag");
    } else if (lacks_dashes(word, previous)) {
      s.report_span(span, fmt::format("\"{}\" has no dashes, so vLLM does not take it for a flag", word.text))
          .suggest(fmt::format("write --{}", word.text))
          .set_meant_name("--" + word.text.substr(0, word.text.find('=')));
    } else if (const std::string_view flag = misspelt_flag(word); !flag.empty()) {
      s.report_span(span, fmt::format("vLLM has no flag {}, so it exits at its start; did you mean {}?",
                                      word.text.substr(0, word.text.find('=')), flag))
          .suggest(fmt::format("write {}", flag))
          .set_meant_name(flag);
    }
  }
}

void check(const Subject& s) {
  for (const Pod& pod : pods_of(s.object)) {
    for (const Value* container : all_containers_of(pod)) {
      const std::optional<EngineCommand> engine = engine_of(start_of(*container));
      if (engine) check_engine(s, *container, *engine);
    }
  }
}

}  // namespace
}  // namespace engine_argument_malformed

extern const Rule rule_engine_argument_malformed;
const Rule rule_engine_argument_malformed = {
    .id = "engine-argument-malformed",
    .severity = Severity::error,
    .kinds = "@pods",
    .title = "the engine cannot read an argument",
    .why =
        "Kubernetes passes each item of args as one argument, without a shell that splits it. The engine does not know "
        "the flag \"--port 8000\", and a switch such as --enforce-eager accepts no value. The engine prints an error "
        "and exits, and the pod restarts again and again. Findings that follow from a misspelt flag are left out.",
    .fix = "write flag and value as two items, or as --flag=value",
    .source = "Python argparse; vLLM's engine arguments",
    .bad = R"(apiVersion: apps/v1
kind: Deployment
metadata: {name: a}
spec:
  selector: {matchLabels: {a: b}}
  template:
    spec:
      containers:
        - name: vllm
          image: vllm/vllm-openai:v0.18.0
          args: [--model, m, --shutdown-timeout 150]
          resources: {limits: {nvidia.com/gpu: 1}}
)",
    .good = R"(apiVersion: apps/v1
kind: Deployment
metadata: {name: a}
spec:
  selector: {matchLabels: {a: b}}
  template:
    spec:
      containers:
        - name: vllm
          image: vllm/vllm-openai:v0.18.0
          args: [--model, m, --shutdown-timeout, "150"]
          resources: {limits: {nvidia.com/gpu: 1}}
)",
    .check = engine_argument_malformed::check,
};

}  // namespace capstan::lint
