#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <utility>

#include "base/number_text.h"
#include "base/similar_names.h"
#include "base/split.h"
#include "engine/instances.h"
#include "engine/names.h"
#include "model/capacity_names.h"
#include "plan/objects/names.h"
#include "plan/read/read_parts.h"
#include "plan/spec/gpu_kinds.h"

namespace capstan::plan {

namespace {

using manifest::ErrorList;
using manifest::Fields;
using manifest::Node;

std::string_view cloud_key(Cloud cloud) {
  switch (cloud) {
    case Cloud::aws:
      return "aws";
    case Cloud::gcp:
      return "gcp";
    case Cloud::azure:
      return "azure";
    case Cloud::on_premises:
      return "on_premises";
  }
  return "aws";
}

bool is_letters(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= 'a' && c <= 'z'; });
}
bool is_number_text(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}
/// Returns a word without the digits at its end.
std::string_view without_digits(std::string_view text) {
  while (!text.empty() && text.back() >= '0' && text.back() <= '9') text.remove_suffix(1);
  return text;
}

/// Returns true if the name has the form of a region of the cloud: us-east-1, us-central1, eastus. A list of regions
/// would refuse new ones.
bool is_region_name(Cloud cloud, std::string_view name) {
  const std::vector<std::string_view> parts = split(name, '-');
  const std::size_t words = static_cast<std::size_t>(std::ranges::count_if(parts, is_letters));
  switch (cloud) {
    case Cloud::aws:
      return parts.size() >= 3 && words == parts.size() - 1 && is_number_text(parts.back()) && parts[0].size() <= 3;
    case Cloud::gcp:
      return parts.size() == 2 && is_letters(parts[0]) && is_letters(without_digits(parts[1])) && !is_letters(parts[1]);
    case Cloud::azure:
      return parts.size() == 1 && is_letters(without_digits(parts[0]));
    case Cloud::on_premises:
      return true;
  }
  return true;
}

/// Returns the region of a zone: us-east-1 of us-east-1a, us-central1 of us-central1-a, eastus of eastus-1. Empty if
/// the name has another form.
std::string_view region_of_zone(Cloud cloud, std::string_view zone) {
  if (zone.size() < 3 || cloud == Cloud::on_premises) return {};
  const std::string_view region = zone.substr(0, zone.size() - (cloud == Cloud::aws ? 1 : 2));
  const char last = zone.back();
  const bool has_form = cloud == Cloud::azure ? last >= '1' && last <= '9' : last >= 'a' && last <= 'z';
  const bool has_dash = cloud == Cloud::aws || zone[region.size()] == '-';
  return has_form && has_dash && is_region_name(cloud, region) ? region : std::string_view();
}

/// Returns the region whose prices the catalogue has.
std::string_view priced_region(Cloud cloud) {
  switch (cloud) {
    case Cloud::aws:
      return "us-east-1";
    case Cloud::gcp:
      return "us-central1";
    case Cloud::azure:
      return "eastus";
    case Cloud::on_premises:
      return "local";
  }
  return "local";
}

MachineSpec machine_of(const engine::Instance& row) {
  return {.name = row.name,
          .gpu = row.gpu,
          .gpus = row.gpus,
          .vcpus = row.vcpus,
          .memory_gib = row.memory_gib,
          .nvlink_domain_gpus = row.nvlink_domain_gpus,
          .on_demand_per_hour = row.on_demand_per_hour,
          .spot_per_hour = row.spot_per_hour};
}

/// Returns the default provisioner of a cloud, and the reason for it.
std::pair<std::string_view, std::string_view> default_provisioner(Cloud cloud) {
  if (cloud == Cloud::on_premises) return {"none", "machines on premises cannot be bought by the hour"};
  if (cloud == Cloud::gcp)
    return {"cluster_autoscaler", "GKE resizes its node pools itself; Karpenter does not run on it"};
  return {"karpenter", "it picks instance types by the pods that wait"};
}

/// Reads the cluster of a spec.
class ClusterReader {
 public:
  ClusterReader(PlanSpec& spec, ErrorList& errors) : spec_(spec), cluster_(spec.cluster), errors_(errors) {}

  void read(const Node& node) {
    Fields fields(node, "cluster", errors_);
    DefaultList defaults(spec_.defaults);
    fields.choice<Cloud>(
        "cloud", cluster_.cloud,
        {{"aws", Cloud::aws}, {"gcp", Cloud::gcp}, {"azure", Cloud::azure}, {"on_premises", Cloud::on_premises}});
    defaults.note(fields, "cloud", "aws", "the cloud with most machines in the catalogue");
    read_places(fields, defaults);
    read_machines(fields, defaults);
    note_prices(fields);
    read_buying(fields, defaults);
    read_zone_outage(fields, defaults);
    read_spec_node_start(fields, spec_, errors_);
    fields.text("prometheus", cluster_.prometheus);
    defaults.note(fields, "prometheus", cluster_.prometheus, "the address that the Prometheus Operator gives it",
                  DefaultKind::name);
    fields.text("karpenter_discovery", cluster_.karpenter_discovery);
    if (cluster_.cloud == Cloud::aws && cluster_.provisioner == Provisioner::karpenter) {
      defaults.note(fields, "karpenter_discovery", cluster_.karpenter_discovery,
                    "value of the tag karpenter.sh/discovery; set the name of your cluster", DefaultKind::name);
    }
    fields.finish();
  }

 private:
  void read_places(Fields& fields, DefaultList& defaults) {
    cluster_.region = priced_region(cluster_.cloud);
    if (fields.text("region", cluster_.region) && !is_region_name(cluster_.cloud, cluster_.region)) {
      errors_.fail(fields.place_for_error({"region"}),
                   fmt::format("cluster.region is \"{}\", expected a region of {} such as {}", cluster_.region,
                               cloud_key(cluster_.cloud), priced_region(cluster_.cloud)));
    }
    defaults.note(fields, "region", cluster_.region, "the region whose prices the catalogue has");
    for (const Node& zone : fields.non_empty_list("zones")) read_zone(zone);
    if (!cluster_.zones.empty()) return;
    // Zones have names like us-east-1a on AWS, us-central1-a on Google Cloud and eastus-1 on Azure.
    const std::string_view names = cluster_.cloud == Cloud::azure ? "123" : "abc";
    const bool has_dash = cluster_.cloud == Cloud::gcp || cluster_.cloud == Cloud::azure;
    for (const char name : names) {
      cluster_.zones.push_back(fmt::format("{}{}{}", cluster_.region, has_dash ? "-" : "", name));
    }
    defaults.note(fields, "zones", fmt::format("{}", fmt::join(cluster_.zones, ", ")), "three zones");
  }

  void read_zone(const Node& node) {
    const std::string& zone = node.text;
    if (node.kind != Node::Kind::scalar || zone.empty()) {
      return errors_.fail(node.place,
                          fmt::format("cluster.zones: found {}, expected the name of a zone", node.words()));
    }
    if (std::ranges::find(cluster_.zones, zone) != cluster_.zones.end()) {
      errors_.fail(node.place, fmt::format("cluster.zones: \"{}\" is given twice", zone));
    }
    const std::string_view region = region_of_zone(cluster_.cloud, zone);
    if (!region.empty() && region != cluster_.region) {
      errors_.fail(node.place, fmt::format("cluster.zones: {0} is a zone of {1}, not of cluster.region {2}, expected "
                                           "zones of {2}, or region: {1}",
                                           zone, region, cluster_.region));
    }
    cluster_.zones.push_back(zone);
  }

  void read_machines(Fields& fields, DefaultList& defaults) {
    std::set<std::string> kinds;
    const Node* allowed = fields.node().find("gpus");
    for (const Node& gpu : fields.non_empty_list("gpus")) {
      const auto key = engine::gpu_of_product(*spec_.engines, gpu.text);
      if (key) kinds.insert(*key);
      if (key) continue;
      if (gpu.kind != Node::Kind::scalar || gpu.text.empty()) {
        errors_.fail(gpu.place, fmt::format("cluster.gpus: found {}, expected a GPU kind such as H100", gpu.words()));
      } else {
        errors_.fail(gpu.place,
                     fmt::format("cluster.gpus: no step times of {} are known, {}; for another kind, state a table of "
                                 "your own step times with step_times",
                                 gpu.text, known_gpu_kinds(*spec_.engines, gpu.text)),
                     ErrorKind::infeasible);
      }
    }
    for (const Node& machine : fields.non_empty_list("instances")) {
      const std::size_t known = cluster_.machines.size();
      read_machine(machine);
      if (cluster_.machines.size() > known && !kinds.empty()) check_kind(machine, kinds, *allowed);
    }
    if (is_stated(fields, "instances")) return;
    for (const engine::Instance& row : engine::instances()) {
      const bool is_kind = kinds.empty() ? spec_.engines->gpu_key(row.gpu).has_value() : kinds.contains(row.gpu);
      if (row.cloud == cloud_key(cluster_.cloud) && is_kind) cluster_.machines.push_back(machine_of(row));
    }
    defaults.note(fields, "instances", fmt::format("{} of the catalogue", cluster_.machines.size()),
                  kinds.empty() ? "machines of the cloud whose GPU is in the engine table"
                                : "machines of the cloud with these GPUs");
    if (!cluster_.machines.empty()) return;
    errors_.fail(fields.place_for_error({"gpus", "cloud"}),
                 fmt::format("cluster: the catalogue has no machine of {} with these GPUs, expected `instances` with "
                             "gpu, gpus and usd_per_hour",
                             cloud_key(cluster_.cloud)),
                 ErrorKind::infeasible);
  }

  /// Checks that the GPU kind of the machine that was read last is one of `cluster.gpus`. A slice counts as its whole
  /// GPU.
  void check_kind(const Node& node, const std::set<std::string>& kinds, const Node& allowed) {
    const MachineSpec& machine = cluster_.machines.back();
    const std::string whole = whole_gpu_of(machine.gpu);
    if (kinds.contains(engine::gpu_of_product(*spec_.engines, whole).value_or(whole))) return;
    std::vector<std::string_view> names;
    for (const Node& gpu : allowed.items) names.push_back(gpu.text);
    const auto row = std::ranges::find(spec_.engines->rows(), machine.gpu, &engine::EngineRow::gpu);
    const std::string gpu = row == spec_.engines->rows().end() ? machine.gpu : row->gpu_name;
    errors_.fail(
        node.place,
        fmt::format("cluster.instances: {0} has {1} GPUs, and cluster.gpus at {2} allows only {3}; the nearest "
                    "that is possible is to add {1} to cluster.gpus, or to leave {0} out",
                    machine.name, gpu, place_words(allowed.place), fmt::join(names, ", ")),
        ErrorKind::infeasible);
  }

  /// Notes that prices of the catalogue are those of another region.
  void note_prices(const Fields& fields) {
    const std::string_view priced = priced_region(cluster_.cloud);
    const auto is_catalogued = [](const MachineSpec& machine) { return !machine.has_stated_price; };
    if (cluster_.cloud == Cloud::on_premises || cluster_.region == priced || fields.node().find("region") == nullptr ||
        std::ranges::none_of(cluster_.machines, is_catalogued)) {
      return;
    }
    spec_.defaults.push_back(
        {"cluster.instances.usd_per_hour", fmt::format("prices of {}", priced),
         fmt::format("the catalogue has no prices of {}; state usd_per_hour of the instances", cluster_.region)});
  }

  /// Reads a machine: its name, or a mapping that also states or changes its shape and its prices.
  void read_machine(const Node& node) {
    const bool is_name = node.kind == Node::Kind::scalar && !node.text.empty();
    if (!is_name && node.kind != Node::Kind::mapping) {
      return errors_.fail(node.place, fmt::format("cluster.instances: found {}, expected a name, or a mapping with the "
                                                  "key instance",
                                                  node.words()));
    }
    const Node* named = is_name ? &node : Fields(node, "cluster.instances", errors_).take_required("instance");
    if (named == nullptr) return;
    const engine::Instance* row = engine::find_instance(named->text);
    MachineSpec machine = row != nullptr ? machine_of(*row) : MachineSpec{.name = named->text};
    if (is_name && row == nullptr) return errors_.fail(node.place, unknown_machine(named->text));
    if (!is_name) read_shape(node, row != nullptr, machine);
    const bool is_new =
        std::ranges::find(cluster_.machines, machine.name, &MachineSpec::name) == cluster_.machines.end();
    if (!is_new) errors_.fail(node.place, fmt::format("cluster.instances: \"{}\" is given twice", machine.name));
    cluster_.machines.push_back(std::move(machine));
  }

  void read_shape(const Node& node, bool is_known, MachineSpec& machine) {
    Fields fields(node, "cluster.instances", errors_);
    fields.take_required("instance");
    if (const Node* gpu = is_known ? fields.take("gpu") : fields.take_required("gpu")) {
      const auto key = engine::gpu_of_product(*spec_.engines, gpu->text);
      machine.gpu = key.value_or(gpu->text);
      machine.has_stated_shape = true;
    }
    if (!is_known) fields.take_required("gpus");
    machine.has_stated_shape |= fields.integer("gpus", machine.gpus, 1, 1024);
    fields.integer("vcpus", machine.vcpus, 1, 100'000);
    fields.integer("memory_gib", machine.memory_gib, 1, 1'000'000);
    fields.integer("nvlink_domain_gpus", machine.nvlink_domain_gpus, 1, 1024);
    for (const auto& [key, price] : {std::pair("usd_per_hour", &machine.on_demand_per_hour),
                                     std::pair("spot_usd_per_hour", &machine.spot_per_hour),
                                     std::pair("reserved_usd_per_hour", &machine.reserved_per_hour)}) {
      MicroUsd stated{};
      if (!fields.usd(key, stated, {0}, {100'000'000'000})) continue;
      *price = stated;
      machine.has_stated_price = true;
    }
    fields.integer("existing", machine.existing, 0, 100'000);
    fields.finish();
    if (fields.ok() && !machine.on_demand_per_hour && !machine.spot_per_hour && !machine.reserved_per_hour) {
      errors_.fail(node.place,
                   fmt::format("cluster.instances: no price of {} is known, expected usd_per_hour", machine.name));
    }
  }

  static std::string unknown_machine(const std::string& name) {
    std::vector<std::string_view> names;
    for (const engine::Instance& row : engine::instances()) names.push_back(row.name);
    return fmt::format(
        "cluster.instances: found \"{}\", expected an instance of data/instances.csv{}, or a mapping with "
        "instance, gpu, gpus and usd_per_hour",
        name, did_you_mean_words(name, names));
  }

  void read_buying(Fields& fields, DefaultList& defaults) {
    for (const Node& node : fields.non_empty_list("capacity")) {
      const auto capacity = enum_named<model::CapacityType>(model::kCapacityKeys, node.text);
      if (!capacity) {
        errors_.fail(node.place, fmt::format("cluster.capacity: found {}, expected one of on_demand, spot or reserved",
                                             node.words()));
      } else {
        cluster_.capacity.push_back(*capacity);
      }
    }
    if (cluster_.capacity.empty()) cluster_.capacity = {model::CapacityType::on_demand};
    defaults.note(fields, "capacity", "on_demand", "spot machines may be taken away at any time");
    read_interruptions(fields, defaults);
    if (cluster_.cloud == Cloud::on_premises) cluster_.provisioner = Provisioner::none;
    if (cluster_.cloud == Cloud::gcp) cluster_.provisioner = Provisioner::cluster_autoscaler;
    fields.choice<Provisioner>("provisioner", cluster_.provisioner,
                               {{"karpenter", Provisioner::karpenter},
                                {"cluster_autoscaler", Provisioner::cluster_autoscaler},
                                {"none", Provisioner::none}});
    check_provisioner(fields);
    const auto [provisioner, why] = default_provisioner(cluster_.cloud);
    defaults.note(fields, "provisioner", std::string(provisioner), std::string(why));
    fields.choice<GangScheduler>(
        "gang_scheduler", cluster_.gang_scheduler,
        {{"kai", GangScheduler::kai}, {"kueue", GangScheduler::kueue}, {"none", GangScheduler::none}});
    defaults.note(fields, "gang_scheduler", "kai", "it places gangs by topology and under queues");
    if (fields.text("kai_node_pool", cluster_.kai_node_pool)) {
      check_kube_name(fields, "kai_node_pool", cluster_.kai_node_pool, true, errors_);
    }
    if (cluster_.gang_scheduler != GangScheduler::kai) return;
    defaults.note(fields, "kai_node_pool", "none", "KAI's default scheduler takes only nodes without this label");
  }

  /// Reads how often spot machines are reclaimed, and whether the base may be bought as spot. The defaults are noted
  /// only if the cluster may buy spot machines.
  void read_interruptions(Fields& fields, DefaultList& defaults) {
    fields.share_ppm("spot_interruptions_per_hour", cluster_.spot_interruptions_ppm, 0, 1'000'000);
    fields.boolean("spot_base", cluster_.may_buy_spot_base);
    if (std::ranges::find(cluster_.capacity, model::CapacityType::spot) == cluster_.capacity.end()) return;
    defaults.note(fields, "spot_base", "false",
                  "reclaims end replicas of the base with a short notice; `true` lets the search buy it as spot too");
    defaults.note(fields, "spot_interruptions_per_hour", percent_text(kSpotInterruptionsPpm),
                  "an assumption without a measured source; clouds publish the rate of each machine type");
  }

  /// Reads the length of the zone outage in the stress test. Also notes that the simulations place pods and buy nodes
  /// as Capstan does, and not as the cluster's own components do.
  void read_zone_outage(Fields& fields, DefaultList& defaults) {
    fields.duration("zone_outage", cluster_.zone_outage, std::chrono::minutes(1), std::chrono::hours(24));
    if (cluster_.zones.size() > 1) {
      defaults.note(fields, "zone_outage", time_text(cluster_.zone_outage), "length of the outage in the stress test");
    }
    const bool buys = cluster_.provisioner != Provisioner::none;
    spec_.defaults.push_back(
        {"simulations", fmt::format("place gang{}", buys ? ", provision group" : ""),
         fmt::format(
             "no key changes it: the simulations place pods{} as Capstan does, and the cluster's own scheduler{} "
             "may take other nodes",
             buys ? " and buy nodes" : "", buys ? " and provisioner" : "")});
  }

  /// Refuses a provisioner for which the plan has no manifests.
  void check_provisioner(const Fields& fields) {
    const bool is_karpenter = cluster_.provisioner == Provisioner::karpenter;
    if (cluster_.cloud == Cloud::gcp && is_karpenter) {
      errors_.fail(
          fields.place_for_error({"provisioner"}),
          "cluster.provisioner: the plan writes no manifests of Karpenter for gcp; the nearest that is possible "
          "is cluster_autoscaler, with which GKE resizes its node pools",
          ErrorKind::infeasible);
    } else if (cluster_.cloud == Cloud::on_premises && cluster_.provisioner != Provisioner::none) {
      errors_.fail(fields.place_for_error({"provisioner"}),
                   fmt::format("cluster.provisioner: {} buys no machines on premises; the nearest that is possible is "
                               "none, with `existing` of the instances",
                               is_karpenter ? "karpenter" : "cluster_autoscaler"),
                   ErrorKind::infeasible);
    }
  }

  PlanSpec& spec_;
  ClusterSpec& cluster_;
  ErrorList& errors_;
};

}  // namespace

void read_spec_cluster(const Node* node, PlanSpec& spec, ErrorList& errors) {
  const Node empty{.kind = Node::Kind::mapping, .place = {}, .text = {}, .items = {}, .entries = {}};
  ClusterReader(spec, errors).read(node == nullptr ? empty : *node);
}

}  // namespace capstan::plan
