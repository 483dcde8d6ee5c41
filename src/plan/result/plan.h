#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "plan/fleet/fleet.h"
#include "plan/objects/yaml.h"
#include "plan/spec/spec.h"

namespace capstan::plan {

/// Origin of a figure of the plan.
enum class Evidence : std::uint8_t {
  stated,     ///< the spec says so
  measured,   ///< a measurement on real hardware; the source is named
  simulated,  ///< a result of the simulations of this plan
  modelled,   ///< computed from the engine table or from another figure of the plan
  catalogue,  ///< a row of a bundled table of shapes and prices
  assumed,    ///< a default of Capstan
  none,       ///< no figure: a query, or a reason
};

/// Returns "stated", "measured", "simulated", "modelled", "from the catalogue", "assumed", or an empty text.
std::string_view words(Evidence evidence);

/// Parts of the output in which a statement appears.
enum class Visibility : std::uint8_t {
  details,      ///< only the details
  one_service,  ///< also the page of a plan with one service
  page,         ///< also the page
};

/// One answer of the plan: "minimum ready replicas: 3", with the arithmetic and where the figure comes from.
struct Statement {
  std::string name{};   ///< in JSON with underscores: "minimum ready replicas"
  std::string value{};  ///< value as people read it, with its unit: "3", "4 min 10 s", "2.40 USD/h"
  std::string why{};    ///< the formula with its numbers, or the reason; one sentence without a full stop
  Evidence evidence = Evidence::modelled;
  std::optional<std::int64_t> trap_micro_usd_per_year{};  ///< cost of the consolidation trap, for `--against`
  Visibility visibility = Visibility::details;
  std::string subject{};  ///< service or workload with which `name` begins: "chat-prefill"; empty: none
};

/// A manifest that has alternatives: of all options of a choice, only one is applied.
struct Alternative {
  std::string choice{};    ///< "scaler of chat", "scaler" (shared), "queues", "spare capacity"; empty: none
  std::string option{};    ///< "keda", "kueue", "balloon"
  bool is_chosen = false;  ///< true: the plan's option; never for "spare capacity", which is optional
};

/// One Kubernetes object of the plan, or a values file of a chart.
struct Manifest {
  std::string file{};  ///< path below the folder that `--out` names: "nodes/h100.yaml"
  Yaml body{};
  /// True: a Kubernetes object. False: values of a Helm chart, or another file that kubectl cannot apply.
  bool is_object = true;
  bool is_on_page = false;  ///< the page shows it, as an example of the section
  Alternative alternative{};
};

/// The steps of an installation, in their order: an object needs objects of earlier steps.
enum class ApplyStep : std::uint8_t {
  names,           ///< the namespace and the priority classes
  prometheus,      ///< Prometheus and its operator, which defines the kinds of the monitoring objects
  queues,          ///< queues of the gang scheduler and of Capstan
  devices,         ///< GPU Operator: driver, device plugin, MIG geometry
  nodes,           ///< node pools
  secrets,         ///< access to the weights
  cache,           ///< the DaemonSets that fetch images and weights
  workload,        ///< the replicas with their services
  metrics,         ///< the metrics that the scalers read
  scaler,          ///< one of the alternatives
  monitoring,      ///< dashboards and alerts
  spare_capacity,  ///< optional
};

/// One command of the installation. Every manifest is applied by exactly one command.
struct ApplyCommand {
  ApplyStep step = ApplyStep::names;
  std::string command{};  ///< shell command, in the folder that `--out` names
  std::string purpose{};  ///< noun phrase: "the node pools"
  Alternative alternative{};
  bool is_optional = false;  ///< the plan works without it
};

/// A line of a section on the page that is no figure.
struct PageNote {
  std::string name{};  ///< "watch"
  std::string text{};
};

/// One part of the plan: nodes, gangs, replicas and so on.
struct Section {
  std::string key{};          ///< in JSON: "warm_pool"
  std::string title{};        ///< "Warm pool"
  std::string answer{};       ///< the decision in one or two sentences
  std::string page_answer{};  ///< part of `answer` that the page shows; empty: other lines of the page say it
  std::vector<PageNote> notes{};
  std::vector<Statement> statements{};
  std::vector<std::string> not_simulated{};  ///< parts that the simulator cannot run yet, as noun phrases
  std::vector<ApplyCommand> apply{};         ///< in any order; `ApplyStep` orders those of all sections
  std::vector<std::string> commands{};       ///< other shell commands: the kill switch, a simulation
  std::vector<Manifest> manifests{};
};

/// The answer of `capstan plan`.
struct Plan {
  PlanSpec spec{};
  std::vector<ServicePlan> services{};      ///< plans by service of the spec
  std::optional<TogetherProof> together{};  ///< nothing: one service has the cluster alone, or a service misses its SLO
  std::vector<Section> sections{};          ///< in the order of the page
  std::int64_t simulations = 0;             ///< number of simulations for the search and the proof
};

/// A service of the spec, and its plan.
struct PlannedService {
  const ServiceSpec& spec;
  const ServicePlan& plan;
};
/// Returns the services of a spec with their plans, in the order of the spec. Both arguments must outlive the result.
std::vector<PlannedService> planned_services(const PlanSpec& spec, const std::vector<ServicePlan>& plans);

}  // namespace capstan::plan
