#include "lint/pods.h"
#include "lint/rule.h"

namespace capstan::lint {
namespace memory_not_hbm {
namespace {

void check(const Subject& s) {
  for (const Pod& pod : pods_of(s.object)) {
    for (const Value* container : all_containers_of(pod)) {
      for (const std::string_view list : {"requests", "limits"}) {
        const Value& memory = (*container)["resources"][list]["memory"];
        if (!memory || memory.shared) continue;
        const manifest::LineTable& lines = s.object.file->lines();
        const std::string_view line = lines.line(lines.at(memory.span.begin).line);
        const std::size_t comment = line.find('#');
        if (comment == line.npos) continue;
        const std::string_view text = line.substr(comment);
        if (text.find("HBM") == text.npos && text.find("VRAM") == text.npos) continue;
        s.report(memory, "memory is host memory and does not include GPU memory");
      }
    }
  }
}

}  // namespace
}  // namespace memory_not_hbm

extern const Rule rule_memory_not_hbm;
const Rule rule_memory_not_hbm = {
    .id = "memory-not-hbm",
    .severity = Severity::info,
    .kinds = "@pods",
    .title = "the memory request is meant as GPU memory",
    .why =
        "requests.memory is host memory. GPU memory is not requested, because a GPU always comes with all of its "
        "memory.",
    .fix = "request the host memory that loading and the KV-cache offload need",
    .source = "Kubernetes documentation, resources",
    .bad = R"(apiVersion: v1
kind: Pod
metadata: {name: a}
spec:
  containers:
    - name: a
      image: "a:1"
      resources:
        limits:
          nvidia.com/gpu: 1
          memory: 160Gi  # HBM of the GPUs
)",
    .good = R"(apiVersion: v1
kind: Pod
metadata: {name: a}
spec:
  containers:
    - name: a
      image: "a:1"
      resources:
        limits:
          nvidia.com/gpu: 1
          memory: 160Gi  # weights while they are loaded
)",
    .check = memory_not_hbm::check,
};

}  // namespace capstan::lint
