#include "model/consistency.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "model/signal_names.h"
#include "model/topology_names.h"

namespace capstan::model {
namespace {

/// Returns a duration as "3.2 s".
std::string seconds(Duration duration) { return fmt::format("{:.1f} s", in_seconds(duration)); }

class Checker {
 public:
  explicit Checker(const Snapshot& snapshot) : snapshot_(snapshot), catalog_(*snapshot.catalog) {}

  std::optional<Inconsistency> run() {
    check_rows("services", snapshot_.services, [this](ServiceId id, const ServiceState& row) { service(id, row); });
    check_rows("nodes", snapshot_.nodes, [this](NodeId id, const Node& row) { node(id, row); });
    check_rows("claims", snapshot_.claims, [this](ClaimId, const Claim& row) { claim(row); });
    check_rows("gangs", snapshot_.gangs, [this](GangId id, const Gang& row) { gang(id, row); });
    check_rows("pods", snapshot_.pods, [this](PodId id, const Pod& row) { pod(id, row); });
    return std::move(fault_);
  }

 private:
  template <typename IdType, typename Row, typename Check>
  void check_rows(const char* table, const SharedTable<IdType, Row>& rows, Check check) {
    rows.for_each([&](IdType id, const Row& row) {
      if (fault_) return;
      table_ = table;
      id_ = id.value;
      check(id, row);
    });
  }

  void service(ServiceId id, const ServiceState& row) {
    if (id.value >= catalog_.services.size()) {
      return fail("id", fmt::format("found {}, expected less than {}, the number of services in the catalog", id.value,
                                    catalog_.services.size()));
    }
    if (row.leaving > row.desired_replicas) {
      fail("leaving",
           fmt::format("found {}, expected at most desired_replicas, which is {}", row.leaving, row.desired_replicas));
    }
    age("gateway_waiting", row.gateway_waiting);
  }

  void node(NodeId id, const Node& row) {
    domains(row);
    not_after("ready_at_ns", row.ready_at, row.ready_at.is_never());
    if (row.claim.valid()) {
      const Claim* claim = snapshot_.claims.find(row.claim);
      if (claim == nullptr) return fail("claim", no_row(row.claim.value));
      if (claim->node != id) {
        fail("claim",
             fmt::format("found {}, which became {}, expected the claim that became this node", row.claim.value,
                         claim->node.valid() ? fmt::format("node {}", claim->node.value) : std::string("no node")));
      }
    }
    if (!row.gpu.valid() && row.gpus > MilliGpu{}) return fail("gpu", "found none, expected the kind of its GPUs");
    if (!row.offering.valid()) return;
    const Offering& bought = catalog_.offering(row.offering);
    if (bought.gpu != row.gpu) {
      fail("gpu", fmt::format("found {}, expected the GPU of its offering, {}", row.gpu.value, bought.gpu.value));
    }
    const DomainId narrowest = narrowest_domain(row);
    if (narrowest.valid() && !catalog_.lies_within(narrowest, bought.zone)) {
      fail("domains", fmt::format("found domain {}, expected one in domain {}, where its offering is sold",
                                  narrowest.value, bought.zone.value));
    }
  }

  /// Checks that each domain has the level of its key, and that its parent is the next wider domain of the node.
  void domains(const Node& row) {
    const std::vector<Topology>& topologies = catalog_.topologies;
    for (std::size_t t = 0; t < topologies.size(); ++t) {
      DomainId inner;
      if (t == 0) domain(row, TopologyLevel::node, inner);
      for (std::size_t depth = topologies[t].levels.size(); depth > 0; --depth) {
        domain(row, level_at(topologies, {t, depth - 1}), inner);
      }
      // The widest domain of another topology lies in a zone or in the cluster.
      const DomainId outer = inner.valid() ? catalog_.domain(inner).parent : DomainId{};
      if (!outer.valid()) continue;
      const Level level = catalog_.domain(outer).level;
      if (level.is_standard() && row.domains.domain_at(level) != outer) {
        fail("domains." + catalog_.level_key(catalog_.domain(inner).level),
             fmt::format("found domain {}, which lies in domain {}, expected one in a domain of this node", inner.value,
                         outer.value));
      }
    }
  }

  /// Checks the domain of one level.
  /// @param inner  the next narrower domain of the node; becomes the domain of this level
  void domain(const Node& row, Level wanted, DomainId& inner) {
    const DomainId id = row.domains.domain_at(wanted);
    const std::string key = catalog_.level_key(wanted);
    const DomainId parent = inner.valid() ? catalog_.domain(inner).parent : DomainId{};
    if (!id.valid()) {
      if (parent.valid() && catalog_.domain(parent).level == wanted) {
        fail("domains",
             fmt::format("lacks \"{}\", expected domain {}, in which domain {} lies", key, parent.value, inner.value));
      }
      return;
    }
    const Domain& domain = catalog_.domain(id);
    if (domain.level != wanted) {
      return fail("domains." + key, fmt::format("found domain {}, a {}, expected a {}", id.value,
                                                catalog_.level_words(domain.level), catalog_.level_words(wanted)));
    }
    if (inner.valid() && parent != id) {
      return fail("domains." + key, fmt::format("found domain {}, expected domain {}, in which domain {} lies",
                                                id.value, parent.value, inner.value));
    }
    inner = id;
  }

  static DomainId narrowest_domain(const Node& row) {
    DomainId narrowest;
    row.domains.for_each([&](Level, DomainId id) { narrowest = narrowest.valid() ? narrowest : id; });
    return narrowest;
  }

  void claim(const Claim& row) {
    not_after("requested_at_ns", row.requested_at);
    const bool registered = row.phase == Claim::Phase::registered;
    if (row.node.valid() && !registered) {
      fail("node", fmt::format("found {} on a claim that is not registered, expected none", row.node.value));
    }
    if (row.node.valid() && snapshot_.nodes.find(row.node) == nullptr) fail("node", no_row(row.node.value));
    if (row.group_size > 0 && !row.group.valid()) {
      fail("group_size", fmt::format("found {} without a group, expected none", row.group_size));
    }
    const DomainId zone = catalog_.offering(row.offering).zone;
    if (row.domain.valid() && !catalog_.lies_within(row.domain, zone) && !catalog_.lies_within(zone, row.domain)) {
      fail("within", fmt::format("found domain {}, expected one in domain {}, where its offering is sold",
                                 row.domain.value, zone.value));
    }
  }

  void gang(GangId id, const Gang& row) {
    not_after("created_at_ns", row.created_at);
    not_after("initialized_at_ns", row.initialized_at, row.initialized_at.is_never());
    not_after("containers_started_at_ns", row.containers_started_at, row.containers_started_at.is_never());
    if (row.service.valid()) replica(id, row);
    if (auto fault = preference_fault(catalog_, row.spec.required_level, row.spec.preferred))
      fail("preferred", *std::move(fault));
    for (const ReplicaSignal& replica_signal : kReplicaSignals) {
      age(fmt::format("signals.{}", replica_signal.name), snapshot_.signals_of(id).*replica_signal.field);
    }
    bool all_bound = true, any_ready = false, any_ending = false, any_node = false, any_of_kind = false;
    MilliGpu largest;
    for (const PodId pod_id : row.pods) {
      const Pod* pod = snapshot_.pods.find(pod_id);
      if (pod == nullptr) return fail("pods", no_row(pod_id.value));
      if (pod->gang != id || !listed_.try_emplace(pod_id, id).second) {
        return fail("pods", fmt::format("found {}, a pod that is listed twice or belongs to another gang, expected "
                                        "each pod once in its own gang",
                                        pod_id.value));
      }
      largest = std::max(largest, pod->gpus);
      all_bound = all_bound && pod->phase != Pod::Phase::pending;
      any_ready = any_ready || pod->phase == Pod::Phase::ready;
      any_ending = any_ending || pod->phase == Pod::Phase::terminating;
      const Node* node = pod->node.valid() ? snapshot_.nodes.find(pod->node) : nullptr;
      any_node = any_node || (node != nullptr && node->gpu.valid());
      any_of_kind = any_of_kind || (node != nullptr && node->gpu == row.spec.pods.gpu);
    }
    using enum Gang::Phase;
    const bool runs = row.phase == starting || row.phase == ready || row.phase == sleeping;
    if (runs && !all_bound) fail("phase", "found a running phase although a pod is pending, expected pending");
    if (runs && any_ending) fail("phase", "found a running phase although a pod is terminating, expected draining");
    const bool is_whole = !row.pods.empty() && std::ssize(row.pods) >= row.spec.pods.count;
    const MilliGpu stated = row.spec.pods.gpus_per_pod;
    if (largest > stated || (is_whole && largest > MilliGpu{} && largest < stated)) {
      fail("gpus_per_pod_milli",
           fmt::format("found {}, expected that of its largest pod, {}", stated.count, largest.count));
    }
    if (row.phase == ready && !any_ready) fail("phase", "found ready although no pod is ready, expected starting");
    if (any_node && !any_of_kind) {
      fail("gpu", fmt::format("found {}, which none of its nodes has, expected the GPU kind of a node",
                              row.spec.pods.gpu.value));
    }
  }

  void replica(GangId id, const Gang& row) {
    if (snapshot_.services.find(row.service) == nullptr) return fail("service", no_row(row.service.value));
    const auto [first, is_new] = numbers_.try_emplace(std::pair(row.service, row.ordinal), id);
    if (is_new) return;
    fail("ordinal", fmt::format("found {}, which gang {} of the same service has, expected another number", row.ordinal,
                                first->second.value));
  }

  void pod(PodId id, const Pod& row) {
    not_after("created_at_ns", row.created_at);
    if (row.node.valid() && snapshot_.nodes.find(row.node) == nullptr) fail("node", no_row(row.node.value));
    if (!listed_.contains(id)) {
      fail("gang", fmt::format("found {}, which does not list this pod, expected the gang that does", row.gang.value));
    }
  }

  void not_after(const char* field, Instant at, bool allow_never = false) {
    if (at <= snapshot_.at || allow_never) return;
    fail(field, at.is_never() ? std::string("found none, expected at_ns or earlier")
                              : fmt::format("found a time {} after at_ns, expected at_ns or earlier",
                                            seconds(at - snapshot_.at)));
  }

  /// Checks that a measurement was made after the start of the snapshot's clock and not after the snapshot.
  void age(const std::string& of, const Signal& signal) {
    if (signal.age >= Duration{} && signal.age <= snapshot_.at.since_start) return;
    fail(of + ".age_ns",
         fmt::format("found {}, expected 0 s to {} (at_ns)", seconds(signal.age), seconds(snapshot_.at.since_start)));
  }

  static std::string no_row(std::uint32_t id) {
    return fmt::format("found {}, expected the id of a row in this file", id);
  }
  void fail(std::string field, std::string message) {
    if (!fault_) fault_ = {table_, id_, std::move(field), std::move(message)};
  }

  const Snapshot& snapshot_;
  const Catalog& catalog_;
  std::map<PodId, GangId> listed_;
  std::map<std::pair<ServiceId, std::uint32_t>, GangId> numbers_;
  const char* table_ = "";
  std::uint32_t id_ = 0;
  std::optional<Inconsistency> fault_;
};

}  // namespace

std::optional<Inconsistency> find_inconsistency(const Snapshot& snapshot) {
  if (auto fault = find_inconsistency(*snapshot.catalog)) return fault;
  return Checker(snapshot).run();
}

}  // namespace capstan::model
