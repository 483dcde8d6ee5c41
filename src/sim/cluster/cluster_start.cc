// A replica's start: image, weights, engine initialisation, warm-up; the first two share bandwidth.
#include <algorithm>
#include <array>

#include "base/assert.h"
#include "sim/cluster/cluster.h"
#include "sim/cluster/longest.h"

namespace capstan::sim {
const VariantStart& Cluster::start_of(const WorkloadKey& key) const {
  const auto it = std::find_if(config_.starts.begin(), config_.starts.end(), [&](const VariantStart& start) {
    return start.service == key.first && start.variant == key.second;
  });
  CAPSTAN_ASSERT(it != config_.starts.end());
  return *it;
}

/// What an operator would guess before the first start: every transfer alone on one node's links.
Duration Cluster::nominal_start(const WorkloadKey& key) const {
  const VariantStart& start = start_of(key);
  const BandwidthConfig& bandwidth = config_.bandwidth;
  const auto alone = [](Bytes size, std::int64_t bytes_per_s) {
    const __int128 ns = static_cast<__int128>(size.count) * 1'000'000'000 / bytes_per_s;
    return std::min(kLongestWait, Duration(static_cast<std::int64_t>(std::min<__int128>(ns, kLongestWait.count()))));
  };
  std::int64_t weights_rate = std::min(bandwidth.node_nic, bandwidth.object_store);
  if (start.tier == WeightTier::disk) weights_rate = bandwidth.node_disk;
  if (start.tier == WeightTier::host_memory) weights_rate = bandwidth.node_host;
  if (start.tier == WeightTier::peer) weights_rate = bandwidth.node_fabric;
  const Bytes image = config_.image_cached_on_boot ? Bytes{} : start.image_size;
  return alone(image, std::min(bandwidth.node_nic, bandwidth.registry)) + alone(start.weights, weights_rate) +
         start.engine_init.midpoint() + start.warm_up.midpoint();
}

/// The gang's nodes in the order of its pods, each with how many of them it has.
std::vector<std::pair<model::NodeId, std::int64_t>> Cluster::nodes_of(const model::Gang& gang) const {
  std::vector<std::pair<model::NodeId, std::int64_t>> nodes;
  for (model::PodId id : gang.pods) {
    const model::NodeId node = seen_.pods.at(id).node;
    CAPSTAN_ASSERT(node.valid());
    const auto it = std::find_if(nodes.begin(), nodes.end(), [&](const auto& n) { return n.first == node; });
    it == nodes.end() ? void(nodes.emplace_back(node, 1)) : void(++it->second);
  }
  return nodes;
}

/// After a bind: pulls what the new nodes lack, and starts the gang if all its pods are bound.
void Cluster::note_bound(model::GangId id) {
  const model::Gang& row = seen_.gangs.at(id);
  const WorkloadKey key{row.service, row.variant};
  bool whole = true;
  for (model::PodId pod : row.pods) {
    const model::NodeId node = seen_.pods.at(pod).node;
    node.valid() ? want_image(node, start_of(key)) : void(whole = false);
  }
  if (!whole) return;
  GangRecord& record = gangs_.at(id);
  if (now_ > record.deferred_at) ++meter_.gangs_deferred;
  record.stage = Stage::images;
  record.start.bound_at = now_;
  for (const auto& [node, pods] : nodes_of(row)) {
    const model::ClaimId claim_id = seen_.nodes.at(node).claim;
    if (!claim_id.valid()) continue;
    const Instant ready = seen_.nodes.at(node).ready_at;
    const Instant requested = seen_.claims.at(claim_id).requested_at;
    if (requested < record.start.decided_at || ready < record.start.node_ready_at) continue;
    record.start.node_requested_at = requested;
    record.start.node_launched_at = claims_.at(claim_id).bought_at;
    record.start.node_booted_at = claims_.at(claim_id).booted_at;
    record.start.node_ready_at = ready;
  }
  set_pod_states(id, GpuState::starting);
  model::Gang gang = row;
  gang.phase = model::Gang::Phase::starting;
  gang.expected_ready_at = now_ + workloads_.at(key).expected_start;
  set(id, std::move(gang));
  check_images(id);
}

/// One pull for each image and node; whoever comes later waits for the same one.
void Cluster::want_image(model::NodeId node, const VariantStart& start) {
  NodeRecord& record = nodes_.at(node);
  const auto known = std::find_if(record.images.begin(), record.images.end(),
                                  [&](const Image& image) { return image.number == start.image; });
  if (known != record.images.end()) return;
  record.images.push_back({start.image, config_.image_cached_on_boot});
  if (config_.image_cached_on_boot) return;
  const std::array links{record.nic, registry_};
  transfers_[network_.start(start.image_size, links)] = {node, start.image, {}, start.image_size};
}

void Cluster::check_images(model::GangId id) {
  GangRecord& record = gangs_.at(id);
  if (record.stage != Stage::images) return;
  const model::Gang& gang = seen_.gangs.at(id);
  const std::uint32_t wanted = start_of({gang.service, gang.variant}).image;
  for (const auto& [node, pods] : nodes_of(gang)) {
    const std::vector<Image>& images = nodes_.at(node).images;
    const bool there = std::any_of(images.begin(), images.end(),
                                   [&](const Image& image) { return image.number == wanted && image.cached; });
    if (!there) return;
  }
  record.start.image_at = now_;
  load_weights(id);
}

Cluster::Weights& Cluster::weights_on(model::NodeId node, const WorkloadKey& key) {
  std::vector<Weights>& all = nodes_.at(node).weights;
  const auto it = std::find_if(all.begin(), all.end(), [&](const Weights& w) { return w.of == key; });
  if (it != all.end()) return *it;
  all.push_back({key, {}, false});
  return all.back();
}

/// The ranks of an engine begin to load together, when the last of them has its container.
void Cluster::load_weights(model::GangId id) {
  const model::Gang& gang = seen_.gangs.at(id);
  const WorkloadKey key{gang.service, gang.variant};
  const VariantStart& start = start_of(key);
  GangRecord& record = gangs_.at(id);
  record.stage = Stage::weights;
  const std::set<model::GangId>& peers = workloads_.at(key).gangs;
  const bool peer = start.tier == WeightTier::peer && std::any_of(peers.begin(), peers.end(), [&](model::GangId other) {
                      return gangs_.at(other).stage == Stage::ready;
                    });
  for (const auto& [node, pods] : nodes_of(gang)) {
    const Bytes share{ceil_div(start.weights.count * pods, static_cast<std::int64_t>(gang.pods.size()))};
    const NodeRecord& on = nodes_.at(node);
    const bool kept = config_.weight_cache != WeightCache::none && weights_on(node, key).loaded >= share;
    std::vector<LinkId> links;
    if (start.tier == WeightTier::host_memory || (kept && config_.weight_cache == WeightCache::host_memory)) {
      links = {on.host};
    } else if (peer) {
      links = {on.fabric};
    } else if (start.tier == WeightTier::disk || kept) {
      links = {on.disk};
    } else {
      links = {on.nic, store_};
    }
    const FlowId flow = network_.start(share, links);
    transfers_[flow] = {node, 0, id, share};
    record.loads.push_back(flow);
  }
}

void Cluster::transfer_done(FlowId flow) {
  const auto it = transfers_.find(flow);
  CAPSTAN_ASSERT(it != transfers_.end());
  const Transfer transfer = it->second;
  transfers_.erase(it);
  if (transfer.gang.valid()) {
    GangRecord& record = gangs_.at(transfer.gang);
    Bytes& loaded = weights_on(transfer.node, {record.start.service, record.start.variant}).loaded;
    loaded = std::max(loaded, transfer.size);
    std::erase(record.loads, flow);
    if (record.loads.empty()) weights_done(transfer.gang);
    return;
  }
  for (Image& image : nodes_.at(transfer.node).images) image.cached = image.cached || image.number == transfer.image;
  std::set<model::GangId> waiting;
  for (model::PodId pod : nodes_.at(transfer.node).pods) waiting.insert(seen_.pods.at(pod).gang);
  for (model::GangId gang : waiting) check_images(gang);
}

void Cluster::weights_done(model::GangId id) {
  GangRecord& record = gangs_.at(id);
  record.stage = Stage::init;
  record.start.weights_at = now_;
  const WorkloadKey key{record.start.service, record.start.variant};
  bool compiled = true;
  for (const auto& [node, pods] : nodes_of(seen_.gangs.at(id))) compiled = compiled && weights_on(node, key).compiled;
  const VariantStart& start = start_of(key);
  const Latency& init = compiled ? start.engine_init_cached : start.engine_init;
  schedule(now_ + start.draw(init, now_, start_draws_), EventKind::engine_ready, id.value);
}

void Cluster::engine_ready(model::GangId id) {
  const auto record = gangs_.find(id);
  if (record == gangs_.end()) return;  // removed while it started
  record->second.stage = Stage::warm;
  record->second.start.init_at = now_;
  const WorkloadKey key{record->second.start.service, record->second.start.variant};
  for (const auto& [node, pods] : nodes_of(seen_.gangs.at(id))) weights_on(node, key).compiled = true;
  const VariantStart& start = start_of(key);
  schedule(now_ + start.draw(start.warm_up, now_, start_draws_), EventKind::warm, id.value);
}

/// An engine that is there already, from another role or out of sleep, serves after so long.
void Cluster::resume_within(model::GangId id, const Latency& latency) {
  GangRecord& record = gangs_.at(id);
  record.stage = Stage::warm;
  set_pod_states(id, GpuState::starting);
  const VariantStart& start = start_of({record.start.service, record.start.variant});
  schedule(now_ + start.draw(latency, now_, start_draws_), EventKind::warm, id.value);
}

void Cluster::warm(model::GangId id) {
  const auto record = gangs_.find(id);
  if (record == gangs_.end()) return;
  ColdStart& start = record->second.start;
  if (seen_.gangs.at(id).resumed) {
    ++(record->second.woken ? meter_.wakes : meter_.conversions);
    return serve(id);
  }
  start.ready_at = now_;
  cold_starts_.push_back(start);
  ++meter_.cold_starts;
  Duration& expected = workloads_.at({start.service, start.variant}).expected_start;
  expected = (3 * expected + (now_ - start.bound_at)) / 4;
  serve(id);
}

/// A replica that was there before the run: its nodes have all that it loaded.
void Cluster::serve_warm(model::GangId id) {
  const model::Gang& gang = seen_.gangs.at(id);
  const WorkloadKey key{gang.service, gang.variant};
  const VariantStart& start = start_of(key);
  for (const auto& [node, pods] : nodes_of(gang)) {
    std::vector<Image>& images = nodes_.at(node).images;
    const bool known =
        std::any_of(images.begin(), images.end(), [&](const Image& i) { return i.number == start.image; });
    if (!known) images.push_back({start.image, true});
    Weights& weights = weights_on(node, key);
    weights.loaded = {ceil_div(start.weights.count * pods, static_cast<std::int64_t>(gang.pods.size()))};
    weights.compiled = true;
  }
  serve(id);
}

void Cluster::serve(model::GangId id) {
  GangRecord& record = gangs_.at(id);
  record.stage = Stage::ready;
  record.ready_since = now_;
  record.scraped_at = now_;
  record.scraped_busy = {};
  set_pod_states(id, GpuState::idle);
  set_phases(id, model::Gang::Phase::ready, model::Pod::Phase::ready);
  hook_.ready({id, record.start.service, record.start.variant, record.start.ordinal}, now_);
}

}  // namespace capstan::sim
