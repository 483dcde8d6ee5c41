#include "lint/pools.h"

#include <algorithm>
#include <cstdlib>

#include "base/time.h"
#include "lint/pods.h"
#include "manifest/scalars.h"

namespace capstan::lint {
namespace {

bool names_gpus(const Value& entry) {
  const std::string_view key = entry["key"].text;
  const std::string_view op = entry["operator"].text;
  const Value& values = entry["values"];
  if (op == "DoesNotExist" || op == "NotIn") return false;
  if (key.find("instance-gpu-") != key.npos) {
    const bool none = op == "Lt" || (op == "In" && values.count == 1 && values[0].is("0"));
    return !none;
  }
  if (op != "In") return false;
  if (key.ends_with("/instance-family") || key.ends_with("/instance-type")) {
    return values.count > 0 &&
           std::ranges::all_of(values.children(), [](const Value& v) { return gpu_family(v.text) != nullptr; });
  }
  if (key.ends_with("/instance-category")) {
    return values.count > 0 &&
           std::ranges::all_of(values.children(), [](const Value& v) { return v.is("g") || v.is("p"); });
  }
  return key == "cloud.google.com/gke-accelerator" || key.ends_with("/sku-gpu-name") || key == "nvidia.com/gpu.product";
}

bool has_gpus(const Pool& pool) {
  for (const Value& entry : (*pool.node)["requirements"].children()) {
    if (names_gpus(entry)) return true;
  }
  for (const Value& limit : pool.limits->children()) {
    if (is_gpu_resource(limit.key) && !limit.is("0")) return true;
  }
  return std::ranges::any_of((*pool.node)["taints"].children(),
                             [](const Value& taint) { return taint["key"].is("nvidia.com/gpu"); });
}

/// "g6e" is of category g, "gr6" of gr.
std::string_view category_of(std::string_view family) { return family.substr(0, family.find_first_of("0123456789")); }

/// "g5g" is of generation 5; nothing where a family has no number.
std::optional<std::int64_t> generation_of(std::string_view family) {
  const std::size_t digit = family.find_first_of("0123456789");
  if (digit == family.npos) return std::nullopt;
  return family[digit] - '0';
}

/// Does a requirement of a number leave this one? What cannot be read leaves all.
bool leaves(const Value& entry, std::int64_t number) {
  if (!entry || entry["values"].count == 0) return true;
  const std::string_view op = entry["operator"].text;
  const auto is_it = [&](const Value& value) { return value.integer() == number; };
  const bool named = std::ranges::any_of(entry["values"].children(), is_it);
  if (op == "In") return named;
  if (op == "NotIn") return !named;
  const auto bound = entry["values"][0].integer();
  if (!bound) return true;
  return op == "Gt"    ? number > *bound
         : op == "Gte" ? number >= *bound
         : op == "Lt"  ? number < *bound
         : op == "Lte" ? number <= *bound
                       : true;
}

/// The memory of a GPU as the cloud counts it is not exactly the round number: by a tenth, it may be either.
bool leaves_memory(const Value& entry, std::int64_t gib) {
  const std::int64_t mib = gib * 1024;
  if (entry["operator"].is("In") || entry["operator"].is("NotIn")) {
    const bool near = std::ranges::any_of(entry["values"].children(), [&](const Value& value) {
      return std::abs(value.integer().value_or(0) - mib) * 10 < mib;
    });
    return entry["operator"].is("In") ? near : !near;
  }
  return leaves(entry, mib) || leaves(entry, mib - mib / 10) || leaves(entry, mib + mib / 10);
}

bool allows(const Value& entry, std::string_view value) {
  if (!entry) return true;
  const std::string_view op = entry["operator"].text;
  const bool named = std::ranges::any_of(entry["values"].children(), [&](const Value& v) { return v.is(value); });
  return op == "In" ? named : op == "NotIn" ? !named : true;
}

}  // namespace

bool is_pool(std::string_view kind) { return kind == "NodePool" || kind == "Provisioner"; }

std::optional<Pool> pool_of(const Object& object) {
  if (!is_pool(object.kind) || object.group != "karpenter.sh") return std::nullopt;
  Pool pool{.object = &object, .spec = &object["spec"], .metadata = nullptr, .node = nullptr, .limits = nullptr};
  const bool old = object.kind == "Provisioner";
  const Value& node_template = (*pool.spec)["template"];
  pool.node = old ? pool.spec : &node_template["spec"];
  pool.metadata = old ? pool.spec : &node_template["metadata"];
  pool.limits = old ? &at(*pool.spec, "limits.resources") : &(*pool.spec)["limits"];
  pool.gpu = has_gpus(pool);
  return pool;
}

std::optional<Pool> gpu_pool_of(const Object& object) {
  std::optional<Pool> pool = pool_of(object);
  return pool && pool->gpu ? pool : std::nullopt;
}

const Value& requirement(const Pool& pool, std::string_view key_ending) {
  for (const Value& entry : (*pool.node)["requirements"].children()) {
    const std::string_view key = entry["key"].text;
    if (key == key_ending || (key.ends_with(key_ending) && key[key.size() - key_ending.size() - 1] == '/'))
      return entry;
  }
  return Value::missing();
}

std::vector<const GpuFamily*> families_of(const Pool& pool) {
  std::vector<const GpuFamily*> out;
  const auto add = [&](const GpuFamily* family) {
    if (family != nullptr && std::ranges::find(out, family) == out.end()) out.push_back(family);
  };
  const Value& names = requirement(pool, "instance-gpu-name");
  for (const std::string_view key : {"instance-family", "instance-type"}) {
    const Value& entry = requirement(pool, key);
    if (!entry["operator"].is("In")) continue;
    for (const Value& value : entry["values"].children()) add(gpu_family(value.text));
  }
  const Value& category = requirement(pool, "instance-category");
  const Value& family_entry = requirement(pool, "instance-family");
  if (out.empty() && category["operator"].is("In")) {
    const Value& generation = requirement(pool, "instance-generation");
    for (const GpuFamily& family : gpu_families()) {
      if (!allows(category, category_of(family.family)) || !allows(family_entry, family.family)) continue;
      const auto number = generation_of(family.family);
      if (!number || leaves(generation, *number)) add(&family);
    }
  }
  const Value& memory = requirement(pool, "instance-gpu-memory");  // of one GPU, in MiB
  std::erase_if(out, [&](const GpuFamily* family) {
    return !allows(names, family->gpu) || !leaves_memory(memory, family->memory_gib);
  });
  return out;
}

bool is_narrowed(const Pool& pool) {
  for (const std::string_view key : {"instance-family", "instance-type"}) {
    if (requirement(pool, key)["operator"].is("In")) return false;
  }
  constexpr std::string_view kSizes[] = {"instance-cpu",       "instance-memory",     "instance-size",
                                         "instance-gpu-count", "instance-local-nvme", "instance-network-bandwidth"};
  return std::ranges::any_of(kSizes, [&](std::string_view key) { return static_cast<bool>(requirement(pool, key)); });
}

bool is_tainted(const Pool& pool) {
  return std::ranges::any_of((*pool.node)["taints"].children(), [](const Value& taint) {
    return taint["effect"].is("NoSchedule") || taint["effect"].is("NoExecute");
  });
}

std::optional<std::int64_t> seconds_of(std::string_view text) {
  const std::optional<Duration> duration = manifest::read_duration(text);
  if (!duration) return std::nullopt;
  return std::chrono::duration_cast<std::chrono::seconds>(*duration).count();
}

}  // namespace capstan::lint
