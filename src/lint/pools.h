#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lint/facts.h"
#include "lint/object.h"
#include "lint/set.h"

// Node pools: Karpenter's NodePools, and its older Provisioners.
namespace capstan::lint {

/// The shortest time that an empty GPU node should wait before it is terminated: a new node with a replica takes about
/// as long to start, and the next burst would have to wait for it. Rules, their fixes and the guide on consolidation
/// agree on it.
constexpr std::int64_t kMinEmptyWaitS = 600;
/// The time that a fix writes. The linter does not know the load, so it is on the safe side.
constexpr std::string_view kSafeEmptyWait = "1h";

struct Pool {
  const Object* object = nullptr;
  const Value* spec = nullptr;      ///< specification of the pool
  const Value* metadata = nullptr;  ///< metadata of the pool's nodes
  const Value* node = nullptr;      ///< specification of the pool's nodes: requirements, taints
  const Value* limits = nullptr;
  bool has_gpus = false;  ///< true if its nodes have GPUs
};

bool is_pool(std::string_view kind);
std::optional<Pool> pool_of(const Object& object);
/// Returns the pool if its nodes have GPUs; none for any other object.
std::optional<Pool> gpu_pool_of(const Object& object);

/// Returns the requirement whose key, without its group, is this name ("instance-family"). Returns a missing value if
/// there is none.
const Value& requirement(const Pool& pool, std::string_view key_ending);

/// Returns the GPU families that the pool's requirements allow, by family, by instance type or by category.
std::vector<const GpuFamily*> families_of(const Pool& pool);

/// Returns the AWS instance types that the pool's requirements list, by type or by family and size. Returns none if the
/// requirements list no types.
std::vector<std::string> instance_types_of(const Pool& pool);

/// Returns true if the pool may be the only pool of its cluster: its folder has no other pool, and its name, such as
/// "default", states no purpose. Such a pool also runs the pods that need no GPU.
bool is_general_pool(const Pool& pool, const Set& set);

/// Returns true if the pool may buy spot nodes, which the cloud takes back at any time.
bool allows_spot(const Pool& pool);

/// Returns true if the requirements list neither families nor types but limit the instance types in ways that
/// `families_of` ignores, such as by size.
bool is_narrowed(const Pool& pool);

/// Returns true if a requirement of the pool allows only instances with GPUs. A limit on GPUs does not show that.
bool launches_only_gpus(const Pool& pool);

/// Returns true if the pool's taints reserve its nodes for pods that tolerate them.
bool is_tainted(const Pool& pool);

/// Returns true if a toleration of a pod matches a taint of a node.
bool tolerates(const Value& toleration, const Value& taint);

/// Returns the seconds of a duration as Kubernetes writes it: "5m", "1h30m", "300s". Returns none for "Never" and for
/// any other text.
std::optional<std::int64_t> seconds_of(std::string_view text);

}  // namespace capstan::lint
