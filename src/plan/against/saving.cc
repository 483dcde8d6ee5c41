#include "plan/against/saving.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <set>
#include <string_view>

#include "base/quantity.h"
#include "base/unit_text.h"
#include "engine/instances.h"
#include "experiment/text/words.h"
#include "manifest/scalars.h"
#include "model/capacity_names.h"
#include "plan/cost/gpu_price.h"
#include "plan/objects/names.h"
#include "plan/result/figures.h"
#include "plan/spec/candidates.h"

namespace capstan::plan {

namespace {

using experiment::usd;

/// A risk that a change removes.
struct Risk {
  std::string_view kind{};  ///< kind of the object; empty: every kind
  std::string_view path{};  ///< part of the path; empty: the whole object
  int grade = 9;            ///< 1: requests are cut or the bill has no bound, 2: the SLO, 3: money or work
  std::string_view removed_risk{};
};

/// The risks of changes. The first row that matches a change applies.
constexpr std::array kRisks = {
    Risk{"NodePool", "consolidationPolicy", 1, "a replica that is ended while it answers"},
    Risk{"NodePool", "limits", 1, "an error in a scaler that buys nodes without end"},
    Risk{"NodePool", "expireAfter", 1, "serving nodes that are drained at any hour, because expiry ignores budgets"},
    Risk{"NodePool", "budgets", 1, "serving nodes that are replaced for a new image in busy hours"},
    Risk{"NodePool", "terminationGracePeriod", 3, "a node whose drain never ends, or one that ends before its answers"},
    Risk{"NodePool", "consolidateAfter", 2,
         "a node that goes between two bursts, so that the second waits for a new one"},
    Risk{"NodePool", "disruption", 1, "a replica that is ended while it answers"},
    Risk{"NodePool", "taints", 3, "pods without a GPU that keep a GPU node busy"},
    Risk{"NodePool", "instance-type", 2, "a machine on which the plan was not simulated"},
    Risk{"NodePool", "capacity-type", 2, "a capacity type with which the plan was not simulated"},
    Risk{"NodePool", "zone", 3, "replicas in a zone that the plan does not use"},
    Risk{"NodePool", "labels", 2, "pods that no node accepts, because they select nodes by this label"},
    Risk{"", "template.metadata.labels", 2, "queries, selectors and budgets that find no pod"},
    Risk{"", "leaderTemplate.metadata.labels", 2, "queries, selectors and budgets that find no pod"},
    Risk{"", "podTargetLabels", 2, "a scaler without data"},
    Risk{"", "minReplica", 2, "a burst that begins with too few ready replicas"},
    Risk{"", "maxReplica", 2, "a load that the maximum cannot serve, or a maximum without a bound on the bill"},
    Risk{"", "fallback", 2, "a scaler that holds too few replicas while its metrics are absent"},
    Risk{"", "scaleDown", 2, "replicas that end between two bursts and need a cold start to come back"},
    Risk{"", "scaleUp", 2, "a burst that is served late"},
    Risk{"", "behavior", 2, "replicas that end between two bursts and need a cold start to come back"},
    Risk{"ScaledObject", "advanced", 2, "replicas that end between two bursts and need a cold start to come back"},
    Risk{"HorizontalPodAutoscaler", "spec.metrics", 2, "a scaler that does not see the load"},
    Risk{"ScaledObject", "spec.triggers", 2, "a scaler that does not see the load"},
    Risk{"", "startupProbe", 1, "a replica that is restarted while it loads its model"},
    Risk{"", "readinessProbe", 1, "requests to a replica whose model is not loaded"},
    Risk{"", "livenessProbe", 3, "an engine that hangs and is not restarted"},
    Risk{"", "terminationGracePeriodSeconds", 1, "answers that are cut when a replica ends"},
    Risk{"", "lifecycle", 1, "answers that are cut when a replica ends"},
    Risk{"", "dshm", 2, "an engine that fails because /dev/shm is too small for tensor parallelism"},
    Risk{"", "resources", 2, "pods that take each other's cores or memory"},
    Risk{"", "tolerations", 2, "pods that no GPU node accepts"},
    Risk{"", "nodeSelector", 2, "replicas on machines on which the plan was not simulated"},
    Risk{"", "topologySpread", 2, "all replicas in one zone, so that its loss is an outage"},
    Risk{"", "priorityClassName", 3, "batch work that pushes serving pods out"},
    Risk{"", "spec.strategy", 2, "a rollout that waits for GPUs that are not there"},
    Risk{"", "rolloutStrategy", 2, "a rollout that waits for GPUs that are not there"},
    Risk{"", "schedulerName", 2, "a gang that is bound in part and holds GPUs idle"},
    Risk{"", "containers", 3, "an engine with other settings than the simulated ones"},
    Risk{"PodDisruptionBudget", "", 1, "a drain that ends all replicas at once"},
    Risk{"PodMonitor", "", 2, "a scaler without data"},
    Risk{"ServiceMonitor", "", 3, "dashboards and alerts without data"},
    Risk{"PrometheusRule", "", 2, "a miss of the SLO without an alert"},
    Risk{"PriorityClass", "", 2, "pods that the API server refuses, because they name this class"},
    Risk{"DaemonSet", "", 2, "cold starts that wait for the image and the weights"},
    Risk{"NodePool", "", 2, "replicas that wait for a node"},
    Risk{"EC2NodeClass", "", 3, "nodes with the cloud's default disk and image"},
    Risk{"Topology", "", 2, "a gang whose pods lie in several NVLink domains"},
};

const Risk* find_risk(std::string_view kind, std::string_view path) {
  const auto fits = [&](const Risk& risk) {
    if (!risk.kind.empty() && risk.kind != kind) return false;
    return risk.path.empty() ? path.empty() : path.find(risk.path) != path.npos;
  };
  const auto found = std::ranges::find_if(kRisks, fits);
  return found == kRisks.end() ? nullptr : &*found;
}

/// A role of the plan, with its service.
struct ServiceRole {
  const ServicePlan* service = nullptr;
  const RoleFleet* role = nullptr;
};

constexpr std::string_view kScalerRoles = "spec.roles.";  ///< path of the roles of an InferenceScaler

/// Returns true for the path of a minimum of an HPA, a ScaledObject or a role of an InferenceScaler.
bool is_minimum(std::string_view path) {
  return path == "spec.minReplicas" || path == "spec.minReplicaCount" ||
         (path.starts_with(kScalerRoles) && path.ends_with(".minReplicas"));
}

/// Returns the role that an autoscaler of the plan scales.
/// @param path path of the changed value; an InferenceScaler of several roles names the role by its index
std::optional<ServiceRole> find_role_of_scaler(const Plan& plan, const Manifest& planned, std::string_view path) {
  const std::string name = text_at(planned.body, "metadata", "name");
  if (path.starts_with(kScalerRoles)) {
    const std::string_view rest = path.substr(kScalerRoles.size());
    const auto index = manifest::read_integer(std::string(rest.substr(0, rest.find('.'))));
    for (const ServicePlan& service : plan.services) {
      if (service.service != name || !index || *index < 0) continue;
      if (static_cast<std::size_t>(*index) >= service.roles.size()) return std::nullopt;
      return ServiceRole{&service, &service.roles[static_cast<std::size_t>(*index)]};
    }
    return std::nullopt;
  }
  for (std::size_t i = 0; i < plan.services.size(); ++i) {
    for (const RoleFleet& role : plan.services[i].roles) {
      if (workload_name(plan.spec.services[i], role.role) == name || plan.services[i].service == name) {
        return ServiceRole{&plan.services[i], &role};
      }
    }
  }
  return std::nullopt;
}

/// Returns the price of a GPU of the nodes of the minimum.
std::int64_t gpu_micro_usd_per_hour(const RoleFleet& role) { return gpu_price(role).per_hour.count; }

/// Returns the paid GPUs of a service, mean over the simulations, thousandths.
std::int64_t paid_gpus_milli(const ServicePlan& service) {
  __int128 paid = 0, simulated = 0;
  for (const Trial& trial : service.seeds) {
    paid += trial.paid_gpu_ns;
    simulated += trial.simulated.count();
  }
  return simulated == 0 ? 0 : static_cast<std::int64_t>(paid * 1000 / simulated);
}

/// Sets the saving to the cost of Karpenter's consolidation, as the section on cost computes it for all services.
void add_consolidation_saving(const Plan& plan, const Difference& change, Saving& out) {
  if (!change.found || change.found->text() != "WhenEmptyOrUnderutilized") return;
  std::int64_t per_year = 0;
  std::string formula;
  for (const Section& section : plan.sections) {
    for (const Statement& statement : section.statements) {
      if (!statement.trap_micro_usd_per_year) continue;
      per_year += *statement.trap_micro_usd_per_year;
      formula += fmt::format("{}{} / 12 months: {}", formula.empty() ? "" : "; ", statement.value, statement.why);
      out.evidence = statement.evidence;
    }
  }
  if (per_year == 0) return;
  out.micro_usd_per_month = per_year / 12;
  out.formula = formula;
}

void add_minimum_saving(const Plan& plan, const Manifest& planned, const Difference& change, Saving& out) {
  const auto role = find_role_of_scaler(plan, planned, change.path);
  const auto wanted = change.planned ? manifest::read_integer(change.planned->text()) : std::nullopt;
  if (!role || !wanted) return;
  // An HPA without minReplicas keeps one replica, a ScaledObject none.
  const std::int64_t absent = change.object.starts_with("ScaledObject") ? 0 : 1;
  const std::int64_t found = change.found ? manifest::read_integer(change.found->text()).value_or(absent) : absent;
  const std::int64_t gpu = gpu_micro_usd_per_hour(*role->role);
  if (gpu == 0 || found == *wanted) return;
  const GpuCount gpus = role->role->gpus_per_replica();
  out.micro_usd_per_month = (found - *wanted) * gpus * gpu * kHoursPerMonth;
  out.is_at_most = true;
  // A lower minimum saves money but removes no risk.
  if (found > *wanted) {
    out.removed_risk = {};
    out.grade = Saving{}.grade;
  }
  out.formula = fmt::format(
      "{} x {} x {} USD for a GPU-hour x {} h, if no load needs them and no other replica "
      "holds their nodes",
      count_text(std::abs(found - *wanted), "replica", "replicas"), count_text(gpus, "GPU", "GPUs"), usd(gpu),
      kHoursPerMonth);
}

/// Returns the role that runs on the nodes of a pool of the plan, with its service. Returns nothing if there is none.
std::optional<ServiceRole> find_role_of_pool(const Plan& plan, const Manifest& planned) {
  const std::string name = text_at(planned.body, "metadata", "name");
  for (const ServicePlan& service : plan.services) {
    for (const RoleFleet& role : service.roles) {
      const std::string pool = device_of(role).pool;
      if (name == pool || name == pool + "-spot") return ServiceRole{&service, &role};
    }
  }
  return std::nullopt;
}

/// Returns the values of a list that the other list lacks.
std::vector<std::string> only_in(const std::optional<Yaml>& list, const std::optional<Yaml>& other) {
  std::vector<std::string> out;
  if (!list) return out;
  for (const Yaml& element : list->elements()) {
    const bool is_in_other = other && std::ranges::find(other->elements(), element.text(), [](const Yaml& value) {
                                        return value.text();
                                      }) != other->elements().end();
    if (!is_in_other) out.push_back(element.text());
  }
  return out;
}

/// Sets the saving of a change of machine types: the price difference between the plan's machine and the most
/// expensive machine of the existing list that the plan removes from it.
void add_machine_saving(const Plan& plan, const Manifest& planned, const Difference& change, Saving& out) {
  const auto role = find_role_of_pool(plan, planned);
  if (!role) return;
  const std::int64_t own = gpu_micro_usd_per_hour(*role->role);
  const engine::Instance* most_expensive = nullptr;
  std::int64_t most = 0;
  for (const std::string& name : only_in(change.found, change.planned)) {
    const engine::Instance* row = engine::find_instance(name);
    if (row == nullptr || !row->on_demand_per_hour || row->gpus == 0 ||
        row->gpu != whole_gpu_of(role->role->engine.gpu)) {
      continue;
    }
    const std::int64_t price = row->on_demand_per_hour->count / row->gpus;
    if (price > most) {
      most = price;
      most_expensive = row;
    }
  }
  const std::int64_t gpus_milli = paid_gpus_milli(*role->service);
  if (most_expensive == nullptr || own == 0 || most == own || gpus_milli == 0) return;
  out.micro_usd_per_month =
      static_cast<std::int64_t>(static_cast<__int128>(most - own) * gpus_milli * kHoursPerMonth / 1000);
  out.formula =
      fmt::format("{} has a GPU-hour for {} USD, {} for {} USD; x {} paid GPUs on average x {} h", most_expensive->name,
                  usd(most), role->role->machine.name, usd(own), experiment::tenths(gpus_milli, 1000), kHoursPerMonth);
}

/// Returns the GPUs of the nodes that hold the minimum of a service, thousandths.
std::int64_t base_gpus_milli(const ServicePlan& service, const MachineSpec& machine) {
  GpuCount minimum = 0;
  for (const RoleFleet& role : service.roles) minimum += role.minimum * role.gpus_per_replica();
  return ceil_div(minimum, machine.gpus) * machine.gpus * 1000;
}

/// Returns the cheapest capacity type of a list, which Karpenter buys first, and its price. A pool without a list buys
/// on demand.
std::optional<std::pair<model::CapacityType, MicroUsd>> first_capacity(const MachineSpec& machine,
                                                                       const std::optional<Yaml>& list) {
  std::optional<std::pair<model::CapacityType, MicroUsd>> first;
  for (const model::CapacityType type :
       {model::CapacityType::on_demand, model::CapacityType::reserved, model::CapacityType::spot}) {
    const std::string_view label = model::name(type).label;
    const bool is_listed = list
                               ? std::ranges::any_of(list->elements(), [&](const Yaml& v) { return v.text() == label; })
                               : type == model::CapacityType::on_demand;
    const auto price = price_of(machine, type);
    if (is_listed && price && (!first || *price < first->second)) first = std::pair(type, *price);
  }
  return first;
}

/// Sets the saving or the additional cost of a change of a pool's capacity types, such as from on-demand to spot.
void add_capacity_saving(const Plan& plan, const Manifest& planned, const Difference& change, Saving& out) {
  const auto role = find_role_of_pool(plan, planned);
  if (!role || role->role->machine.gpus == 0) return;
  const MachineSpec& machine = role->role->machine;
  const auto found = first_capacity(machine, change.found), wanted = first_capacity(machine, change.planned);
  const std::int64_t paid = paid_gpus_milli(*role->service);
  const bool is_added = text_at(planned.body, "metadata", "name").ends_with("-spot");
  const std::int64_t base = std::min(paid, base_gpus_milli(*role->service, machine));
  const std::int64_t gpus_milli = is_added ? paid - base : role->service->spot_ppm > 0 ? base : paid;
  if (!found || !wanted || found->second == wanted->second || gpus_milli <= 0) return;
  const auto per_gpu = [&](MicroUsd price) { return price.count / machine.gpus; };
  out.micro_usd_per_month = static_cast<std::int64_t>(
      static_cast<__int128>(per_gpu(found->second) - per_gpu(wanted->second)) * gpus_milli * kHoursPerMonth / 1000);
  out.formula = fmt::format("a GPU-hour of {} costs {} USD as {} and {} USD as {}; x {} paid GPUs on average x {} h",
                            machine.name, usd(per_gpu(found->second)), model::name(found->first).label,
                            usd(per_gpu(wanted->second)), model::name(wanted->first).label,
                            experiment::tenths(gpus_milli, 1000), kHoursPerMonth);
  if (found->first == model::CapacityType::spot && wanted->first != model::CapacityType::spot) {
    out.removed_risk = "replicas of the minimum that a reclaim ends";
  }
}

/// Sets the saving of an added spot pool: the paid GPUs above those of the minimum cost the spot price.
void add_spot_saving(const Plan& plan, const Manifest& planned, Saving& out) {
  const auto role = find_role_of_pool(plan, planned);
  if (!role || !text_at(planned.body, "metadata", "name").ends_with("-spot")) return;
  const MachineSpec& machine = role->role->machine;
  if (!machine.on_demand_per_hour || !machine.spot_per_hour || machine.gpus == 0) return;
  const std::int64_t added_milli = paid_gpus_milli(*role->service) - base_gpus_milli(*role->service, machine);
  if (added_milli <= 0) return;
  const std::int64_t less = (machine.on_demand_per_hour->count - machine.spot_per_hour->count) / machine.gpus;
  out.micro_usd_per_month =
      static_cast<std::int64_t>(static_cast<__int128>(less) * added_milli * kHoursPerMonth / 1000);
  out.formula = fmt::format("{} paid GPUs above the minimum on average x {} USD/h less for spot x {} h",
                            experiment::tenths(added_milli, 1000), usd(less), kHoursPerMonth);
}

/// Says what a GPU limit bounds. A limit saves money only when something goes wrong, so there is no amount.
void add_limit_saving(const Plan& plan, const Manifest& planned, const Difference& change, Saving& out) {
  const auto role = find_role_of_pool(plan, planned);
  const Yaml* value = change.planned ? &*change.planned : nullptr;
  if (value != nullptr && value->is_map()) value = value->find(kGpuResource);
  const auto gpus = value == nullptr ? std::nullopt : manifest::read_integer(value->text());
  if (!role || !gpus) return;
  out.formula = fmt::format("nothing while all is well; bounds the pool at {} USD/h",
                            usd(*gpus * gpu_micro_usd_per_hour(*role->role)));
}

/// Returns true if the change adds or removes a whole signal of an autoscaler. Wrong signals are as grave as cut
/// requests, and the signals that are removed and added belong together.
bool replaces_signal(std::string_view kind, const Difference& change) {
  const bool is_signal = (kind == "HorizontalPodAutoscaler" && change.path.starts_with("spec.metrics")) ||
                         (kind == "ScaledObject" && change.path.starts_with("spec.triggers"));
  return is_signal && (!change.found || !change.planned);
}

}  // namespace

Saving saving_of(const Plan& plan, const Manifest& planned, const Difference& change) {
  Saving out;
  const std::string kind = text_at(planned.body, "kind");
  if (const Risk* risk = find_risk(kind, change.path)) {
    out.removed_risk = risk->removed_risk;
    out.grade = replaces_signal(kind, change) ? 1 : risk->grade;
  }
  if (kind == "NodePool" && change.path.empty()) add_spot_saving(plan, planned, out);
  if (kind == "NodePool" && change.path.ends_with("consolidationPolicy")) add_consolidation_saving(plan, change, out);
  if (kind == "NodePool" && change.path.find("instance-type") != change.path.npos) {
    add_machine_saving(plan, planned, change, out);
  }
  if (kind == "NodePool" && change.path.find("capacity-type") != change.path.npos) {
    add_capacity_saving(plan, planned, change, out);
  }
  if (kind == "NodePool" && change.path.starts_with("spec.limits")) add_limit_saving(plan, planned, change, out);
  if (is_minimum(change.path)) add_minimum_saving(plan, planned, change, out);
  return out;
}

}  // namespace capstan::plan
