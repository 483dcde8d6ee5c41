#include "serve/first_part.h"

#include <algorithm>
#include <array>

#include <nlohmann/json.hpp>

namespace capstan::serve {
namespace {

using Json = nlohmann::ordered_json;

/// Depth of the keys of a policy in a result. Values over time have keys at this depth or a greater one.
constexpr int kPolicyDepth = 3;
constexpr std::array<std::string_view, 10> kOverTime = {
    "by_minute", "timeline", "scale_steps", "latency_phases", "cold_start_phases",
    "fleet",     "signals",  "actions",     "queues",         "moments"};

}  // namespace

std::string first_part(std::string_view result) {
  const auto keep = [](int depth, Json::parse_event_t event, Json& parsed) {
    if (event != Json::parse_event_t::key || depth < kPolicyDepth) return true;
    return std::ranges::find(kOverTime, std::string_view(parsed.get_ref<const std::string&>())) == kOverTime.end();
  };
  Json json = Json::parse(result, keep, false);
  // The page shows nothing of a recording before all of it has been read.
  if (!json.is_object() || json.contains("recording") || !json.contains("policies") || !json["policies"].is_array())
    return "null";
  if (!std::ranges::all_of(json["policies"], [](const Json& policy) { return policy.is_object(); })) return "null";
  for (Json& policy : json["policies"]) policy["moments"] = Json::array();
  json.erase("services");
  json.erase("queues");
  return json.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace capstan::serve
