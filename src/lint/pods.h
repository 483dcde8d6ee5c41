#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
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
};
/// Few, and made often: they need no memory of their own. Of an object with more templates the first are looked at.
class Pods {
 public:
  void add(const Value& metadata, const Value& spec) {
    if (count_ < pods_.size()) pods_[count_++] = {&metadata, &spec};
  }
  const Pod* begin() const { return pods_.data(); }
  const Pod* end() const { return pods_.data() + count_; }
  std::size_t size() const { return count_; }
  const Pod& operator[](std::size_t index) const { return pods_[index]; }

 private:
  std::array<Pod, 8> pods_{};
  std::size_t count_ = 0;
};
Pods pods_of(const Object& object);
bool makes_pods(std::string_view kind);
/// An operator makes them, and adds to what is written: probes, volumes, environment.
bool is_operated(std::string_view kind);
/// Makes pods that go on: what serves, and no job.
bool serves(std::string_view kind);

/// The containers of a pod. Patches and snippets name containers without saying more.
class Containers {
 public:
  explicit Containers(const Value& list);

  struct Iterator {
    using difference_type = std::ptrdiff_t;
    using value_type = const Value*;
    const Value* at = nullptr;
    const Value* operator*() const { return at; }
    Iterator& operator++() {
      ++at;
      return *this;
    }
    Iterator operator++(int) { return {at++}; }
    bool operator==(const Iterator&) const = default;
  };
  Iterator begin() const { return {first_}; }
  Iterator end() const { return {first_ + count_}; }

 private:
  const Value* first_;
  std::size_t count_;
};
Containers containers_of(const Pod& pod);
Containers init_containers_of(const Pod& pod);

/// A part of an object, to be merged into another: its containers have no image, and nothing selects its pods.
bool is_partial(const Object& object);

/// A resource that a container asks for, of the kind that GPUs are: nvidia.com/gpu, nvidia.com/mig-1g.10gb, ...
struct GpuResource {
  std::string_view name;
  const Value* limit = nullptr;  ///< null where it is not there
  const Value* request = nullptr;

  std::optional<std::int64_t> count() const;  ///< of the limit, else of the request
  const Value& where() const { return limit != nullptr ? *limit : *request; }
};
bool is_gpu_resource(std::string_view name);
std::vector<GpuResource> gpu_resources(const Value& container);

/// Whole GPUs (nvidia.com/gpu) that the containers of a pod ask for.
std::int64_t gpus_of(const Pod& pod);
/// Any GPU, whole or in parts, or a claim for one.
bool wants_gpu(const Pod& pod);
bool wants_gpu(const Object& object);

/// Names a GPU in any way, of none (0), too: what rules of GPU workloads look at.
bool asks_for_gpu(const Object& object);

/// Serves requests on GPUs: a workload that goes on, and not a job.
bool serves_on_gpu(const Object& object);

/// The first container that asks for a GPU; missing where none does.
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

}  // namespace capstan::lint
