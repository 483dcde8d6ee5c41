#include <fmt/format.h>

#include "lint/container_start.h"
#include "lint/facts.h"
#include "lint/pods.h"
#include "lint/rule.h"

namespace capstan::lint {
namespace engine_flag_removed {
namespace {

/// Returns the flag without a value: "--swap-space" of "--swap-space=4".
std::string_view flag_of(std::string_view word) {
  return word.starts_with("--") ? word.substr(0, word.find_first_of("= ")) : std::string_view();
}

/// Returns true for vLLM's own image with a tag that always stands for the newest version.
bool is_newest(std::string_view image) {
  return image == "vllm/vllm-openai" || image.ends_with("/vllm/vllm-openai") ||
         image.ends_with("vllm/vllm-openai:latest") || image.ends_with("vllm/vllm-openai:nightly");
}

void check_word(const Subject& s, const Value& container, const CommandWord& word) {
  const RemovedFlag* removed = removed_flag("vllm", flag_of(word.text));
  if (removed == nullptr) return;
  const std::string_view image = container["image"].text;
  const auto minor = vllm_minor_of(image);
  const bool newest = is_newest(image);
  if (minor ? *minor < minor_of(removed->removed_in) : !newest) return;
  Finding& finding = s.report_span(
      span_of(*s.object.file, container, word),
      fmt::format("vLLM removed the flag {} in version {} ({}) and exits at its start with \"unrecognized arguments\"",
                  removed->flag, removed->removed_in, removed->source));
  constexpr std::string_view kNothing = "nothing";  // followed by a reason: "nothing: --reasoning-parser is enough"
  finding.suggest(removed->instead.starts_with(kNothing)
                      ? fmt::format("delete the flag{}", removed->instead.substr(kNothing.size()))
                      : fmt::format("use {}", removed->instead));
  if (newest) finding.set_severity(Severity::warning);  // a node may still have an older image with this tag
}

void check(const Subject& s) {
  for (const Pod& pod : pods_of(s.object)) {
    for (const Value* container : all_containers_of(pod)) {
      const std::optional<EngineCommand> engine = engine_of(start_of(*container));
      if (!engine || engine->kind != EngineKind::vllm) continue;
      for (const CommandWord& word : engine->words) check_word(s, *container, word);
    }
  }
}

}  // namespace
}  // namespace engine_flag_removed

extern const Rule rule_engine_flag_removed;
const Rule rule_engine_flag_removed = {
    .id = "engine-flag-removed",
    .severity = Severity::error,
    .kinds = "@pods",
    .title = "the engine's version no longer has this flag",
    .why =
        "The engine refuses unknown flags and exits at its start. The pod restarts again and again and never serves. "
        "The version comes from the image's tag. For the tag latest the finding is a warning.",
    .fix = "use the flag that replaces it; the message names it",
    .source = "vLLM pull requests, each in data/lint/removed_flags.csv",
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
          args: [--model, m, --swap-space, "4", --shutdown-timeout, "150"]
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
    .check = engine_flag_removed::check,
};

}  // namespace capstan::lint
