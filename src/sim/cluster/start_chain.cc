#include "sim/cluster/start_chain.h"

#include <algorithm>
#include <array>
#include <set>

#include "base/assert.h"
#include "base/known_row.h"
#include "sim/cluster/time_limit.h"

namespace capstan::sim {

StartChain::StartChain(Basics& basics, std::uint64_t seed, const NodeProvider& nodes, StartListener& listener)
    : Component(basics),
      provider_(nodes),
      listener_(listener),
      draws_(seed, "cluster.start"),
      registry_(network_.add_link(config_.bandwidth.registry)),
      store_(network_.add_link(config_.bandwidth.object_store)) {
  for (std::uint32_t s = 0; s < catalog().services.size(); ++s) expected_start_[{s}] = nominal_start({s});
}

/// Returns the estimate for the first start. It assumes that each transfer has its links for itself.
Duration StartChain::nominal_start(model::ServiceId service) const {
  const VariantStart& start = start_of(service);
  const BandwidthConfig& bandwidth = config_.bandwidth;
  const auto alone = [](Bytes size, std::int64_t bytes_per_s) {
    const __int128 ns = static_cast<__int128>(size.count) * 1'000'000'000 / bytes_per_s;
    return std::min(kMaxDuration, Duration(static_cast<std::int64_t>(std::min<__int128>(ns, kMaxDuration.count()))));
  };
  std::int64_t weights_rate = std::min(bandwidth.node_nic, bandwidth.object_store);
  if (start.tier == WeightTier::disk) weights_rate = bandwidth.node_disk;
  if (start.tier == WeightTier::host_memory) weights_rate = bandwidth.node_host;
  if (start.tier == WeightTier::peer) weights_rate = bandwidth.node_fabric;
  const Bytes image = config_.image_cached_on_boot ? Bytes{} : start.image_size;
  return alone(image, std::min(bandwidth.node_nic, bandwidth.registry)) + alone(start.weights, weights_rate) +
         start.engine_init.midpoint() + start.warm_up.midpoint();
}

void StartChain::add_node(model::NodeId id) {
  Node node;
  node.nic = network_.add_link(config_.bandwidth.node_nic);
  node.disk = network_.add_link(config_.bandwidth.node_disk);
  node.host = network_.add_link(config_.bandwidth.node_host);
  node.fabric = network_.add_link(config_.bandwidth.node_fabric);
  nodes_.emplace(id, std::move(node));
}

void StartChain::stop_node(model::NodeId id) {
  std::erase_if(transfers_, [&](const auto& entry) {
    if (entry.second.node != id) return false;
    network_.cancel(entry.first);
    return true;
  });
  nodes_.erase(id);
}

void StartChain::add(model::GangId id, Instant decided_at) {
  const model::Gang& gang = rows().gangs.at(id);
  ColdStart& times = starts_[id].times;
  times.gang = id;
  times.service = gang.service;
  times.ordinal = gang.ordinal;
  times.decided_at = decided_at;
  times.created_at = now();
}

void StartChain::remove(model::GangId id) {
  for (FlowId flow : known_row(starts_, id).loads) {
    network_.cancel(flow);
    transfers_.erase(flow);
  }
  starts_.erase(id);
}

/// Returns the gang's nodes in the order of its pods.
std::vector<StartChain::NodePods> StartChain::nodes_of(const model::Gang& gang) const {
  std::vector<NodePods> nodes;
  for (model::PodId id : gang.pods) {
    const model::NodeId node = rows().pods.at(id).node;
    CAPSTAN_ASSERT(node.valid());
    const auto it = std::ranges::find(nodes, node, &NodePods::first);
    it == nodes.end() ? void(nodes.emplace_back(node, 1)) : void(++it->second);
  }
  return nodes;
}

void StartChain::pull_images(model::GangId id) {
  const VariantStart& start = start_of(service_of(id));
  for (model::PodId pod : rows().gangs.at(id).pods) {
    if (const model::NodeId node = rows().pods.at(pod).node; node.valid()) pull_image(node, start);
  }
}

/// Pulls the image onto the node once. Another gang on the node waits for the same pull.
void StartChain::pull_image(model::NodeId id, const VariantStart& start) {
  Node& node = known_row(nodes_, id);
  if (std::ranges::find(node.images, start.image, &Image::number) != node.images.end()) return;
  node.images.push_back({start.image, config_.image_cached_on_boot});
  if (config_.image_cached_on_boot) return;
  const std::array links{node.nic, registry_};
  transfers_[network_.start(start.image_size, links)] = {id, start.image, {}, start.image_size};
}

void StartChain::begin(model::GangId id) {
  Start& start = known_row(starts_, id);
  start.waits_for_images = true;
  start.times.bound_at = now();
  note_node_times(start.times, rows().gangs.at(id));
  check_images(id);
}

/// Notes the times of one node: of the nodes that were requested after the decision to start the gang, the one that
/// became ready last.
void StartChain::note_node_times(ColdStart& times, const model::Gang& gang) const {
  for (const auto& [node, pods] : nodes_of(gang)) {
    const model::ClaimId claim_id = rows().nodes.at(node).claim;
    if (!claim_id.valid()) continue;
    const Instant ready = rows().nodes.at(node).ready_at;
    const Instant requested = rows().claims.at(claim_id).requested_at;
    if (requested < times.decided_at || ready < times.node_ready_at) continue;
    times.node_requested_at = requested;
    times.node_launched_at = provider_.times(claim_id).bought_at;
    times.node_booted_at = provider_.times(claim_id).booted_at;
    times.node_ready_at = ready;
  }
}

/// Loads the weights if all nodes of the gang have its image.
void StartChain::check_images(model::GangId id) {
  Start& start = known_row(starts_, id);
  if (!start.waits_for_images) return;
  const std::uint32_t wanted = start_of(service_of(id)).image;
  for (const auto& [node, pods] : nodes_of(rows().gangs.at(id))) {
    const bool is_cached = std::ranges::any_of(
        known_row(nodes_, node).images, [&](const Image& image) { return image.number == wanted && image.cached; });
    if (!is_cached) return;
  }
  start.waits_for_images = false;
  start.times.image_at = now();
  load_weights(id);
}

StartChain::Weights& StartChain::weights_on(model::NodeId node, model::ServiceId service) {
  std::vector<Weights>& all = known_row(nodes_, node).weights;
  const auto it = std::ranges::find(all, service, &Weights::service);
  if (it != all.end()) return *it;
  all.push_back({service, {}, false});
  return all.back();
}

/// Starts the loads of all ranks of an engine. They begin together, when the last rank has its container.
void StartChain::load_weights(model::GangId id) {
  const model::Gang& gang = rows().gangs.at(id);
  const model::ServiceId service = gang.service;
  const VariantStart& start = start_of(service);
  const bool has_peer = start.tier == WeightTier::peer && listener_.has_ready_replica(service);
  for (const auto& [node, pods] : nodes_of(gang)) {
    const Bytes share{ceil_div(start.weights.count * pods, static_cast<std::int64_t>(gang.pods.size()))};
    const bool is_kept = config_.weight_cache != WeightCache::none && weights_on(node, service).loaded >= share;
    const FlowId flow = network_.start(share, weight_links(known_row(nodes_, node), start, is_kept, has_peer));
    transfers_[flow] = {node, 0, id, share};
    known_row(starts_, id).loads.push_back(flow);
  }
}

/// Returns the links over which a node loads weights.
/// @param is_kept   the node loaded them before and keeps them
/// @param has_peer  a ready replica can send them
std::vector<LinkId> StartChain::weight_links(const Node& node, const VariantStart& start, bool is_kept,
                                             bool has_peer) const {
  const bool kept_in_memory = is_kept && config_.weight_cache == WeightCache::host_memory;
  if (start.tier == WeightTier::host_memory || kept_in_memory) return {node.host};
  if (has_peer) return {node.fabric};
  if (start.tier == WeightTier::disk || is_kept) return {node.disk};
  return {node.nic, store_};
}

void StartChain::advance(Instant to) {
  done_.clear();
  network_.advance(to, done_);
  for (FlowId flow : done_) transfer_done(flow);
}

void StartChain::transfer_done(FlowId flow) {
  const auto it = transfers_.find(flow);
  CAPSTAN_ASSERT(it != transfers_.end());
  const Transfer transfer = it->second;
  transfers_.erase(it);
  if (transfer.gang.valid()) {
    Bytes& loaded = weights_on(transfer.node, service_of(transfer.gang)).loaded;
    loaded = std::max(loaded, transfer.size);
    std::vector<FlowId>& loads = known_row(starts_, transfer.gang).loads;
    std::erase(loads, flow);
    if (loads.empty()) weights_done(transfer.gang);
    return;
  }
  for (Image& image : known_row(nodes_, transfer.node).images)
    image.cached = image.cached || image.number == transfer.image;
  std::set<model::GangId> waiting;
  for (model::PodId pod : provider_.pods(transfer.node)) waiting.insert(rows().pods.at(pod).gang);
  for (model::GangId gang : waiting) {
    if (starts_.contains(gang)) check_images(gang);  // a batch job has no image
  }
}

void StartChain::weights_done(model::GangId id) {
  known_row(starts_, id).times.weights_at = now();
  const model::ServiceId service = service_of(id);
  bool compiled = true;
  for (const auto& [node, pods] : nodes_of(rows().gangs.at(id))) {
    compiled = compiled && weights_on(node, service).compiled;
  }
  const VariantStart& start = start_of(service);
  const Latency& init = compiled ? start.engine_init_cached : start.engine_init;
  events_.schedule(now() + start.draw(init, now(), draws_), EventKind::engine_ready, id.value);
}

void StartChain::engine_ready(model::GangId id) {
  const auto record = starts_.find(id);
  if (record == starts_.end()) return;  // the gang was removed while it started
  record->second.times.init_at = now();
  const model::ServiceId service = service_of(id);
  for (const auto& [node, pods] : nodes_of(rows().gangs.at(id))) weights_on(node, service).compiled = true;
  const VariantStart& start = start_of(service);
  events_.schedule(now() + start.draw(start.warm_up, now(), draws_), EventKind::warm, id.value);
}

void StartChain::resume(model::GangId id, Resume after, const Latency& latency) {
  known_row(starts_, id).resumed_after = after;
  events_.schedule(now() + start_of(service_of(id)).draw(latency, now(), draws_), EventKind::warm, id.value);
}

Instant StartChain::containers_started_at(model::GangId id) const {
  const Instant image_at = known_row(starts_, id).times.image_at;
  return rows().gangs.at(id).resumed || image_at == Instant{} ? Instant::never() : image_at;
}

Duration StartChain::weights_time(model::GangId id) const {
  const auto record = starts_.find(id);
  if (record == starts_.end() || rows().gangs.at(id).resumed) return {};
  const ColdStart& times = record->second.times;
  return times.weights_at == Instant{} ? Duration{} : times.weights_at - times.image_at;
}

void StartChain::warm(model::GangId id) {
  const auto record = starts_.find(id);
  if (record == starts_.end()) return;
  if (rows().gangs.at(id).resumed) {
    ++(record->second.resumed_after == Resume::sleep ? meter_.wakes : meter_.conversions);
    return listener_.start_ended(id);
  }
  ColdStart& times = record->second.times;
  times.ready_at = now();
  cold_starts_.push_back(times);
  ++meter_.cold_starts;
  Duration& expected = known_row(expected_start_, service_of(id));
  expected = (3 * expected + (now() - times.bound_at)) / 4;
  listener_.start_ended(id);
}

void StartChain::preload(model::GangId id) {
  const model::Gang& gang = rows().gangs.at(id);
  const VariantStart& start = start_of(service_of(id));
  for (const auto& [node, pods] : nodes_of(gang)) {
    std::vector<Image>& images = known_row(nodes_, node).images;
    const bool is_known = std::ranges::find(images, start.image, &Image::number) != images.end();
    if (!is_known) images.push_back({start.image, true});
    Weights& weights = weights_on(node, service_of(id));
    weights.loaded = {ceil_div(start.weights.count * pods, static_cast<std::int64_t>(gang.pods.size()))};
    weights.compiled = true;
  }
}

void StartChain::share_weights(model::GangId id, model::ServiceId from, model::ServiceId to) {
  for (const auto& [node, pods] : nodes_of(rows().gangs.at(id))) {
    const Weights source = weights_on(node, from);
    Weights& target = weights_on(node, to);
    target.loaded = std::max(target.loaded, source.loaded);
    target.compiled = target.compiled || source.compiled;
  }
}

void StartChain::add_transfers(StateHash& hash) {
  hash.add(static_cast<std::uint64_t>(network_.next_done().since_start.count()));
  hash.add(network_.flows());
}

}  // namespace capstan::sim
