#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/file.h"
#include "base/similar_names.h"
#include "engine/instances.h"
#include "model/capacity_names.h"
#include "model/topology_names.h"
#include "scenario/gpu_names.h"
#include "scenario/node_classes.h"
#include "scenario/node_file.h"
#include "scenario/read_parts.h"
#include "sim/cluster/topology.h"

namespace capstan::scenario {

using manifest::ErrorList;
using manifest::Fields;
using manifest::Node;
using namespace std::chrono_literals;

namespace {

constexpr std::int64_t kMaxGpus = 1'000'000;
constexpr std::int64_t kMaxWeight = 100;  // as in a Karpenter NodePool
/// Highest price of the whole fleet for an hour, a billion USD. A year at this price fits into 64 bits of millionths of
/// a USD.
constexpr MicroUsd kMaxPerHour{1'000'000'000'000'000};

/// Returns the error for an unknown instance, with the most similar known names.
std::string instance_error(const std::string& name) {
  std::vector<std::string_view> names;
  for (const engine::Instance& row : engine::instances()) names.push_back(row.name);
  return fmt::format(
      "found \"{}\", expected an instance of data/instances.csv{}, or gpu, gpus and price in addition to the name",
      name, did_you_mean_words(name, names));
}

class ClusterReader {
 public:
  ClusterReader(model::Catalog& catalog, Scenario& scenario, ErrorList& errors)
      : catalog_(catalog),
        config_(scenario.cluster),
        engines_(*scenario.engines),
        enforce_together_(scenario.enforce_together),
        jobs_(scenario.jobs),
        scenario_file_(scenario.file),
        pod_needs_(scenario.pod_needs),
        errors_(errors) {}

  void read(const Node& node) {
    Fields fields(node, "cluster", errors_);
    read_topology(fields);
    for (const Node& pool : fields.list("pools")) read_pool(pool);
    for (const Node& existing : fields.list("existing")) {
      read_existing(existing);
      ++existing_entry_;
    }
    fields.check("provider", [&](const Node& n, ErrorList&) { read_provider(n); });
    for (const Node& outage : fields.list("outages")) read_outage(outage);
    fields.check("bandwidth", [&](const Node& n, ErrorList&) { read_bandwidth(n); });
    fields.check("scrape", [&](const Node& n, ErrorList&) { read_scrape(n); });
    fields.check("actions", [&](const Node& n, ErrorList&) { read_actions(n); });
    using Cache = sim::WeightCache;
    fields.choice<Cache>("weight_cache", config_.weight_cache,
                         {{"none", Cache::none}, {"disk", Cache::disk}, {"host_memory", Cache::host_memory}});
    fields.boolean("image_cached_on_boot", config_.image_cached_on_boot);
    fields.duration("termination_grace", config_.termination_grace, 0s, 24h);
    fields.duration("drain_poll", config_.drain_poll, 1ms, 1h);
    fields.duration("scheduling_cycle", config_.scheduling_cycle, 1ms, 1h);
    if (fields.take("enforce_together") != nullptr) fields.boolean("enforce_together", enforce_together_.emplace());
    fields.integer("memory_used_percent", config_.memory_used_percent, 0, 100);
    fields.finish();
    check_price(node);
    const std::vector<model::NodeClassId> classes = classify_nodes(pod_needs_, labels_, catalog_.eligibility);
    for (std::size_t i = 0; i < config_.existing.size(); ++i) {
      config_.existing[i].node_class = classes[labels_of_existing_[i]];
    }
  }

 private:
  void read_topology(Fields& fields) {
    sim::TopologyLayout layout;
    const manifest::Mark topology(errors_);
    const auto zones = fields.non_empty_list("zones");
    if (!zones.empty()) layout.zones.clear();
    for (const Node& zone : zones) {
      if (zone.kind != Node::Kind::scalar || zone.text.empty()) {
        errors_.fail(zone.place, fmt::format("cluster.zones: found {}, expected a name", zone.words()));
      } else if (std::find(layout.zones.begin(), layout.zones.end(), zone.text) != layout.zones.end()) {
        errors_.fail(zone.place, fmt::format("cluster.zones: \"{}\" is given twice", zone.text));
      } else {
        layout.zones.push_back(zone.text);
      }
    }
    fields.integer("racks_per_zone", layout.racks_per_zone, 1, 10'000);
    fields.integer("nvlink_domains_per_rack", layout.nvlink_domains_per_rack, 1, 10'000);
    fields.integer("nodes_per_nvlink_domain", config_.provider.nodes_per_nvlink_domain, 1, 1'000);
    const std::int64_t domains =
        static_cast<std::int64_t>(layout.zones.size()) * layout.racks_per_zone * layout.nvlink_domains_per_rack;
    const auto topologies = fields.list("topologies");
    // After an error in the names, the catalog has only the standard topology: see `read_topologies`.
    if (catalog_.topologies.size() == topologies.size() + 1) {
      auto sizes = read_domain_sizes(topologies, layout.nvlink_domains_per_zone(), errors_);
      if (sizes) layout.nvlink_domains_by_level = *std::move(sizes);
    }
    if (domains > kMaxGpus) {
      errors_.fail(fields.node().place,
                   fmt::format("cluster: {} NVLink domains, expected at most {}", domains, kMaxGpus));
    }
    topology_known_ = topology.ok();
    if (!topology_known_) layout = {};
    zone_names_ = layout.zones;
    zones_ = sim::add_topology(catalog_, layout);
  }

  /// A machine that the file describes by an instance name or by its GPUs and price.
  struct Machine {
    model::Offering offering;  ///< without its zone
    std::uint32_t refused_ppm = 0;
    std::vector<std::size_t> zones;  ///< empty: all zones
    Labels labels{};
  };

  Machine read_machine(Fields& fields) {
    Machine machine;
    model::Offering& offering = machine.offering;
    const Node* name = fields.take_required("instance");
    const bool named = fields.text("instance", offering.instance_type);
    const engine::Instance* known = engine::find_instance(offering.instance_type);
    std::string gpu = known != nullptr ? known->gpu : "";
    offering.gpus = known != nullptr ? known->gpus : 0;
    fields.text("gpu", gpu);
    fields.integer("gpus", offering.gpus, 1, 1024);
    using Capacity = model::CapacityType;
    fields.choice<Capacity>(
        "capacity", offering.capacity,
        {named_value(model::kCapacityKeys, Capacity::on_demand), named_value(model::kCapacityKeys, Capacity::spot),
         named_value(model::kCapacityKeys, Capacity::reserved)});
    const bool priced = fields.take("usd_per_hour") != nullptr;
    fields.usd("usd_per_hour", offering.price_per_hour, {0}, {100'000'000'000});
    fields.share_ppm("refused", machine.refused_ppm, 0, 1'000'000);
    fields.check("zone", [&](const Node& zone, ErrorList&) { machine.zones.push_back(zone_index(zone)); });
    fields.check("labels", [&](const Node& labels, ErrorList& v) {
      read_labels(labels, fields.what() + ".labels", machine.labels, v);
    });
    read_resources(fields, known, offering);
    if (const Node* given = fields.take("gpu")) gpu = gpu_key(*given, fields.what());
    if (!gpu.empty()) offering.gpu = gpu_kind(catalog_, gpu);
    if (!named) return machine;
    const bool described = known != nullptr || (fields.take("gpu") != nullptr && fields.take("gpus") != nullptr);
    if (!described) {
      errors_.fail(name->place, fields.what() + ".instance: " + instance_error(offering.instance_type));
    } else if (!priced) {
      set_known_price(known, *name, fields.what(), offering);
    }
    return machine;
  }

  /// Reads CPU and memory of a machine. The defaults are the amounts in the table of instances. The catalog gets the
  /// amounts only if some pod asks for CPU or memory.
  void read_resources(Fields& fields, const engine::Instance* known, model::Offering& offering) {
    model::InstanceType type{.name = offering.instance_type};
    if (known != nullptr && known->vcpus > 0) type.cpu_milli = known->vcpus * 1000;
    if (known != nullptr && known->memory_gib > 0) type.memory_mib = known->memory_gib * 1024;
    if (const auto cpu = read_cpu(fields, errors_)) type.cpu_milli = cpu;
    if (const auto memory = read_memory(fields, errors_)) type.memory_mib = memory;
    set_type(std::move(type), offering);
  }

  void set_type(model::InstanceType type, model::Offering& offering) {
    const auto asks = [](const PodNeeds& needs) { return needs.requests != model::Resources{}; };
    if (std::ranges::none_of(pod_needs_, asks)) return;
    const auto found = std::ranges::find(catalog_.instance_types, type);
    offering.type = {static_cast<std::uint32_t>(found - catalog_.instance_types.begin())};
    if (found == catalog_.instance_types.end()) catalog_.instance_types.push_back(std::move(type));
  }

  /// Adds the labels of a machine to `labels_`: the stated ones, and those with which Kubernetes and Karpenter describe
  /// a node.
  /// @param pool  name of its pool; empty: none
  /// @return position in `labels_`
  std::size_t add_labels(const Machine& machine, std::size_t zone, const std::string& pool) {
    NodeLabels& nodes = labels_.emplace_back();
    nodes.labels = machine.labels;
    nodes.labels.try_emplace("node.kubernetes.io/instance-type", machine.offering.instance_type);
    nodes.labels.try_emplace("topology.kubernetes.io/zone", zone_names_[zone]);
    nodes.labels.try_emplace("karpenter.sh/capacity-type", std::string(model::name(machine.offering.capacity).label));
    if (!pool.empty()) nodes.labels.try_emplace("karpenter.sh/nodepool", pool);
    return labels_.size() - 1;
  }

  /// Sets the price from the table of instances. It is an error if the table lacks the price of the capacity type.
  void set_known_price(const engine::Instance* known, const Node& name, const std::string& what,
                       model::Offering& offering) {
    const bool spot = offering.capacity == model::CapacityType::spot;
    std::optional<MicroUsd> price;
    if (known != nullptr) price = spot ? known->spot_per_hour : known->on_demand_per_hour;
    if (price) {
      offering.price_per_hour = *price;
    } else {
      errors_.fail(name.place, fmt::format("{}: no {} price of {} is known, expected usd_per_hour", what,
                                           spot ? "spot" : "on-demand", offering.instance_type));
    }
  }

  /// Returns the key of a GPU. Its name may be that of the engine table, of a node label or of the table of instances.
  std::string gpu_key(const Node& node, const std::string& what) {
    const std::string name = gpu_name(engines_, catalog_, node.text);
    const bool is_of_jobs = std::ranges::find(catalog_.gpu_kinds, name) != catalog_.gpu_kinds.end();
    const bool is_for_all = std::ranges::any_of(jobs_, &JobSpec::any_gpu);
    if (!is_of_jobs && !is_for_all && !is_known_gpu(engines_, name)) {
      errors_.fail(node.place,
                   what + ".gpu: " + engines_.gpu_key(node.text).error().message + ", or one of data/instances.csv");
    }
    return name;
  }

  std::size_t zone_index(const Node& node) {
    const auto found = std::find(zone_names_.begin(), zone_names_.end(), node.text);
    if (node.kind == Node::Kind::scalar && found != zone_names_.end()) {
      return static_cast<std::size_t>(found - zone_names_.begin());
    }
    if (!topology_known_) return 0;
    const std::vector<std::string_view> names(zone_names_.begin(), zone_names_.end());
    errors_.fail(node.place, fmt::format("zone: found {}, expected {}", node.words(), manifest::one_of(names)));
    return 0;
  }

  model::OfferingId add_offering(const Machine& machine, std::size_t zone) {
    model::Offering offering = machine.offering;
    offering.zone = zones_[zone];
    catalog_.offerings.push_back(std::move(offering));
    config_.provider.refused_ppm.push_back(machine.refused_ppm);
    return {static_cast<std::uint32_t>(catalog_.offerings.size() - 1)};
  }

  model::DisruptionBudget read_budget(const Node& node) {
    Fields fields(node, "cluster.pools.budgets", errors_);
    model::DisruptionBudget budget;
    if (node.find("nodes") != nullptr) fields.integer("nodes", budget.nodes.emplace(), 0, kMaxGpus);
    if (node.find("share") != nullptr) fields.share_ppm("share", budget.share_ppm.emplace(), 0, 1'000'000);
    if (node.find("start") != nullptr) fields.cron("start", budget.start.emplace());
    fields.duration("duration", budget.duration, 1min, model::DisruptionBudget::kLongest);
    fields.finish();
    if (fields.ok() && !budget.nodes && !budget.share_ppm) {
      errors_.fail(node.place, fmt::format("{}: neither nodes nor share, expected at least one", fields.what()));
    }
    if (fields.ok() && budget.start.has_value() != (budget.duration > Duration{})) {
      errors_.fail(fields.place_for_error({"start", "duration"}),
                   fmt::format("{}: only one of start and duration, expected both or neither", fields.what()));
    }
    return budget;
  }

  void read_budgets(Fields& pool, std::vector<model::DisruptionBudget>& budgets) {
    for (const Node& item : pool.list("budgets")) budgets.push_back(read_budget(item));
    if (budgets.size() <= model::DisruptionBudget::kMax) return;
    errors_.fail(pool.place_for_error({"budgets"}),
                 fmt::format("{}.budgets: found {}, expected at most {}", pool.what(), budgets.size(),
                             model::DisruptionBudget::kMax));
  }

  void read_pool(const Node& node) {
    Fields fields(node, "cluster.pools", errors_);
    model::Pool pool;
    pool.limits.gpus = kMaxGpus;
    if (fields.take_required("name") != nullptr) fields.text("name", pool.name);
    fields.integer("gpu_limit", pool.limits.gpus, 0, kMaxGpus);
    std::int64_t nodes = 0;
    if (fields.integer("node_limit", nodes, 0, kMaxGpus)) pool.limits.nodes = nodes;
    fields.integer("weight", pool.weight, 0, kMaxWeight);
    if (node.find("budgets") != nullptr) read_budgets(fields, pool.budgets.emplace());
    for (const Node& item : fields.list("offerings")) {
      Fields machine_fields(item, "cluster.pools.offerings", errors_);
      const Machine machine = read_machine(machine_fields);
      machine_fields.finish();
      if (!machine_fields.ok()) continue;
      for (std::size_t zone = 0; zone < zones_.size(); ++zone) {
        const bool here = machine.zones.empty() || machine.zones.front() == zone;
        if (!here) continue;
        const std::size_t labels = add_labels(machine, zone, pool.name);
        pool.offerings.push_back(add_offering(machine, zone));
        const model::PoolId id{static_cast<std::uint32_t>(catalog_.pools.size())};
        labels_[labels].purchases.push_back({id, pool.offerings.back()});
      }
    }
    fields.finish();
    for (const model::Pool& other : catalog_.pools) {
      if (!pool.name.empty() && other.name == pool.name) {
        errors_.fail(node.place, fmt::format("cluster.pools: \"{}\" is given twice", pool.name));
      }
    }
    catalog_.pools.push_back(std::move(pool));
  }

  void read_existing(const Node& node) {
    if (node.find("file") != nullptr && !node.find("file")->is_null()) return read_existing_file(node);
    Fields fields(node, "cluster.existing", errors_);
    const Machine machine = read_machine(fields);
    sim::ExistingNodes nodes;
    nodes.count = 1;
    fields.integer("count", nodes.count, 1, 100'000);
    read_pool_name(fields, nodes.pool);
    fields.finish();
    if (fields.ok() && topology_known_) add_existing(machine, nodes, node);
  }

  /// Reads nodes of a file: `{file: nodes.csv, usd_per_hour: 2}`.
  void read_existing_file(const Node& node) {
    Fields fields(node, "cluster.existing", errors_);
    std::string path;
    const Node* file = fields.take_required("file");
    fields.text("file", path);
    Machine machine;
    std::string gpu;
    fields.text("gpu", gpu);
    fields.usd("usd_per_hour", machine.offering.price_per_hour, {0}, {100'000'000'000});
    fields.check("zone", [&](const Node& zone, ErrorList&) { machine.zones.push_back(zone_index(zone)); });
    fields.check("labels", [&](const Node& labels, ErrorList& v) {
      read_labels(labels, fields.what() + ".labels", machine.labels, v);
    });
    sim::ExistingNodes nodes;
    read_pool_name(fields, nodes.pool);
    fields.finish();
    if (!fields.ok() || !topology_known_) return;
    const std::string resolved = resolved_path(*file, scenario_file_);
    const auto text = read_file(resolved, manifest::Limits{}.bytes);
    if (!text) {
      return errors_.fail(file->place,
                          fmt::format("cluster.existing.file: cannot read \"{}\", expected a CSV file with "
                                      "the columns cpu_milli, memory_mib, gpu and model",
                                      resolved));
    }
    const auto rows = read_node_file(*text, resolved);
    if (!rows) return errors_.fail(rows.error());
    const std::string wanted = gpu_name(engines_, catalog_, gpu);
    bool has_nodes = false;
    for (const FileNodes& row : *rows) {
      const std::string kind = gpu_name(engines_, catalog_, row.gpu);
      if (!gpu.empty() && kind != wanted) continue;
      has_nodes = true;
      model::Offering& offering = machine.offering;
      offering.instance_type =
          fmt::format("{}x{}-{}cpu-{}Gi", row.gpus, row.gpu, row.cpu_milli / 1000, row.memory_mib / 1024);
      offering.gpu = gpu_kind(catalog_, kind);
      offering.gpus = row.gpus;
      set_type({.name = offering.instance_type, .cpu_milli = row.cpu_milli, .memory_mib = row.memory_mib}, offering);
      nodes.count = row.count;
      add_existing(machine, nodes, node);
      if (!fields.ok()) return;  // one error about room in the zone is enough
    }
    if (!has_nodes) {
      errors_.fail(node.place, fmt::format("cluster.existing: no node of {} has the GPU {}, expected one of its column "
                                           "model",
                                           resolved, gpu));
    }
  }

  void read_pool_name(Fields& fields, model::PoolId& out) {
    fields.check("pool", [&](const Node& pool, ErrorList&) {
      for (std::size_t i = 0; i < catalog_.pools.size(); ++i) {
        if (pool.text == catalog_.pools[i].name) out = {static_cast<std::uint32_t>(i)};
      }
      const bool all_named = std::ranges::none_of(catalog_.pools, &std::string::empty, &model::Pool::name);
      if (!out.valid() && all_named) {
        std::vector<std::string_view> names;
        for (const model::Pool& known : catalog_.pools) names.push_back(known.name);
        errors_.fail(pool.place, fmt::format("cluster.existing.pool: found {}, expected {}", pool.words(),
                                             names.empty() ? "a pool of this file" : manifest::one_of(names)));
      }
    });
  }

  void add_existing(const Machine& machine, sim::ExistingNodes nodes, const Node& node) {
    const std::size_t zone = machine.zones.empty() ? 0 : machine.zones.front();
    // An existing node has the offering of a pool if machine and price are the same; otherwise it gets its own
    // offering.
    const auto same = std::find_if(catalog_.offerings.begin(), catalog_.offerings.end(), [&](const auto& other) {
      return other.instance_type == machine.offering.instance_type && other.capacity == machine.offering.capacity &&
             other.zone == zones_[zone] && other.gpus == machine.offering.gpus && other.gpu == machine.offering.gpu &&
             other.price_per_hour == machine.offering.price_per_hour && other.type == machine.offering.type;
    });
    nodes.offering = same != catalog_.offerings.end()
                         ? model::OfferingId{static_cast<std::uint32_t>(same - catalog_.offerings.begin())}
                         : add_offering(machine, zone);
    const std::int64_t places = places_per_zone();
    std::int64_t& standing = standing_[zone];
    standing += nodes.count;
    if (standing > places) {
      return errors_.fail(node.place,
                          fmt::format("cluster.existing: {} nodes in zone {}, which has room for {}", standing,
                                      zone_names_[zone], places),
                          ErrorKind::infeasible);
    }
    const std::string pool = nodes.pool.valid() ? catalog_.pool(nodes.pool).name : "";
    labels_of_existing_.push_back(add_labels(machine, zone, pool));
    nodes.entry = existing_entry_;
    config_.existing.push_back(nodes);
  }

  /// Checks that the sums of money of a run cannot overflow, even if each pool buys its most expensive nodes up to its
  /// limit.
  void check_price(const Node& node) {
    double most = 0;
    const auto price = [](const model::Offering& offering, double nodes) {
      return nodes * static_cast<double>(offering.price_per_hour.count);
    };
    const double places = static_cast<double>(zones_.size()) * static_cast<double>(places_per_zone());
    for (const model::Pool& pool : catalog_.pools) {
      double most_expensive = 0;
      for (const model::OfferingId id : pool.offerings) {
        const model::Offering& offering = catalog_.offering(id);
        const auto limit =
            static_cast<double>(pool.limits.gpus) / static_cast<double>(std::max<GpuCount>(offering.gpus, 1));
        most_expensive = std::max(most_expensive, price(offering, std::min(limit, places)));
      }
      most += most_expensive;
    }
    for (const sim::ExistingNodes& nodes : config_.existing) {
      most += price(catalog_.offering(nodes.offering), static_cast<double>(nodes.count));
    }
    if (most <= static_cast<double>(kMaxPerHour.count)) return;
    errors_.fail(node.place, fmt::format("cluster: its nodes may cost {:.3g} billion USD an hour, expected at most 1 "
                                         "billion; lower usd_per_hour, gpu_limit or count",
                                         most / static_cast<double>(kMaxPerHour.count)));
  }

  std::int64_t places_per_zone() const {
    return sim::nvlink_domains_in(catalog_, model::TopologyLevel::zone) * config_.provider.nodes_per_nvlink_domain;
  }

  void read_provider(const Node& node) {
    Fields fields(node, "cluster.provider", errors_);
    sim::ProviderConfig& provider = config_.provider;
    fields.boolean("scatter", provider.scatter);
    fields.duration("removal", provider.removal, 0s, 24h);
    fields.share_ppm("spot_interruptions_per_hour", provider.spot_interruptions_per_million_hours, 0, 1'000'000'000);
    fields.duration("spot_notice", provider.spot_notice, 0s, 24h);
    fields.finish();
  }

  void read_outage(const Node& node) {
    Fields fields(node, "cluster.outages", errors_);
    sim::ProviderConfig::Outage outage;
    for (const char* key : {"zone", "at", "length"}) fields.take_required(key);
    fields.check("zone", [&](const Node& zone, ErrorList&) { outage.zone = zones_[zone_index(zone)]; });
    fields.duration("at", outage.at.since_start, 1s, 8784h);
    fields.duration("length", outage.length, 1s, 8784h);
    fields.finish();
    config_.provider.outages.push_back(outage);
  }

  void read_bandwidth(const Node& node) {
    Fields fields(node, "cluster.bandwidth", errors_);
    constexpr std::int64_t kMax = std::int64_t{1} << 50;
    sim::BandwidthConfig& bandwidth = config_.bandwidth;
    fields.bytes_per_second("registry", bandwidth.registry, 1, kMax);
    fields.bytes_per_second("object_store", bandwidth.object_store, 1, kMax);
    fields.bytes_per_second("node_nic", bandwidth.node_nic, 1, kMax);
    fields.bytes_per_second("node_disk", bandwidth.node_disk, 1, kMax);
    fields.bytes_per_second("node_host", bandwidth.node_host, 1, kMax);
    fields.bytes_per_second("node_fabric", bandwidth.node_fabric, 1, kMax);
    fields.finish();
  }

  void read_scrape(const Node& node) {
    Fields fields(node, "cluster.scrape", errors_);
    sim::ScrapeConfig& scrape = config_.scrape;
    fields.duration("interval", scrape.interval, 100ms, 1h);
    fields.duration("delay", scrape.delay, 0s, 1h);
    fields.share_ppm("loss", scrape.loss_ppm, 0, 1'000'000);
    fields.duration("blackout", scrape.blackout, 0s, 24h);
    fields.duration("blackout_every", scrape.blackout_every, 1s, 8784h);
    fields.duration("stale_after", scrape.stale_after, 1ms, 24h);
    fields.duration("missing_after", scrape.missing_after, 1ms, 24h);
    fields.finish();
    if (fields.ok() && scrape.delay >= scrape.interval) {
      errors_.fail(fields.place_for_error({"delay", "interval"}),
                   fmt::format("cluster.scrape: delay {} is not below interval {}, expected a shorter delay",
                               manifest::duration_text(scrape.delay), manifest::duration_text(scrape.interval)));
    }
    if (fields.ok() && scrape.blackout >= scrape.blackout_every) {
      errors_.fail(
          fields.place_for_error({"blackout", "blackout_every"}),
          fmt::format("cluster.scrape: blackout {} is not below blackout_every {}, expected a shorter blackout",
                      manifest::duration_text(scrape.blackout), manifest::duration_text(scrape.blackout_every)));
    }
    if (fields.ok() && scrape.missing_after <= scrape.stale_after) {
      errors_.fail(fields.place_for_error({"missing_after", "stale_after"}),
                   "cluster.scrape: missing_after is not above stale_after, expected a longer time");
    }
  }

  void read_actions(const Node& node) {
    Fields fields(node, "cluster.actions", errors_);
    read_latency(fields, "pod_creation", config_.pod_creation);
    fields.duration("bind_latency", config_.bind_latency, 0s, 1h);
    fields.duration("latency", config_.action_latency, 0s, 1h);
    fields.share_ppm("refused", config_.refused_ppm, 0, 1'000'000);
    fields.share_ppm("unknown", config_.unknown_ppm, 0, 1'000'000);
    fields.duration("unknown_after", config_.unknown_after, 0s, 1h);
    fields.finish();
  }

  model::Catalog& catalog_;
  sim::ClusterConfig& config_;
  const engine::EngineTable& engines_;
  std::optional<bool>& enforce_together_;
  const std::vector<JobSpec>& jobs_;
  const std::string& scenario_file_;
  const std::vector<PodNeeds>& pod_needs_;
  ErrorList& errors_;
  bool topology_known_ = false;  ///< false: zones are not checked, because the topology has an error
  std::vector<std::string> zone_names_;
  std::vector<model::DomainId> zones_;
  std::size_t existing_entry_ = 0;                ///< position of the entry of `existing` that is read
  std::map<std::size_t, std::int64_t> standing_;  ///< nodes by zone
  std::vector<NodeLabels> labels_;
  std::vector<std::size_t> labels_of_existing_;  ///< position in `labels_` of each entry of `config_.existing`
};

}  // namespace

void read_cluster(const Node& node, model::Catalog& catalog, Scenario& scenario, ErrorList& errors) {
  ClusterReader(catalog, scenario, errors).read(node);
}

}  // namespace capstan::scenario
