#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/unit_text.h"
#include "plan/objects/charts.h"
#include "plan/objects/names.h"
#include "plan/objects/scheduling.h"
#include "plan/pods/engine_command.h"
#include "plan/pools/mig_table.h"
#include "plan/pools/pool_sharing.h"
#include "plan/pools/pools.h"
#include "plan/pools/sharing_choice.h"
#include "plan/sections/metrics_setup.h"
#include "plan/sections/sections.h"

namespace capstan::plan {

namespace {

constexpr std::string_view kOperatorNamespace = "gpu-operator";
constexpr std::string_view kMigConfig = "capstan-mig-config";
constexpr std::string_view kDevicePluginConfig = "capstan-device-plugin";

/// The choice for the replicas of one role.
struct SharedRole {
  std::string workload{};
  const RoleFleet* role = nullptr;
  SharingChoice choice{};
};

/// Returns the choice for a role as its pool allows it: MPS divides all GPUs of a node.
SharingChoice choice_in_pool(const PlanFacts& facts, const ServiceSpec& service, const RoleFleet& role) {
  SharingChoice choice = choose_sharing(service, kind_of_tenant(facts.spec, service.tenant), role);
  if (choice.sharing != Sharing::mps) return choice;
  const std::string pool = device_of(role).pool;
  const std::int64_t shares = mps_shares(facts, pool);
  if (!bounds_gpu_memory(service.engine)) {
    return {.why = fmt::format("the plan has no flag by which {} takes only a part of a GPU's memory",
                               engine_key(service.engine))};
  }
  if (shares < 2) {
    return {.why = fmt::format("MPS divides all GPUs of a node, and the pool {} also runs pods that need whole GPUs",
                               pool)};
  }
  if (shares < choice.per_gpu)
    choice.why += fmt::format("; {} in the pool {}, because another workload of it needs more memory", shares, pool);
  choice.per_gpu = shares;
  return choice;
}

std::vector<SharedRole> shared_roles(const PlanFacts& facts) {
  std::vector<SharedRole> roles;
  for (const auto& [service, plan] : planned_services(facts)) {
    for (const RoleFleet& role : plan.roles) {
      roles.push_back({.workload = workload_name(service, role.role),
                       .role = &role,
                       .choice = choice_in_pool(facts, service, role)});
    }
  }
  return roles;
}

/// Returns PCI device and vendor of a product, as mig-parted's device-filter wants them.
Yaml device_filter(const lint::MigProduct& product) {
  Yaml filter = Yaml::list();
  for (const std::string_view device : product.pci_devices) filter.add(fmt::format("0x{}10DE", device));
  return filter;
}

Yaml mig_entry(const lint::MigProduct& product, const lint::MigGeometry& geometry) {
  Yaml devices;
  for (const lint::MigGeometry::Part& part : geometry.parts) devices.set(part.profile, part.count);
  return Yaml::map(
      {{"device-filter", device_filter(product)}, {"devices", "all"}, {"mig-enabled", true}, {"mig-devices", devices}});
}

/// Returns the MIG geometries of the plan by name. The name is the value of the node label nvidia.com/mig.config.
std::map<std::string, Yaml> mig_configs(const std::vector<SharedRole>& roles) {
  std::map<std::string, Yaml> configs;
  std::map<std::string, std::vector<std::string>> proposed;  // profiles without step times, by GPU kind
  for (const SharedRole& shared : roles) {
    const std::string& gpu = shared.role->engine.gpu;
    const lint::MigProduct* product = mig_product_of(gpu);
    if (product == nullptr) continue;
    if (shared.choice.sharing == Sharing::slice) {
      const std::vector<std::string> profiles{shared.choice.profile};
      configs[pool_name(gpu)] = Yaml::list({mig_entry(*product, fill_gpu(*product, profiles))});
    } else if (shared.choice.sharing == Sharing::slice_unmeasured) {
      std::vector<std::string>& profiles = proposed[gpu];
      if (std::ranges::find(profiles, shared.choice.profile) == profiles.end())
        profiles.push_back(shared.choice.profile);
    }
  }
  for (const auto& [gpu, profiles] : proposed) {
    const lint::MigProduct* product = mig_product_of(gpu);
    configs[pool_name(gpu) + "-small-models"] = Yaml::list({mig_entry(*product, fill_gpu(*product, profiles))});
  }
  return configs;
}

void add_mig(Section& section, const std::map<std::string, Yaml>& configs) {
  Yaml all;
  all.set("all-disabled", Yaml::list({Yaml::map({{"devices", "all"}, {"mig-enabled", false}})}));
  for (const auto& [name, config] : configs) all.set(name, config);
  const Yaml file = Yaml::map({{"version", "v1"}, {"mig-configs", all}});
  Yaml object = kube_object("v1", "ConfigMap", kMigConfig, kOperatorNamespace);
  object["data"].set("config.yaml", file.document(), "the GPU Operator reads no other key");
  section.manifests.push_back({.file = "sharing/mig-config.yaml", .body = std::move(object), .is_on_page = true});
  Yaml values;
  values["mig"].set("strategy", "mixed", "slices have names of their own: nvidia.com/mig-1g.10gb");
  values["migManager"].set("enabled", true);
  values["migManager"].set("config", Yaml::map({{"name", kMigConfig}, {"default", "all-disabled"}}));
  section.manifests.push_back(
      {.file = "sharing/values/gpu-operator-mig.yaml", .body = std::move(values), .is_object = false});
  section.statements.push_back(
      {.name = "change of a geometry",
       .value = "on an empty node",
       .why = "the GPU Operator applies nvidia.com/mig.config when no process uses the GPUs, so cordon and drain the "
              "node first; new nodes get the label when they start",
       .evidence = Evidence::assumed});
}

/// Returns the config of the device plugin that divides each GPU between `shares` pods.
Yaml device_plugin_config(std::string_view sharing_key, std::int64_t shares) {
  Yaml file = Yaml::map({{"version", "v1"}});
  Yaml& sharing = file["sharing"][sharing_key];
  if (sharing_key == "timeSlicing") sharing.set("failRequestsGreaterThanOne", true);
  sharing.set("resources", Yaml::list({Yaml::map({{"name", kGpuResource}, {"replicas", shares}})}));
  return file;
}

/// Says why no service is time-sliced, and offers time-slicing for the work that MPS divides.
void add_time_slicing(const PlanFacts& facts, Section& section, const std::vector<SharedRole>& roles) {
  if (std::ranges::none_of(facts.spec.services, &ServiceSpec::may_share_gpu)) return;
  const auto is_mps = [](const SharedRole& role) { return role.choice.sharing == Sharing::mps; };
  const bool has_mps = std::ranges::any_of(roles, is_mps);
  section.statements.push_back(
      {.name = "time-slicing",
       .value = has_mps ? "an option for batch work" : "not used",
       .why = fmt::format("replicas take turns, so the load of one makes the steps of the others longer, and nothing "
                          "bounds its memory: no SLO holds for sure{}",
                          has_mps ? "; batch work without an SLO may use it where one replica must not end the others, "
                                    "because replicas under MPS share a server, and a fault of one ends all"
                                  : ""),
       .evidence = Evidence::none});
  std::set<std::string> pools;
  for (const SharedRole& shared : roles) {
    const std::string pool = device_of(*shared.role).pool;
    if (!is_mps(shared) || !has_gpu_operator(facts.spec.cluster) || !pools.insert(pool).second) continue;
    section.apply.push_back(
        {.step = ApplyStep::devices,
         .command = fmt::format("kubectl label nodes --selector {}={} {}={} --overwrite", kPoolLabel, pool,
                                kDevicePluginLabel, time_slicing_config(pool)),
         .purpose = fmt::format("time-slicing in place of MPS on the nodes of {}, once they are empty", pool),
         .is_optional = true});
  }
}

/// Says that nodes and costs are upper bounds under MPS, because the simulations do not share GPUs.
void add_mps_bound(Section& section, const std::vector<SharedRole>& roles) {
  std::int64_t most = 0;
  for (const SharedRole& shared : roles) {
    if (shared.choice.sharing == Sharing::mps) most = std::max(most, shared.choice.per_gpu);
  }
  if (most == 0) return;
  section.statements.push_back(
      {.name = "nodes and cost under MPS",
       .value = "at most those of the plan",
       .why = fmt::format("the simulations give each replica a whole GPU, because the steps of replicas that share one "
                          "were not measured; with {} replicas on a GPU, as few as 1/{} of the GPUs are needed",
                          most, most),
       .visibility = Visibility::page});
}

void add_mps(Section& section, const std::vector<SharedRole>& roles) {
  Yaml data;
  for (const SharedRole& shared : roles) {
    if (shared.choice.sharing != Sharing::mps) continue;
    const std::string pool = device_of(*shared.role).pool;
    data.set(mps_config(pool), device_plugin_config("mps", shared.choice.per_gpu).document());
    data.set(time_slicing_config(pool), device_plugin_config("timeSlicing", shared.choice.per_gpu).document());
  }
  if (data.empty()) return;
  data.set("whole", Yaml::map({{"version", "v1"}}).document());
  Yaml object = kube_object("v1", "ConfigMap", kDevicePluginConfig, kOperatorNamespace);
  object.set("data", data);
  section.manifests.push_back({.file = "sharing/device-plugin.yaml", .body = std::move(object), .is_on_page = true});
  Yaml values;
  values["devicePlugin"].set("config", Yaml::map({{"name", kDevicePluginConfig}, {"default", "whole"}}),
                             fmt::format("the nodes of a pool share their GPUs by their label {}", kDevicePluginLabel));
  section.manifests.push_back(
      {.file = "sharing/values/gpu-operator-mps.yaml", .body = std::move(values), .is_object = false});
}

Statement sharing_statement(const SharedRole& shared) {
  const SharingChoice& choice = shared.choice;
  Statement statement{
      .name = "GPUs of a replica of " + shared.workload, .why = choice.why, .evidence = Evidence::modelled};
  switch (choice.sharing) {
    case Sharing::whole:
      statement.value = count_text(shared.role->gpus_per_replica(), "whole GPU", "whole GPUs");
      break;
    case Sharing::slice:
      statement.value = fmt::format("one MIG slice {}, {} on a GPU", choice.profile, choice.per_gpu);
      statement.evidence = Evidence::simulated;
      statement.visibility = Visibility::page;
      break;
    case Sharing::slice_unmeasured:
      statement.value = fmt::format("1 whole GPU; MIG {} once its step times are known", choice.profile);
      statement.visibility = Visibility::page;
      break;
    case Sharing::mps:
      statement.value = fmt::format("1/{} of a GPU by MPS", choice.per_gpu);
      statement.visibility = Visibility::page;
      break;
  }
  return statement;
}

std::string sharing_answer(const std::vector<SharedRole>& roles) {
  const auto has = [&](Sharing sharing) {
    return std::ranges::any_of(roles, [&](const SharedRole& role) { return role.choice.sharing == sharing; });
  };
  std::string answer;
  const auto say = [&](std::string_view sentence) {
    if (!answer.empty()) answer += ' ';
    answer += sentence;
  };
  if (has(Sharing::slice)) say("Small models run on MIG slices, each with memory and compute of its own.");
  if (has(Sharing::slice_unmeasured))
    say("Small models keep whole GPUs until the step times of their slices are known.");
  if (has(Sharing::mps)) say("Batch work shares GPUs by MPS.");
  if (answer.empty()) answer = "Whole GPUs: no service of the plan can share one.";
  return answer;
}

/// Adds the commands of the GPU Operator, with its ConfigMaps and all its values.
void add_operator_commands(Section& section) {
  const auto add = [&](std::string command, std::string purpose) {
    section.apply.push_back({.step = ApplyStep::devices, .command = std::move(command), .purpose = std::move(purpose)});
  };
  if (!section.manifests.empty()) {
    add(fmt::format("kubectl get namespace {0} || kubectl create namespace {0}", kOperatorNamespace),
        "the namespace of the GPU Operator");
    add("kubectl apply -f sharing", "how GPUs are divided");
  }
  std::string command = helm_install(
      "gpu-operator",
      fmt::format("--namespace {} --create-namespace --values replicas/values/gpu-operator.yaml", kOperatorNamespace));
  for (const Manifest& manifest : section.manifests) {
    if (!manifest.is_object) command += " --values " + manifest.file;
  }
  add(std::move(command), "the GPU Operator");
}

/// Says how the node pools of GKE, which has no GPU Operator, divide their GPUs.
void add_gke_sharing(Section& section, const std::vector<SharedRole>& roles) {
  const auto add = [&](const SharedRole& shared, std::string value, std::string_view why) {
    section.statements.push_back({.name = "node pool of " + shared.workload,
                                  .value = std::move(value),
                                  .why = std::string(why),
                                  .evidence = Evidence::none});
  };
  for (const SharedRole& shared : roles) {
    switch (shared.choice.sharing) {
      case Sharing::whole:
        break;
      case Sharing::slice:
        add(shared, "gpu-partition-size=" + shared.choice.profile, "the command of the node pool sets it");
        break;
      case Sharing::slice_unmeasured:
        add(shared, "gpu-partition-size=" + shared.choice.profile,
            "for a node pool of its own, once the step times of the slice are known");
        break;
      case Sharing::mps:
        add(shared, fmt::format("gpu-sharing-strategy=mps,max-shared-clients-per-gpu={}", shared.choice.per_gpu),
            "the command of the node pool sets it; the plan counts whole GPUs");
        break;
    }
  }
}

}  // namespace

Section sharing_section(const PlanFacts& facts) {
  const std::vector<SharedRole> roles = shared_roles(facts);
  Section section{.key = "sharing", .title = "Sharing of GPUs", .answer = sharing_answer(roles)};
  section.page_answer = section.answer;
  std::vector<std::string> sliced;
  for (const SharedRole& shared : roles) {
    section.statements.push_back(sharing_statement(shared));
    switch (shared.choice.sharing) {
      case Sharing::whole:
        break;
      case Sharing::slice:
        sliced.push_back(shared.workload);
        break;
      case Sharing::slice_unmeasured:
        section.not_simulated.push_back(shared.workload + " on a slice");
        break;
      case Sharing::mps:
        section.not_simulated.push_back(shared.workload + " next to other replicas on its GPU");
        break;
    }
  }
  add_mps_bound(section, roles);
  if (!sliced.empty()) {
    section.not_simulated.push_back(
        fmt::format("the power and the host links that slices of one GPU share, for {}", fmt::join(sliced, " and ")));
  }
  if (!has_gpu_operator(facts.spec.cluster)) {
    add_gke_sharing(section, roles);
    add_time_slicing(facts, section, roles);
    return section;
  }
  const std::map<std::string, Yaml> configs = mig_configs(roles);
  if (!configs.empty()) add_mig(section, configs);
  add_mps(section, roles);
  add_time_slicing(facts, section, roles);
  add_operator_commands(section);
  if (has_karpenter(facts.spec.cluster) && !section.manifests.empty()) {
    section.statements.push_back(
        {.name = "Karpenter and shared GPUs",
         .value = "a NodeOverlay",
         .why =
             "Karpenter counts whole GPUs; nodes/*-overlay.yaml tells it the slices or the shares of a node and needs "
             "its feature gate NodeOverlay=true",
         .evidence = Evidence::assumed});
  }
  return section;
}

}  // namespace capstan::plan
