#pragma once

#include <cstdlib>
#include <filesystem>
#include <string>

#include "archive/saved_state.h"
#include "fleet/testing/world.h"
#include "model/signal_names.h"

namespace capstan::archive::testing {

using fleet::testing::at;
using fleet::testing::World;

/// Adds four services: the second is the prefill service of the third, and the fourth is decided together with the
/// first.
inline void add_services(World& world, model::Purchase sale) {
  using namespace std::chrono_literals;
  model::Catalog& catalog = world.catalog();
  const model::QueueId team = world.queue(4, world.queue(8));
  model::Queue& shared = catalog.queues[team.value];
  shared.gpus.quota = whole_gpus(2), shared.gpus.weight_milli = 1'500;
  shared.cpu_milli = {.limit = 64'000, .quota = 32'000, .weight_milli = 1'000};
  shared.memory_mib = {.limit = 524'288, .quota = 65'536, .weight_milli = 2'000};
  shared.priority = 100, shared.preempt_min_runtime = 10min, shared.reclaim_min_runtime = 1h;
  catalog.queues.push_back({.name = "unknown", .parent = {}, .fault = model::QueueFault::not_found});
  catalog.queues.push_back({.name = "loop", .parent = {}, .fault = model::QueueFault::parent_cycle});
  catalog.limits = {.gpus = 64, .nodes = 8, .price_per_hour = MicroUsd{800'000'000}};
  for (model::Topology::LevelInfo& depth : catalog.topologies.front().levels) {
    depth.is_chosen_at_launch = depth.name == "zone" || depth.name == "cluster";
  }
  catalog.topologies.push_back({.name = "fabric",
                                .levels = {{.name = "hall", .node_label = "example.com/hall"},
                                           {.name = "spine", .node_label = "", .is_chosen_at_launch = false}}});
  const model::DomainId hall{static_cast<std::uint32_t>(catalog.domains.size())};
  catalog.domains.push_back({"hall-0", *model::level_of_key(catalog.topologies, "fabric/hall"), world.zone(0)});
  catalog.domains.push_back({"spine-0", *model::level_of_key(catalog.topologies, "fabric/spine"), hall});
  model::Service prefill = catalog.services.front(), decode = prefill, other = prefill, chat = prefill;
  chat.slo = {.ttft = 1s, .tpot = 50ms, .e2e = 30s, .attainment_ppm = 990'000, .ttft_prefills_milli = 2'000};
  chat.windows = {{*Cron::parse("0 8 * * 1-5"), 10h, 2, 4}};
  chat.survives = model::TopologyLevel::rack;
  chat.alternatives = {{3}};
  model::Workload& workload = chat.workload;
  workload.name = "large", workload.model = "Llama-3.1-8B";
  workload.step_limits = {64, 4096};
  workload.queue = team;
  workload.placed_elsewhere = true;
  catalog.extended_resources = {"nvidia.com/mig-1g.10gb", "nvidia.com/gpu.shared"};
  catalog.eligibility.purchases = {{sale, {1}}};
  workload.pod_class = world.pod_class({true, false, true}, {.cpu_milli = 4'000, .memory_mib = 512, .pod_slots = 1});
  world.pod_class({}, {.storage_mib = 20, .pod_slots = 1, .extended = {0, 2}});
  world.pod_class({true});
  catalog.eligibility.pod_classes.back().unsupported = model::PodRule::topology_spread;
  catalog.eligibility.pod_classes[1].kept_apart = {false, true, true};
  catalog.eligibility.pod_classes[1].kept_apart_by = "team/db-0";
  workload.price_per_hour = {6'880'000};
  workload.priority = 100;
  workload.pods = 2, workload.gpus_per_replica = 8;
  workload.leader = {.gpus = {}, .pod_class = {1}};
  workload.preferred = model::TopologyLevel::node;
  prefill.name = "prefill", decode.name = "decode", other.name = "chat on A100";
  prefill.workload.role = model::Role::prefill;
  decode.workload.role = model::Role::decode;
  decode.prefill_service = {1};
  decode.role_limits = prefill.role_limits = {1'000, 4'000, 30s};
  catalog.services = {chat, prefill, decode, other};
}

template <typename Table, typename Id, typename Change>
void change_row(Table& table, Id id, Change change) {
  auto row = table.at(id);
  change(row);
  table.set(id, std::move(row));
}

/// Returns an instance type that states every resource.
inline model::InstanceType full_instance_type() {
  return {.name = "p5.48xlarge",
          .cpu_milli = 192'000,
          .memory_mib = 2'097'152,
          .storage_mib = 30'000,
          .pod_slots = 110,
          .extended = std::vector<std::int64_t>{56, model::kUnlimited}};
}

/// Returns a snapshot with nodes of pools and foreign nodes, a group of claims, serving, starting and waiting replicas,
/// and foreign workloads.
inline model::Snapshot full_snapshot() {
  using namespace std::chrono_literals;
  using model::TopologyLevel;
  World world;
  const model::OfferingId offering = world.offering(8, 0, 12);
  const model::PoolId pool = world.pool({offering}, 64);
  add_services(world, {pool, offering});
  world.catalog().instance_types = {full_instance_type()};
  world.catalog().offerings[offering.value].type = {0};
  world.node(0), world.node(1, 1);
  world.claim(pool, offering, model::Claim::Phase::registered, 1);
  world.claim(pool, offering, model::Claim::Phase::requested, 2, {0}, world.zone(0));
  world.bind(world.gang(2, 2, TopologyLevel::node, 3), {0});
  const model::GangId waiting = world.gang(1, 8, TopologyLevel::rack, 4);
  world.enqueue(waiting, {1});
  world.bind(world.gang(1, 2, TopologyLevel::node), {1});  // the node has lost a GPU since
  world.bind(world.gang(1, 1, TopologyLevel::node), {});   // its node is not in the snapshot
  world.bind(world.gang(1, 1, TopologyLevel::node), {0}, model::Gang::Phase::starting);

  const model::GangId incomplete = world.gang(1, 2, TopologyLevel::node, 5);  // two of its pods do not exist
  const model::GangId led = world.gang(2, 4, TopologyLevel::rack, 6);         // a worker and a leader without GPUs

  model::Snapshot& s = world.snapshot;
  s.at = at(100);
  s.version = 7;
  s.services.set({0}, {.desired_replicas = 3, .leaving = 1, .gateway_waiting = model::Signal::measured(2, 5s)});
  for (std::uint32_t id = 1; id < 4; ++id) s.services.set({id}, {.gateway_waiting = {}});
  const auto last_domain = static_cast<std::uint32_t>(world.catalog().domains.size() - 1);
  change_row(s.nodes, model::NodeId{0}, [&](auto& row) {
    row.pool = pool, row.offering = offering, row.claim = {0};
    row.domains.set(*model::level_of_key(world.catalog().topologies, "fabric/spine"), {last_domain});
    row.domains.set(*model::level_of_key(world.catalog().topologies, "fabric/hall"), {last_domain - 1});
  });
  change_row(s.nodes, model::NodeId{1}, [](auto& row) {
    row.is_foreign = true, row.node_class = {2};
    row.available = model::Resources{.cpu_milli = 96'000, .memory_mib = 2'048, .pod_slots = 110, .extended = {7}};
  });
  change_row(s.claims, model::ClaimId{0}, [](auto& row) { row.node = {0}; });
  change_row(s.claims, model::ClaimId{1}, [](auto& row) { row.group_size = 2, row.expected_ready_at = at(300); });
  change_row(s.gangs, model::GangId{0}, [](model::Gang& row) { row.spec.pods.minimum = 2; });
  change_row(s.pods, model::PodId{0}, [](model::Pod& row) { row.devices = {0, 5}; });
  model::ReplicaSignals signals;
  for (const model::ReplicaSignal& replica_signal : model::kReplicaSignals) {
    signals.*replica_signal.field = model::Signal::measured(12, 5s);
  }
  signals.running.state = model::Signal::State::stale;
  signals.ttft_p99_us = {model::Signal::State::missing, 0, 40s};
  s.signals.set({0}, signals);
  change_row(s.gangs, waiting, [&](model::Gang& row) {
    row.spec.pods.pod_class = {1};
    row.spec.preferred = TopologyLevel::nvlink;
    row.spec.priority = -5, row.spec.preemptible = true;
  });
  change_row(s.gangs, model::GangId{2}, [](auto& row) { row.service = {}; });
  change_row(s.gangs, incomplete, [](model::Gang& row) {
    row.service = {};
    row.spec.pods.minimum = row.spec.pods.count = 3;
  });
  change_row(s.gangs, led, [](model::Gang& row) {
    row.spec.pods.count = 1;
    row.spec.other_pods = {{.gpu = {0}, .count = 1, .gpus_per_pod = {}, .pod_class = {0}, .minimum = 1}};
  });
  change_row(s.pods, s.gangs.find(led)->pods.front(), [](model::Pod& row) { row.set = 1, row.gpus = {}; });
  change_row(s.gangs, model::GangId{4}, [](auto& row) { row.resumed = true, row.expected_ready_at = at(200); });
  change_row(s.gangs, model::GangId{0}, [](auto& row) {
    row.initialized_at = at(0);
    row.containers_started_at = at(1);
  });
  return s;
}

/// Returns a state in which every key of a snapshot file occurs.
inline SavedState full_state() {
  SavedState state;
  state.snapshot = full_snapshot();
  state.policies.name = "full";
  state.policies.scale = {decide::scale::Capstan{}, decide::scale::Fixed{2}, decide::scale::QueueHpa{},
                          decide::scale::Rules{}};
  state.policies.place.emplace();
  state.policies.provision = decide::provision::whole_groups();
  state.memory.scale.resize(state.policies.scale.size());
  state.memory.planned = {{{0}, 7, at(95)}, {{0}, 8, at(95)}};
  state.memory.requested = {{{0}, 2}, {{1}, 4}};
  state.names.nodes.set({0}, "node-0");
  state.names.claims.set({0}, "claim-0");
  state.names.gangs.set({0}, "chat-0");
  state.names.pods.set({0}, "chat-0-0");
  return state;
}

/// A file in a folder of its own, which is removed with this object.
class Scratch {
 public:
  Scratch() {
    std::string pattern = std::filesystem::temp_directory_path() / "capstan-recording-XXXXXX";
    folder_ = mkdtemp(pattern.data());
  }
  ~Scratch() { std::filesystem::remove_all(folder_); }
  std::string file() const { return folder_ / "run.rec"; }

 private:
  std::filesystem::path folder_;
};

inline SavedState state_of(const World& world, Instant moment) {
  SavedState state{.snapshot = world.snapshot, .names = {}, .policies = {"any", {}, {}, {}}, .memory = {}};
  state.snapshot.at = moment;
  state.policies.scale.assign(world.snapshot.catalog->services.size(), decide::scale::Fixed{0});
  state.policies.place.emplace();
  state.memory.scale.resize(state.policies.scale.size());
  return state;
}
inline SavedState small_state(Instant moment) { return state_of(World(), moment); }

}  // namespace capstan::archive::testing
