#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "lint/facts.h"
#include "lint/object.h"

// What buys nodes: Karpenter's NodePools, and the Provisioners of before.
namespace capstan::lint {

struct Pool {
  const Object* object = nullptr;
  const Value* spec = nullptr;      ///< of the pool
  const Value* metadata = nullptr;  ///< of its nodes
  const Value* node = nullptr;      ///< the spec of its nodes: requirements, taints
  const Value* limits = nullptr;
  bool gpu = false;  ///< its nodes have GPUs
};

bool is_pool(std::string_view kind);
std::optional<Pool> pool_of(const Object& object);
/// A pool whose nodes have GPUs; none for any other object.
std::optional<Pool> gpu_pool_of(const Object& object);

/// The requirement of a key, whatever group its name stands in ("instance-family"); missing where there is none.
const Value& requirement(const Pool& pool, std::string_view key_ending);

/// The GPU families that a pool's requirements name, by family or by instance type, and those of a category that its
/// other requirements leave.
std::vector<const GpuFamily*> families_of(const Pool& pool);

/// Its requirements leave fewer instance types than `families_of` can tell: by their size, not by their family.
bool is_narrowed(const Pool& pool);

/// Its nodes are kept for pods that tolerate them.
bool is_tainted(const Pool& pool);

/// A duration as Kubernetes writes it, in seconds: "5m", "1h30m", "300s". None for "Never" and for what is none.
std::optional<std::int64_t> seconds_of(std::string_view text);

}  // namespace capstan::lint
