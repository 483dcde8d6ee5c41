#include "experiment/report/lower_decisions_json.h"

#include <nlohmann/json.hpp>

namespace capstan::experiment {

nlohmann::ordered_json lower_decisions_json(const RunHistory& history) {
  using Json = nlohmann::ordered_json;
  Json json = Json::array();
  for (const auto& [decided, user] : history.decisions) {
    const bool is_place = decided.layer == LowerDecision::Layer::place;
    json.push_back({{"at_ns", decided.at.since_start.count()},
                    {"layer", is_place ? "place" : "provision"},
                    {"service", user ? Json(*user) : Json()},
                    {"object", decided.object},
                    {"action", decided.action}});
    if (!decided.arithmetic.empty()) json.back()["arithmetic"] = decided.arithmetic;
  }
  return json;
}

}  // namespace capstan::experiment
