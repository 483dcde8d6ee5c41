#include <fmt/format.h>

#include <set>

#include "model/consistency.h"
#include "model/queue_fault.h"
#include "model/role_names.h"
#include "model/topology_names.h"

namespace capstan::model {
namespace {

class CatalogChecker {
 public:
  explicit CatalogChecker(const Catalog& catalog) : catalog_(catalog) {}

  std::optional<Inconsistency> run() {
    if (const std::optional<TopologyFault> fault = find_fault(catalog_.topologies)) topology(*fault);
    check_rows("catalog.domains", catalog_.domains, [this](const Domain& row) { domain(row); });
    check_rows("catalog.offerings", catalog_.offerings, [this](const Offering& row) { offering(row); });
    unique_names("catalog.pools", catalog_.pools);
    unique_names("catalog.queues", catalog_.queues);
    if (const auto cycle = find_parent_cycle(catalog_.queues)) queue_cycle(static_cast<std::uint32_t>(*cycle));
    check_rows("catalog.services", catalog_.services, [this](const Service& row) { service(row); });
    return std::move(fault_);
  }

 private:
  template <typename Row, typename Check>
  void check_rows(const char* table, const std::vector<Row>& rows, Check check) {
    for (std::uint32_t i = 0; i < rows.size() && !fault_; ++i) {
      table_ = table;
      id_ = i;
      check(rows[i]);
    }
  }

  /// Checks that no two rows have the same name and that no name is very long. Rows without a name are left out.
  template <typename Row>
  void unique_names(const char* table, const std::vector<Row>& rows) {
    constexpr std::size_t kMaxName = 1'000;
    std::set<std::string_view> names;
    check_rows(table, rows, [&](const Row& row) {
      if (row.name.size() > kMaxName) {
        return fail("name", fmt::format("found {} characters, expected at most {}", row.name.size(), kMaxName));
      }
      if (!row.name.empty() && !names.insert(row.name).second) {
        fail("name", fmt::format("found {} a second time, expected each name once", row.name));
      }
    });
  }

  void topology(const TopologyFault& fault) {
    table_ = "catalog.topologies";
    id_ = static_cast<std::uint32_t>(fault.topology);
    fail(fault.depth ? fmt::format("levels[{}].{}", *fault.depth, fault.field) : fault.field, fault.message);
  }

  void queue_cycle(std::uint32_t id) {
    if (fault_) return;
    table_ = "catalog.queues";
    id_ = id;
    fail("parent", fmt::format("found queue {}, whose parents lead back to this queue, expected a tree",
                               catalog_.queues[id].parent.value));
  }

  void domain(const Domain& domain) {
    if (domain.level == TopologyLevel::node) {
      return fail("level", "found node, expected nvlink, rack, zone or cluster: a node is its own domain");
    }
    if (domain.level == TopologyLevel::cluster) {
      if (domain.parent.valid())
        fail("parent", "found a parent on the cluster, expected none: the cluster is the widest domain");
      return;
    }
    if (!domain.parent.valid()) {
      return fail("parent", fmt::format("found none, expected a domain that is wider than a {}", level(domain)));
    }
    const Domain& parent = catalog_.domain(domain.parent);
    if (is_wider(catalog_.topologies, parent.level, domain.level)) return;
    // The widest domains of another topology may lie in a zone.
    const bool is_widest = next_wider(catalog_.topologies, domain.level) == Level(TopologyLevel::cluster);
    if (is_widest && parent.level == TopologyLevel::zone && !domain.level.is_standard()) return;
    fail("parent", fmt::format("found domain {}, a {}, expected one that is wider than a {}", domain.parent.value,
                               level(parent), level(domain)));
  }

  void offering(const Offering& offering) {
    const Domain& zone = catalog_.domain(offering.zone);
    if (zone.level == TopologyLevel::zone || zone.level == TopologyLevel::cluster) return;
    fail("zone",
         fmt::format("found domain {}, a {}, expected a zone or the cluster", offering.zone.value, level(zone)));
  }

  void service(const Service& service) {
    prefill_link(service);
    const Workload& workload = service.workload;
    if (auto fault = preference_fault(catalog_, workload.required_level, workload.preferred))
      fail("preferred", *std::move(fault));
    using enum TopologyLevel;
    const TopologyLevel survives = service.survives.value_or(node);
    if (survives != node && survives != rack && survives != zone) {
      fail("survives", fmt::format("found {}, expected node, rack or zone", name(survives).key));
    }
    if (service.alternatives.size() > Service::kMaxAlternatives) {
      fail("beside", fmt::format("found {} services, expected at most {}", service.alternatives.size(),
                                 Service::kMaxAlternatives));
    }
    for (const ServiceId id : service.alternatives) alternative(service, id);
  }

  /// Checks that `prefill_service` leads from a decode service to a prefill service. The list may contain them in any
  /// order.
  void prefill_link(const Service& service) {
    if (!service.prefill_service.valid()) return;
    if (!exists(service.prefill_service) || role_of(catalog_.service(service.prefill_service)) != Role::prefill) {
      return fail("fed_by", fmt::format("found service {}, expected a prefill service in this file",
                                        service.prefill_service.value));
    }
    if (role_of(service) != Role::decode) fail("fed_by", "found on another role, expected it on decode services only");
  }

  /// Checks an alternative of a service: it has the same role, belongs to no other service, and has no alternatives of
  /// its own.
  void alternative(const Service& service, ServiceId id) {
    if (!exists(id)) return fail("beside", fmt::format("found service {}, which is not in this file", id.value));
    const Service& other = catalog_.service(id);
    if (&other == &service || !other.alternatives.empty()) {
      return fail("beside",
                  fmt::format("found service {}, expected another service whose own list is empty", id.value));
    }
    if (role_of(other) != role_of(service)) {
      return fail("beside", fmt::format("found service {} of role {}, expected one of the same role, {}", id.value,
                                        name(role_of(other)), name(role_of(service))));
    }
    if (!alternatives_.insert(id).second) {
      fail("beside", fmt::format("found service {} a second time, expected each service in one list only", id.value));
    }
  }

  bool exists(ServiceId id) const { return id.value < catalog_.services.size(); }
  static Role role_of(const Service& service) { return service.workload.role; }
  std::string_view level(const Domain& domain) const { return catalog_.level_words(domain.level); }
  void fail(std::string field, std::string message) {
    if (!fault_) fault_ = {table_, id_, std::move(field), std::move(message)};
  }

  const Catalog& catalog_;
  std::set<ServiceId> alternatives_;
  const char* table_ = "";
  std::uint32_t id_ = 0;
  std::optional<Inconsistency> fault_;
};

}  // namespace

std::optional<std::string> preference_fault(const Catalog& catalog, Level required, std::optional<Level> preferred) {
  if (!preferred || *preferred == required || is_wider(catalog.topologies, required, *preferred)) return std::nullopt;
  return fmt::format("found {}, expected {} or a narrower level of its topology", catalog.level_key(*preferred),
                     catalog.level_key(required));
}

std::optional<Inconsistency> find_inconsistency(const Catalog& catalog) { return CatalogChecker(catalog).run(); }

}  // namespace capstan::model
