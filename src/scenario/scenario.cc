#include "scenario/scenario.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "manifest/object_instead.h"
#include "manifest/path.h"
#include "scenario/missing_trace.h"
#include "scenario/read_parts.h"
#include "scenario/sweep.h"
#include "workload/check.h"
#include "workload/profile.h"

namespace capstan::scenario {

using manifest::ErrorList;
using manifest::Fields;
using manifest::Node;
using namespace std::chrono_literals;

namespace {

using Paths = std::vector<std::string>;

void add_policy(const SweptPolicy& swept, Scenario& scenario, ErrorList& errors) {
  PolicySpec policy = read_policy(swept.node, scenario, errors);
  std::string& name = policy.policies.name;
  if (!swept.words.empty()) {
    policy.swept_from = name;
    name += " (" + swept.words + ")";
  }
  for (const PolicySpec& other : scenario.policies) {
    if (!name.empty() && other.policies.name == name) {
      return errors.fail(manifest::place_for_error(swept.node, Paths{"name"}),
                         fmt::format("policies: \"{}\" is given twice", name));
    }
  }
  scenario.policies.push_back(std::move(policy));
}

void read_policies(std::span<const Node> nodes, Scenario& scenario, ErrorList& errors) {
  constexpr std::size_t kMax = 1000;
  if (nodes.size() > kMax) {
    return errors.fail(nodes[kMax].place, fmt::format("more than {} policies", kMax));
  }
  for (const Node& node : nodes) {
    if (errors.gives_up()) return;
    for (const SweptPolicy& swept : expand(node, errors)) add_policy(swept, scenario, errors);
    if (scenario.policies.size() > kMax) return errors.fail(node.place, fmt::format("more than {} policies", kMax));
  }
}

void keep_named(const std::vector<std::string>& names, Scenario& scenario, ErrorList& errors) {
  if (names.empty() || !errors.ok()) return;
  std::vector<std::string_view> known;
  for (const PolicySpec& policy : scenario.policies) known.push_back(policy.policies.name);
  for (const std::string& name : names) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    std::string list;
    for (const std::string_view policy : known) list += fmt::format("{}\"{}\"", list.empty() ? "" : ", ", policy);
    const std::string_view meant = manifest::did_you_mean(name, known);
    const manifest::Place place{std::make_shared<const std::string>("--policy")};
    return errors.fail(place,
                       fmt::format("found \"{}\", expected one of {}{}", name, list,
                                   meant.empty() ? "" : fmt::format(" (did you mean \"{}\"?)", meant)),
                       ErrorKind::usage);
  }
  std::erase_if(scenario.policies, [&](const PolicySpec& policy) {
    const auto named = [&](const std::string& name) {
      return std::find(names.begin(), names.end(), name) != names.end();
    };
    return !named(policy.policies.name) && !named(policy.swept_from);
  });
}

/// Returns true if a profile is a file, and neither bundled nor the text itself.
bool is_file(const workload::ProfileSpec& profile) {
  const auto bundled = workload::bundled_profiles();
  return profile.name.find('\n') == std::string::npos &&
         std::ranges::find(bundled, profile.name, &workload::BundledProfile::name) == bundled.end();
}

/// Resolves the path of a trace or of a profile's file.
void resolve_load_path(const Node& load, const std::string& file, workload::WorkloadSpec& spec) {
  auto* trace = std::get_if<workload::TraceSpec>(&spec.from);
  auto* profile = std::get_if<workload::ProfileSpec>(&spec.from);
  const Node* node = load.find(trace != nullptr ? "trace" : "profile");
  std::string* path = trace != nullptr                          ? &trace->path
                      : profile != nullptr && is_file(*profile) ? &profile->name
                                                                : nullptr;
  if (path != nullptr && node != nullptr) *path = resolved_path(*node, file);
}

/// Reads a part that the file must have. The caller reports a missing part. The reader then fills in defaults, so that
/// the rest of the file can be checked, and its own errors are dropped.
template <typename Read>
void read_part(const Node* node, ErrorList& errors, Read read) {
  static const Node nothing;
  ErrorList ignored;
  read(node == nullptr ? nothing : *node, node == nullptr ? ignored : errors);
}

/// Sets where a load ends. Reports an error if the load never ends and the run has no duration.
/// @param path  path of the load in the file
void set_load_end(const Node& root, const std::string& path, Scenario& scenario, workload::WorkloadSpec& load,
                  ErrorList& errors) {
  if (!workload::ends_by_itself(load) && !load.duration && !scenario.duration) {
    errors.fail(manifest::place_for_error(root, Paths{path + ".duration", "duration"}),
                fmt::format("{} never ends, expected {}.duration (or duration of the whole run)",
                            path == "load" ? "the load" : path, path));
  }
  // In a closed loop no next arrival is known, so the run can end only at the stated end of the load.
  if (workload::is_closed_loop(load)) {
    const bool is_alone = path == "load";
    if (!scenario.duration && is_alone) scenario.duration = load.duration;
    if (!scenario.duration && !is_alone) {
      errors.fail(
          manifest::place_for_error(root, Paths{path}),
          fmt::format("{}: found a closed loop next to other services, expected duration of the whole run", path));
    }
    scenario.settle_time = 8784h;
  }
  // If only the run has a duration, the load ends with the run.
  if (!load.duration) load.duration = scenario.duration;
}

/// Reads the load of the last endpoint.
void read_load_part(const Node* node, const Node& root, const std::string& path, Scenario& scenario,
                    ErrorList& errors) {
  workload::WorkloadSpec& spec = scenario.endpoints.back().load;
  const manifest::Mark load_read(errors);
  read_part(node, errors, [&](const Node& load, ErrorList& v) { read_load(load, path, spec, v); });
  if (node == nullptr || !load_read.ok()) return;
  resolve_load_path(*node, scenario.file, spec);
  set_load_end(root, path, scenario, spec, errors);
}

/// Largest number of services in one scenario.
constexpr std::size_t kMaxServices = 1000;

/// Returns the value of a key, or null if the mapping lacks it.
const Node* value_or_null(const Node& mapping, std::string_view key) {
  const Node* value = mapping.find(key);
  return value == nullptr || value->is_null() ? nullptr : value;
}

/// Reads one of several services, with its load.
void read_one_of_services(const Node& item, std::size_t number, const Node& root, model::Catalog& catalog,
                          Scenario& scenario, ErrorList& errors) {
  const std::string owner = manifest::item_path("services", item, number);
  read_service(item, owner, catalog, scenario, errors);
  const std::string& name = scenario.endpoints.back().name;
  const auto count = std::ranges::count(scenario.endpoints, name, &EndpointSpec::name);
  if (value_or_null(item, "name") == nullptr) {
    errors.fail(item.place, owner + " lacks \"name\", expected a name for each of several services");
  } else if (count > 1) {
    errors.fail(item.find("name")->place, fmt::format("services: \"{}\" is given twice", name));
  }
  const Node* load = value_or_null(item, "load");
  if (load == nullptr) errors.fail(item.place, owner + " lacks \"load\"");
  read_load_part(load, root, owner + ".load", scenario, errors);
}

/// Returns true if the file states jobs, and neither a service nor a load.
bool has_only_jobs(const Node& root) {
  const Node* jobs = value_or_null(root, "jobs");
  if (jobs == nullptr || jobs->items.empty()) return false;
  const auto is_absent = [&](const char* key) { return value_or_null(root, key) == nullptr; };
  return is_absent("service") && is_absent("services") && is_absent("load");
}

/// Returns the place of errors about `--trace`.
manifest::Place place_of_trace() { return {std::make_shared<const std::string>("--trace")}; }

/// Accepts the keys of services, which a file with only jobs may state as null. Reports `--trace` as an error, because
/// no service could use it.
void take_no_services(Fields& fields, const ScenarioOverrides& overrides, ErrorList& errors) {
  for (const char* key : {"services", "load", "service"}) fields.take(key);
  if (!overrides.trace) return;
  errors.fail(place_of_trace(), "the scenario has only jobs, expected a service, or --set jobs.NAME.trace={file: FILE}",
              ErrorKind::usage);
}

/// Reads the services with their loads: either the keys `service` and `load`, or the list `services`, in which each
/// service has its load. A file with jobs may have none.
void read_services(Fields& fields, const Node& root, const ScenarioOverrides& overrides, model::Catalog& catalog,
                   Scenario& scenario, ErrorList& errors) {
  if (has_only_jobs(root)) return take_no_services(fields, overrides, errors);
  if (fields.take("services") == nullptr) {
    const Node* load = fields.take_required("load");
    const Node* service = fields.take_required("service");
    read_part(service, errors,
              [&](const Node& node, ErrorList& v) { read_service(node, "service", catalog, scenario, v); });
    read_load_part(load, root, "load", scenario, errors);
    if (overrides.trace) scenario.endpoints.back().load.from = workload::TraceSpec{*overrides.trace};
    return;
  }
  for (const char* key : {"load", "service"}) {
    const Node* misplaced = fields.take(key);
    if (misplaced == nullptr) continue;
    errors.fail(misplaced->place, fmt::format("scenario: found {} next to services, expected it in each service", key));
  }
  if (overrides.trace) {
    errors.fail(place_of_trace(), "the scenario has several services, expected --set services.NAME.load.trace=FILE",
                ErrorKind::usage);
  }
  const auto items = fields.non_empty_list("services");
  if (items.size() > kMaxServices) {
    return errors.fail(items[kMaxServices].place, fmt::format("more than {} services", kMaxServices));
  }
  if (items.empty())
    read_part(nullptr, errors,
              [&](const Node& node, ErrorList& v) { read_service(node, "services.0", catalog, scenario, v); });
  for (std::size_t i = 0; i < items.size(); ++i) read_one_of_services(items[i], i, root, catalog, scenario, errors);
}

Scenario read(Node root, const std::string& file, const ScenarioOverrides& overrides, ErrorList& errors) {
  for (const std::string& set : overrides.sets) {
    if (Result<void> done = manifest::apply_set(root, set); !done) errors.fail(std::move(done.error()));
  }
  Scenario scenario;
  scenario.file = file;
  model::Catalog catalog;
  Fields fields(root, "scenario", errors);
  if (fields.take_required("name") != nullptr) fields.text("name", scenario.name);
  scenario.title = scenario.name;
  fields.text("title", scenario.title);
  fields.integer("seed", scenario.seed, 0, std::numeric_limits<std::int64_t>::max());
  if (fields.take("duration") != nullptr) fields.duration("duration", scenario.duration.emplace(), 1s, 8784h);
  fields.duration("settle", scenario.settle_time, 0s, 24h);
  fields.boolean("bound", scenario.bound);
  read_queues(fields.list("queues"), catalog, errors);
  const auto jobs = fields.list("jobs");
  const Node* cluster = fields.take_required("cluster");
  if (cluster != nullptr && cluster->kind == Node::Kind::mapping) read_topologies(*cluster, catalog, errors);
  read_services(fields, root, overrides, catalog, scenario, errors);
  read_jobs(jobs, catalog, scenario, errors);
  fields.take_required("policies");
  const auto policies = fields.non_empty_list("policies");
  fields.finish();
  read_part(cluster, errors, [&](const Node& node, ErrorList& v) { read_cluster(node, catalog, scenario, v); });
  resolve_any_gpu(catalog, scenario);
  scenario.catalog = std::make_shared<const model::Catalog>(std::move(catalog));
  scenario.cluster.catalog = scenario.catalog;
  read_policies(policies, scenario, errors);
  if (overrides.seed) scenario.seed = *overrides.seed;
  check_feasible(scenario, root, errors);
  keep_named(overrides.policies, scenario, errors);
  return scenario;
}

/// Returns the errors. An error that appears only with the changes of `--set` is reported at the `--set` options and
/// not at its place in the file.
/// @param found  errors of the file with the changes of `--set`
/// @param alone  errors of the file alone
manifest::Errors blame_sets(const manifest::Errors& found, const manifest::Errors& alone, const std::string& file,
                            const std::vector<std::string>& sets) {
  std::string options;
  for (const std::string& set : sets) options += (options.empty() ? "--set " : " --set ") + set;
  std::vector<Error> errors = found.list;
  for (Error& error : errors) {
    const auto same = [&](const Error& other) { return other.text() == error.text(); };
    if (error.kind != ErrorKind::input || error.file != file || std::ranges::any_of(alone.list, same)) continue;
    error = Error::about(options, error.message);
    error.kind = ErrorKind::usage;
  }
  return manifest::Errors(std::move(errors));
}

/// @param faults  syntax errors of the YAML
ScenarioResult read_and_blame(const Result<Node>& root, const std::vector<Error>& faults, const std::string& file,
                              const ScenarioOverrides& overrides) {
  const auto errors_so_far = [&] {
    ErrorList errors{.max_errors = ErrorList::kMaxErrors};
    for (const Error& fault : faults) errors.fail(fault);
    return errors;
  };
  ErrorList errors = errors_so_far();
  if (!root) {
    errors.fail(root.error());
    return std::unexpected(errors.all());
  }
  if (const auto fault = manifest::object_instead_of(*root, "a scenario")) {
    return std::unexpected(manifest::Errors(*fault));
  }
  if (const auto fault = manifest::other_input_instead_of(*root, manifest::InputFile::scenario)) {
    return std::unexpected(manifest::Errors(*fault));
  }
  Scenario scenario = read(*root, file, overrides, errors);
  if (errors.ok()) return scenario;
  if (overrides.sets.empty()) return std::unexpected(errors.all());
  ScenarioOverrides without = overrides;
  without.sets.clear();
  ErrorList errors_alone = errors_so_far();
  read(*root, file, without, errors_alone);
  return std::unexpected(blame_sets(errors.all(), errors_alone.all(), file, overrides.sets));
}

}  // namespace

ScenarioResult read_scenario(const std::string& path, const ScenarioOverrides& overrides) {
  std::vector<Error> faults;
  const Result<Node> root = manifest::parse_file(path, {}, &faults);
  if (!root) {
    if (const auto fault = manifest::objects_instead_of(path, "a scenario")) {
      return std::unexpected(manifest::Errors(*fault));
    }
  }
  ScenarioResult scenario = read_and_blame(root, faults, path, overrides);
  if (!scenario || overrides.trace) return scenario;
  if (const auto missing = missing_trace(*scenario, *root, overrides.sets)) {
    return std::unexpected(manifest::Errors(*missing));
  }
  return scenario;
}

ScenarioResult parse_scenario(std::string_view text, const std::string& file, const ScenarioOverrides& overrides) {
  std::vector<Error> faults;
  return read_and_blame(manifest::parse(text, file, {}, &faults), faults, file, overrides);
}

}  // namespace capstan::scenario
