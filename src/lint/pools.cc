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
    const bool excludes_gpus = op == "Lt" || (op == "In" && values.count == 1 && values[0].is("0"));
    return !excludes_gpus;
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

/// Returns the category of a family: g for "g6e", gr for "gr6".
std::string_view category_of(std::string_view family) { return family.substr(0, family.find_first_of("0123456789")); }

/// Returns the generation of a family: 5 for "g5g". Returns none if the name has no number.
std::optional<std::int64_t> generation_of(std::string_view family) {
  const std::size_t digit = family.find_first_of("0123456789");
  if (digit == family.npos) return std::nullopt;
  return family[digit] - '0';
}

/// Returns true if a numeric requirement allows a number. A bound that is not an integer allows all numbers.
bool allows_number(const Value& entry, std::int64_t number) {
  if (!entry || entry["values"].count == 0) return true;
  const std::string_view op = entry["operator"].text;
  const auto is_equal = [&](const Value& value) { return value.integer() == number; };
  const bool is_listed = std::ranges::any_of(entry["values"].children(), is_equal);
  if (op == "In") return is_listed;
  if (op == "NotIn") return !is_listed;
  const auto bound = entry["values"][0].integer();
  if (!bound) return true;
  return op == "Gt"    ? number > *bound
         : op == "Gte" ? number >= *bound
         : op == "Lt"  ? number < *bound
         : op == "Lte" ? number <= *bound
                       : true;
}

/// Returns true if a requirement allows a GPU memory. Clouds report sizes that differ from the round number, so a
/// deviation of 10 % is allowed.
bool allows_memory(const Value& entry, std::int64_t gib) {
  const std::int64_t mib = gib * 1024;
  if (entry["operator"].is("In") || entry["operator"].is("NotIn")) {
    const bool is_listed = std::ranges::any_of(entry["values"].children(), [&](const Value& value) {
      return std::abs(value.integer().value_or(0) - mib) * 10 < mib;
    });
    return entry["operator"].is("In") ? is_listed : !is_listed;
  }
  return allows_number(entry, mib) || allows_number(entry, mib - mib / 10) || allows_number(entry, mib + mib / 10);
}

bool allows(const Value& entry, std::string_view value) {
  if (!entry) return true;
  const std::string_view op = entry["operator"].text;
  const bool is_listed = std::ranges::any_of(entry["values"].children(), [&](const Value& v) { return v.is(value); });
  return op == "In" ? is_listed : op == "NotIn" ? !is_listed : true;
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
  pool.has_gpus = has_gpus(pool);
  return pool;
}

std::optional<Pool> gpu_pool_of(const Object& object) {
  std::optional<Pool> pool = pool_of(object);
  return pool && pool->has_gpus ? pool : std::nullopt;
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
  const Value& family_entry = requirement(pool, "instance-family");
  const Value& type_entry = requirement(pool, "instance-type");
  const Value& listed = type_entry["operator"].is("In") ? type_entry : family_entry;
  if (listed["operator"].is("In")) {
    for (const Value& value : listed["values"].children()) {
      if (allows(family_entry, value.text.substr(0, value.text.find('.')))) add(gpu_family(value.text));
    }
  }
  const Value& category = requirement(pool, "instance-category");
  if (out.empty() && category["operator"].is("In")) {
    const Value& generation = requirement(pool, "instance-generation");
    for (const GpuFamily& family : gpu_families()) {
      if (!allows(category, category_of(family.family)) || !allows(family_entry, family.family)) continue;
      const auto number = generation_of(family.family);
      if (!number || allows_number(generation, *number)) add(&family);
    }
  }
  const Value& memory = requirement(pool, "instance-gpu-memory");  // memory per GPU, MiB
  std::erase_if(out, [&](const GpuFamily* family) {
    return !allows(names, family->gpu) || !allows_memory(memory, family->memory_gib);
  });
  return out;
}

std::vector<std::string> instance_types_of(const Pool& pool) {
  std::vector<std::string> types;
  const Value& family_entry = requirement(pool, "instance-family");
  const Value& size_entry = requirement(pool, "instance-size");
  const Value& type_entry = requirement(pool, "instance-type");
  if (type_entry["operator"].is("In")) {
    for (const Value& type : type_entry["values"].children()) {
      const std::string_view family = type.text.substr(0, type.text.find('.'));
      const std::string_view size = type.text.substr(std::min(family.size() + 1, type.text.size()));
      if (allows(family_entry, family) && allows(size_entry, size)) types.emplace_back(type.text);
    }
  } else if (family_entry["operator"].is("In") && size_entry["operator"].is("In")) {
    for (const Value& family : family_entry["values"].children()) {
      for (const Value& size : size_entry["values"].children()) {
        types.push_back(std::string(family.text) + "." + std::string(size.text));
      }
    }
  }
  return types;
}

bool is_general_pool(const Pool& pool, const Set& set) {
  constexpr std::string_view kNames[] = {"default", "general", "main", "karpenter", "general-purpose"};
  if (std::ranges::find(kNames, pool.object->name) == std::end(kNames)) return false;
  return set.in_closest_folder("NodePool", *pool.object).size() +
             set.in_closest_folder("Provisioner", *pool.object).size() ==
         1;
}

bool allows_spot(const Pool& pool) {
  const Value& types = requirement(pool, "capacity-type");
  return types["operator"].is("In") &&
         std::ranges::any_of(types["values"].children(), [](const Value& type) { return type.is("spot"); });
}

bool is_narrowed(const Pool& pool) {
  for (const std::string_view key : {"instance-family", "instance-type"}) {
    if (requirement(pool, key)["operator"].is("In")) return false;
  }
  constexpr std::string_view kSizes[] = {"instance-cpu",       "instance-memory",     "instance-size",
                                         "instance-gpu-count", "instance-local-nvme", "instance-network-bandwidth"};
  return std::ranges::any_of(kSizes, [&](std::string_view key) { return static_cast<bool>(requirement(pool, key)); });
}

bool launches_only_gpus(const Pool& pool) {
  return std::ranges::any_of((*pool.node)["requirements"].children(), names_gpus);
}

bool is_tainted(const Pool& pool) {
  return std::ranges::any_of((*pool.node)["taints"].children(), [](const Value& taint) {
    return taint["effect"].is("NoSchedule") || taint["effect"].is("NoExecute");
  });
}

bool tolerates(const Value& toleration, const Value& taint) {
  if (toleration["key"] && !taint["key"].is(toleration["key"].text)) return false;
  if (toleration["effect"] && !taint["effect"].is(toleration["effect"].text)) return false;
  return toleration["operator"].is("Exists") || toleration["value"].text == taint["value"].text;
}

std::optional<std::int64_t> seconds_of(std::string_view text) {
  const std::optional<Duration> duration = manifest::read_duration(text);
  if (!duration) return std::nullopt;
  return std::chrono::duration_cast<std::chrono::seconds>(*duration).count();
}

}  // namespace capstan::lint
