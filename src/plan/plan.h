#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "plan/fleet.h"
#include "plan/spec/spec.h"
#include "plan/yaml.h"

namespace capstan::plan {

/// How the plan came to a figure.
enum class Evidence : std::uint8_t {
  stated,     ///< the spec says so
  measured,   ///< on real hardware; the source is named
  simulated,  ///< a result of the simulations of this plan
  modelled,   ///< computed from the engine table or from another figure of the plan
  catalogue,  ///< from a bundled table of shapes and prices
  assumed,    ///< a default of Capstan
};

/// Returns "stated", "measured", "simulated", "modelled", "from the catalogue" or "assumed".
std::string_view words(Evidence evidence);

/// One answer of the plan: "minimum ready replicas: 3", with the arithmetic and where the figure comes from.
struct Statement {
  std::string name{};   ///< in JSON with underscores: "minimum ready replicas"
  std::string value{};  ///< as people read it, with its unit: "3", "4 min 10 s", "2.40 USD/h"
  std::string why{};    ///< the formula with its numbers, or the reason; one sentence without a full stop
  Evidence evidence = Evidence::modelled;
};

/// One Kubernetes object of the plan, or a values file of a chart.
struct Manifest {
  std::string file{};  ///< path below the folder that `--out` names: "nodes/h100.yaml"
  Yaml body{};
  bool is_object = true;    ///< false: values of a Helm chart, or another file that is not applied
  bool is_on_page = false;  ///< the page shows it, as an example of the section
};

/// One part of the plan: nodes, gangs, replicas and so on.
struct Section {
  std::string key{};     ///< in JSON: "warm_pool"
  std::string title{};   ///< "Warm pool"
  std::string answer{};  ///< the decision in one or two sentences
  std::vector<Statement> statements{};
  std::vector<std::string> not_simulated{};  ///< parts that the simulator cannot run yet, as noun phrases
  std::vector<std::string> commands{};       ///< shell commands, as for the kill switch
  std::vector<Manifest> manifests{};
};

/// The answer of `capstan plan`.
struct Plan {
  PlanSpec spec{};
  std::vector<ServicePlan> services{};  ///< by service of the spec
  std::vector<Section> sections{};      ///< in the order of the page
  std::int64_t simulations = 0;         ///< run for the search and the proof
};

}  // namespace capstan::plan
