#include "scenario/missing_trace.h"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>

#include "manifest/path.h"

namespace capstan::scenario {

std::optional<Error> missing_trace(const Scenario& scenario, manifest::Node root,
                                   const std::vector<std::string>& sets) {
  for (const std::string& set : sets) {
    if (!manifest::apply_set(root, set)) return std::nullopt;
  }
  const bool is_listed = root.find("services") != nullptr;
  for (const EndpointSpec& endpoint : scenario.endpoints) {
    const auto* trace = std::get_if<workload::TraceSpec>(&endpoint.load.from);
    std::error_code unknown;
    if (trace == nullptr || std::filesystem::exists(trace->path, unknown) || unknown) continue;
    const std::string key = is_listed ? fmt::format("services.{}.load.trace", endpoint.name) : "load.trace";
    const manifest::Place& place = manifest::place_for_error(root, std::vector<std::string>{key});
    return manifest::error_at(place,
                              fmt::format("{}: {} does not exist, expected a trace; a relative path starts at the "
                                          "{} folder",
                                          key, trace->path, place.from_option ? "current" : "scenario's"));
  }
  return std::nullopt;
}

}  // namespace capstan::scenario
