#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "lint/object.h"
#include "lint/set.h"

// What makes pods, and what those ask of GPUs.
namespace capstan::lint {

/// A pod template of an object: Deployments have one, a LeaderWorkerSet may have two, a Pod is one itself.
struct Pod {
  const Value* metadata = nullptr;
  const Value* spec = nullptr;
  const Value* container = nullptr;  ///< its only container, where that is not listed in the specification
};
/// The pods of one object, without memory of their own: rules ask for them often. An object with more has the first.
class Pods {
 public:
  void add(const Pod& pod) {
    if (count_ < pods_.size()) pods_[count_++] = pod;
  }
  const Pod* begin() const { return pods_.data(); }
  const Pod* end() const { return pods_.data() + count_; }
  std::size_t size() const { return count_; }
  const Pod& operator[](std::size_t index) const { return pods_[index]; }

 private:
  std::array<Pod, 32> pods_{};
  std::size_t count_ = 0;
};
Pods pods_of(const Object& object);
/// Returns what makes the pods of an object; none where it holds no pods.
std::optional<PodMaker> pod_maker(const Object& object);
/// Returns true if an operator makes the pods and adds to what is written: probes, volumes, environment.
bool is_operated(const Object& object);
/// Returns true for what makes pods as they are written, which run until they are deleted: a server, and no job.
bool serves(const Object& object);

/// Containers of a pod, of one list or of two. Patches and snippets name containers without saying more.
class Containers {
 public:
  using List = std::span<const Value>;
  explicit Containers(List first, List second = {}) : first_(first), second_(second) {}

  struct Iterator {
    using difference_type = std::ptrdiff_t;
    using value_type = const Value*;
    const Value* at = nullptr;
    const Value* end_of_first = nullptr;
    const Value* second = nullptr;
    bool in_second = true;
    const Value* operator*() const { return at; }
    Iterator& operator++() {
      ++at;
      if (!in_second && at == end_of_first) {
        at = second;
        in_second = true;
      }
      return *this;
    }
    Iterator operator++(int) {
      const Iterator before = *this;
      ++*this;
      return before;
    }
    bool operator==(const Iterator& other) const { return at == other.at && in_second == other.in_second; }
  };
  Iterator begin() const {
    if (first_.empty()) return {.at = second_.data()};
    return {first_.data(), first_.data() + first_.size(), second_.data(), false};
  }
  Iterator end() const { return {.at = second_.data() + second_.size()}; }

 private:
  List first_, second_;
};
Containers containers_of(const Pod& pod);
Containers init_containers_of(const Pod& pod);
/// Returns the containers, then the init containers.
Containers all_containers_of(const Pod& pod);
/// Returns true for an init container that runs beside the others until the pod ends.
bool is_sidecar(const Value& init_container);

/// A part of an object, to be merged into another: its containers have no image, and nothing selects its pods.
bool is_partial(const Object& object);

/// A GPU resource that a container asks for: nvidia.com/gpu, nvidia.com/mig-1g.10gb, ...; Dynamo's services say gpu.
struct GpuResource {
  std::string_view name;
  const Value* limit = nullptr;  ///< null where it is not there
  const Value* request = nullptr;

  std::optional<std::int64_t> count() const;  ///< of the limit, else of the request
  const Value& where() const { return limit != nullptr ? *limit : *request; }
};
bool is_gpu_resource(std::string_view name);
bool is_whole_gpu(std::string_view name);
std::vector<GpuResource> gpu_resources(const Value& container);

/// Whole GPUs that a pod is scheduled by: those of its containers and sidecars, or of its largest init container.
std::int64_t gpus_of(const Pod& pod);
/// Any GPU, whole or in parts, or a claim for one.
bool wants_gpu(const Pod& pod);
bool wants_gpu(const Object& object);

/// Names a GPU in any way, of none (0), too: what rules of GPU workloads look at.
bool asks_for_gpu(const Object& object);

/// Serves requests on GPUs: a workload that goes on, and not a job.
bool serves_on_gpu(const Object& object);

/// Returns the first container or sidecar that asks for a GPU; missing where none does.
const Value& gpu_container(const Pod& pod);

/// A pod that asks for a GPU, with its first container that does.
struct GpuPod {
  Pod pod;
  const Value& container;
};
std::vector<GpuPod> gpu_pods_of(const Object& object);

/// The GPUs of the largest of an object's pods.
std::int64_t gpus_of_largest_pod(const Object& object);

/// The seconds that a container's preStop hook sleeps.
std::optional<std::int64_t> pre_stop_sleep_s(const Value& container);

/// Do a selector's labels hold of these?
bool selects(const Value& match_labels, const Value& labels);

/// What scales the object, in its folder: HorizontalPodAutoscalers and ScaledObjects that name it.
std::vector<const Object*> scalers_of(const Object& object, const Set& set);
/// Returns true if there is evidence that one of these is deployed together with it.
bool is_surely_scaled(const Object& object, const Set& set);

}  // namespace capstan::lint
