#pragma once

#include <cstdint>
#include <map>
#include <vector>
#include "base/known_row.h"

#include "sim/cluster/component.h"
#include "sim/cluster/flow_network.h"
#include "sim/cluster/node_provider.h"

namespace capstan::sim {

/// The functions that the start chain needs from the part that owns the gangs.
class StartListener {
 public:
  virtual ~StartListener() = default;
  /// Returns true if a replica of the service is ready, so that others can load weights from it.
  virtual bool has_ready_replica(model::ServiceId service) const = 0;
  virtual void start_ended(model::GangId gang) = 0;  ///< reports that the warm-up of the engine has ended
};

/// The start of a gang, from bound to ready: image pulls, weight loading, engine initialization, warm-up. Pulls and
/// loads of all gangs share the bandwidth of one network. A node keeps the images that it pulled and, with a weight
/// cache, the weights that it loaded.
class StartChain : Component {
 public:
  enum class Resume : std::uint8_t { sleep, conversion };

  StartChain(Basics& basics, std::uint64_t seed, const NodeProvider& nodes, StartListener& listener);

  void add_node(model::NodeId id);
  /// Cancels the transfers of a node and forgets what it has loaded. No effect if it was stopped before.
  void stop_node(model::NodeId id);

  void add(model::GangId id, Instant decided_at);
  void remove(model::GangId id);
  /// Pulls the image onto the nodes of the gang's bound pods.
  void pull_images(model::GangId id);
  /// Starts the gang. All its pods are bound, and pull_images() was called.
  void begin(model::GangId id);
  /// Restarts an engine that exists already: after sleep, or after it served in another role.
  void resume(model::GangId id, Resume after, const Latency& latency);
  /// Gives the gang's nodes everything that a start would load, for a replica that served before the run began.
  void preload(model::GangId id);
  /// Counts the weights that the gang's nodes loaded for service `from` as loaded for `to`, too, because both run the
  /// same engine.
  void share_weights(model::GangId id, model::ServiceId from, model::ServiceId to);

  /// Returns the time from which all nodes of a gang had its image, so that its containers started. The result is
  /// never() for a gang that was warm or resumed and therefore pulled no image.
  Instant containers_started_at(model::GangId id) const;
  /// Returns the time in which a started gang loaded its weights; 0: it was warm or resumed.
  Duration weights_time(model::GangId id) const;
  /// Returns the expected time from bound to ready, learned from earlier starts.
  Duration expected_start(model::ServiceId service) const { return known_row(expected_start_, service); }
  const std::vector<ColdStart>& cold_starts() const { return cold_starts_; }

  Instant next_transfer() { return network_.next_done(); }
  /// Advances the transfers. `to` is at or before next_transfer().
  void advance(Instant to);
  void engine_ready(model::GangId id);
  void warm(model::GangId id);

  void add_transfers(StateHash& hash);
  void add_draws(StateHash& hash) const { add_draw(hash, draws_); }

 private:
  struct Image {
    std::uint32_t number = 0;
    bool cached = false;  ///< false while the pull is under way
  };
  struct Weights {
    model::ServiceId service;
    Bytes loaded;           ///< the largest share that was loaded on this node
    bool compiled = false;  ///< the engine's compile cache is on this node
  };
  struct Node {
    std::vector<Image> images;
    std::vector<Weights> weights;
    LinkId nic, disk, host, fabric;
  };
  struct Start {
    ColdStart times;
    bool waits_for_images = false;
    std::vector<FlowId> loads;  ///< weight transfers under way
    Resume resumed_after{};     ///< valid if the gang's row has `resumed`
  };
  struct Transfer {
    model::NodeId node;
    std::uint32_t image = 0;
    model::GangId gang;  ///< owner of the weights; none for an image
    Bytes size;
  };
  using NodePods = std::pair<model::NodeId, std::int64_t>;  ///< a node and how many pods of a gang it has

  Duration nominal_start(model::ServiceId service) const;
  std::vector<NodePods> nodes_of(const model::Gang& gang) const;
  Weights& weights_on(model::NodeId node, model::ServiceId service);
  void pull_image(model::NodeId node, const VariantStart& start);
  void note_node_times(ColdStart& times, const model::Gang& gang) const;
  void check_images(model::GangId id);
  void load_weights(model::GangId id);
  std::vector<LinkId> weight_links(const Node& node, const VariantStart& start, bool is_kept, bool has_peer) const;
  void transfer_done(FlowId flow);
  void weights_done(model::GangId id);

  const NodeProvider& provider_;
  StartListener& listener_;
  RandomStream draws_;
  FlowNetwork network_;
  LinkId registry_, store_;
  std::vector<FlowId> done_;  ///< scratch of advance()
  std::map<FlowId, Transfer> transfers_;
  std::map<model::NodeId, Node> nodes_;
  std::map<model::GangId, Start> starts_;
  std::map<model::ServiceId, Duration> expected_start_;
  std::vector<ColdStart> cold_starts_;
};

}  // namespace capstan::sim
