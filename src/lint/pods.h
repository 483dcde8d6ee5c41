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

// The kinds of objects that make pods, and the GPUs that these pods ask for.
namespace capstan::lint {

/// A pod template of an object. A Deployment has one, a LeaderWorkerSet may have two, and a Pod is its own template.
struct Pod {
  const Value* metadata = nullptr;
  const Value* spec = nullptr;
  const Value* container = nullptr;  ///< only container, if the specification does not list it
};
/// The pods of one object, at most 32. Rules use them often, so they are stored without an allocation.
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
/// Returns the kind of controller that makes the pods of an object; none if the object holds no pods.
std::optional<PodMaker> pod_maker(const Object& object);
/// Returns true if an operator makes the pods and adds probes, volumes or environment to what the manifest states.
bool is_operated(const Object& object);
/// Returns true if the pods are made exactly as written and run until they are deleted, which excludes jobs.
bool serves(const Object& object);

/// The containers of a pod, from one list or from two. In patches and snippets a container may be a plain name.
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
/// Returns true for an init container that runs next to the containers until the pod ends.
bool is_sidecar(const Value& init_container);

/// Returns true if the object is a part to be merged into another object: its containers have no image, and it has no
/// selector.
bool is_partial(const Object& object);

/// A GPU resource that a container asks for, such as nvidia.com/gpu or nvidia.com/mig-1g.10gb. Services of Dynamo write
/// `gpu`.
struct GpuResource {
  std::string_view name;
  const Value* limit = nullptr;  ///< entry under limits; null if not stated
  const Value* request = nullptr;

  std::optional<std::int64_t> count() const;  ///< number in the limit, or in the request if there is no limit
  const Value& quantity() const { return limit != nullptr ? *limit : *request; }
};
bool is_gpu_resource(std::string_view name);
bool is_whole_gpu(std::string_view name);
std::vector<GpuResource> gpu_resources(const Value& container);

/// Returns the entries under limits and then those under requests.
std::vector<const Value*> resource_amounts(const Value& container);

/// Returns the amount that the scheduler counts for a pod: the sum of its containers and sidecars, or the amount of an
/// init container with the sidecars before it if that is more.
/// @param amount_of  amount of a container, at most 2^40, so that no sum overflows
std::int64_t scheduled_amount(const Pod& pod, std::int64_t (*amount_of)(const Value& container));

/// Returns the number of whole GPUs that the scheduler counts for a pod, in the same way as `scheduled_amount`.
std::int64_t gpus_of(const Pod& pod);
/// Returns true if a pod asks for a GPU or a part of one, directly or by a ResourceClaim.
bool wants_gpu(const Pod& pod);
bool wants_gpu(const Object& object);

/// Returns true if the object names a GPU resource, even with the number 0, or a ResourceClaim. Rules of GPU workloads
/// check such objects.
bool asks_for_gpu(const Object& object);

/// Returns true if the object serves requests on GPUs. Jobs do not.
bool serves_on_gpu(const Object& object);

/// Returns the first container or sidecar that asks for a GPU; a missing value if none does.
const Value& gpu_container(const Pod& pod);

/// A pod that asks for a GPU, with the first container that asks for one.
struct GpuPod {
  Pod pod;
  const Value& container;
};
std::vector<GpuPod> gpu_pods_of(const Object& object);

/// Returns the number of GPUs of the object's largest pod.
std::int64_t gpus_of_largest_pod(const Object& object);

/// Returns the seconds that the preStop hook of a container sleeps; none if it does not sleep.
std::optional<std::int64_t> pre_stop_sleep_s(const Value& container);

/// Returns true if `labels` hold all of `match_labels`, and `match_labels` is not empty.
bool selects(const Value& match_labels, const Value& labels);

/// Returns the HorizontalPodAutoscalers and ScaledObjects in the object's folder that name it as their target.
std::vector<const Object*> scalers_of(const Object& object, const Set& set);
/// Returns true if there is evidence that a scaler of the object is deployed together with it.
bool is_surely_scaled(const Object& object, const Set& set);
/// Returns true if there is evidence that a scaler that may also remove replicas is deployed together with the object.
bool is_surely_scaled_down(const Object& object, const Set& set);

}  // namespace capstan::lint
