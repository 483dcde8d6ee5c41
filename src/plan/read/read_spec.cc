#include "plan/read/read_spec.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <utility>

#include "base/ascii.h"
#include "base/file.h"
#include "manifest/object_instead.h"
#include "manifest/path.h"
#include "plan/feasibility/feasible.h"
#include "plan/feasibility/refusal.h"
#include "plan/read/read_parts.h"

namespace capstan::plan {

namespace {

using manifest::ErrorList;
using manifest::Fields;
using manifest::Node;

constexpr std::size_t kMaxServices = 20;
constexpr std::size_t kMaxKubeName = 40;  ///< Kubernetes allows 63, but the plan appends "-prefill" and the like

/// Returns the table that is compiled into the program. The pointer does not own the table, which is never destroyed.
std::shared_ptr<const engine::EngineTable> bundled_engines() {
  return {std::shared_ptr<const engine::EngineTable>(), &engine::EngineTable::bundled()};
}

/// Puts the user's own rows before those of the bundled table.
void read_step_times(Fields& root, PlanSpec& spec, ErrorList& errors) {
  std::string path;
  if (!root.text("step_times", path)) return;
  spec.step_times = spec_relative(spec, path);
  const auto text = read_file(spec.step_times, manifest::Limits{}.bytes);
  if (!text) {
    return errors.fail(root.place_for_error({"step_times"}),
                       fmt::format("step_times: cannot read \"{}\", expected a table in the format of data/engines.csv",
                                   spec.step_times));
  }
  Result<engine::EngineTable> table = spec.engines->with_rows_of(*text, spec.step_times);
  if (!table) {
    table.error().message +=
        fmt::format(" (step_times names this file at {})", place_words(root.place_for_error({"step_times"})));
    return errors.fail(table.error());
  }
  spec.engines = std::make_shared<const engine::EngineTable>(std::move(*table));
}

/// Returns the names of the objects that the plan writes for a service.
std::vector<std::string> object_names(const ServiceSpec& service) {
  std::vector<std::string> roots{service.name};
  if (service.is_disaggregated) roots.insert(roots.end(), {service.name + "-prefill", service.name + "-decode"});
  std::vector<std::string> names = roots;
  for (const std::string& root : roots) {
    for (const std::string_view part : {"balloon", "prepull", "weights", "models", "config", "dashboard"}) {
      names.push_back(fmt::format("{}-{}", root, part));
    }
  }
  return names;
}

/// Checks that no object of a service has the name of an object of an earlier service, which it would replace.
void check_object_names(const Node& node, const ServiceSpec& service, const PlanSpec& spec, ErrorList& errors) {
  const std::vector<std::string> names = object_names(service);
  for (const ServiceSpec& other : spec.services) {
    const std::vector<std::string> taken = object_names(other);
    const auto same = std::ranges::find_first_of(names, taken);
    if (same == names.end() || service.name == other.name) continue;
    errors.fail(node.place,
                fmt::format("services: {0} and {1} would both have an object named \"{2}\", expected another "
                            "name for one of them; the nearest is {0}-2",
                            service.name, other.name, *same));
  }
}

void read_services(Fields& root, PlanSpec& spec, ErrorList& errors) {
  root.take_required("services");
  for (const Node& node : root.non_empty_list("services")) {
    ServiceSpec service = read_spec_service(node, spec, errors);
    if (std::ranges::find(spec.services, service.name, &ServiceSpec::name) != spec.services.end()) {
      errors.fail(node.place, fmt::format("services: \"{}\" is the name of two services", service.name));
    }
    check_object_names(node, service, spec, errors);
    spec.services.push_back(std::move(service));
  }
  if (spec.services.size() > kMaxServices) {
    errors.fail(root.node().place,
                fmt::format("services: found {}, expected at most {}", spec.services.size(), kMaxServices));
  }
}

/// Checks that one job of each class keeps the limit of the whole cluster.
void check_jobs(const Fields& root, const PlanSpec& spec, ErrorList& errors) {
  for (std::size_t i = 0; i < spec.tenants.size() && spec.limits.gpus; ++i) {
    for (const TenantJobs& jobs : spec.tenants[i].jobs) {
      const workload::JobSize& size = jobs.load.sizes.front();
      const GpuCount fewest = (size.min_pods > 0 ? size.min_pods : size.pods) * size.gpus_per_pod;
      if (fewest <= *spec.limits.gpus) continue;
      const std::array paths = {fmt::format("tenants.{}.jobs", i)};
      errors.fail(
          manifest::place_for_error(root.node(), paths),
          fmt::format("tenants.{0}.jobs.{1}: a job needs {2} GPUs, {3} more than limits.gpus of {4}; the nearest "
                      "that is possible is limits.gpus: {2}, or a job of {4} GPUs",
                      spec.tenants[i].name, jobs.name, fewest, fewest - *spec.limits.gpus, *spec.limits.gpus),
          ErrorKind::infeasible);
    }
  }
}

/// Checks the quotas of the tenants against the limits, and the tenants that the services name.
void check_tenants(const Fields& root, const PlanSpec& spec, ErrorList& errors) {
  GpuCount quotas = 0;
  for (const TenantSpec& tenant : spec.tenants) quotas += tenant.gpu_quota;
  if (spec.limits.gpus && quotas > *spec.limits.gpus) {
    errors.fail(
        root.place_for_error({"tenants", "limits"}),
        fmt::format("tenants: the quotas add up to {0} GPUs, {1} more than limits.gpus of {2}; the nearest that "
                    "is possible is limits.gpus: {0}, or quotas of {2} GPUs",
                    quotas, quotas - *spec.limits.gpus, *spec.limits.gpus),
        ErrorKind::infeasible);
  }
  std::vector<std::string_view> names;
  for (const TenantSpec& tenant : spec.tenants) names.push_back(tenant.name);
  for (std::size_t i = 0; i < spec.services.size(); ++i) {
    const ServiceSpec& service = spec.services[i];
    if (names.empty() || std::ranges::find(names, service.tenant) != names.end()) continue;
    const std::array paths = {fmt::format("services.{}.tenant", i)};
    const std::string_view meant = manifest::did_you_mean(service.tenant, names);
    errors.fail(
        manifest::place_for_error(root.node(), paths),
        fmt::format("services.{}.tenant: no tenant is named \"{}\", expected {}{}; add it to `tenants`, or leave "
                    "`tenant` out for {}",
                    service.name, service.tenant, manifest::one_of(names),
                    meant.empty() ? "" : fmt::format(" (did you mean {}?)", meant), names.front()));
  }
}

/// Records where the file states each service, its load, the jobs of each tenant, and the choices that the plan may
/// refuse.
void note_places(const Node& root, PlanSpec& spec) {
  for (const char* path : kRefusablePaths) {
    const Node* node = manifest::at_path(root, path);
    if (node == nullptr || node->is_null()) continue;
    spec.places[path] = place_words(node->place);
  }
  const Node* tenants = root.find("tenants");
  for (std::size_t i = 0; tenants != nullptr && i < tenants->items.size(); ++i) {
    const Node& tenant = tenants->items[i];
    const Node* jobs = tenant.kind == Node::Kind::mapping ? tenant.find("jobs") : nullptr;
    if (jobs != nullptr) spec.places[fmt::format("tenants.{}.jobs", i)] = place_words(jobs->place);
  }
  const Node* services = root.find("services");
  if (services == nullptr || services->kind != Node::Kind::sequence) return;
  for (std::size_t i = 0; i < services->items.size(); ++i) {
    const Node& service = services->items[i];
    spec.places[fmt::format("services.{}", i)] = place_words(service.place);
    const Node* load = service.kind == Node::Kind::mapping ? service.find("load") : nullptr;
    if (load != nullptr && i < spec.services.size()) spec.services[i].load.place = place_words(load->place);
  }
}

PlanSpec read_root(const Node& node, const std::string& file, ErrorList& errors) {
  PlanSpec spec;
  spec.file = file;
  spec.engines = bundled_engines();
  DefaultList defaults(spec.defaults);
  Fields root(node, "spec", errors);
  spec.name = std::filesystem::path(file).stem().string();
  root.text("name", spec.name);
  defaults.note(root, "name", spec.name, "the name of the file", DefaultKind::name);
  spec.namespace_ = "inference";
  if (root.text("namespace", spec.namespace_)) {
    check_kube_name(root, "namespace", spec.namespace_, true, errors);
  }
  defaults.note(root, "namespace", spec.namespace_, "the namespace of the manifests", DefaultKind::name);
  read_step_times(root, spec, errors);
  read_spec_cluster(root.take("cluster"), spec, errors);
  read_spec_tenants(root, spec, errors);
  read_spec_limits(root, spec, errors);
  read_services(root, spec, errors);
  assume_jobs(spec);
  read_spec_staff(root, spec, errors);
  read_spec_asked(root, spec, errors);
  root.finish();
  note_places(node, spec);
  check_tenants(root, spec, errors);
  check_jobs(root, spec, errors);
  if (root.ok()) {
    for (ImpossibleDemand& demand : impossible_demands(spec)) {
      errors.fail(manifest::place_for_error(node, std::array{demand.path}), std::move(demand.message),
                  ErrorKind::infeasible);
    }
  }
  return spec;
}

}  // namespace

bool is_stated(const Fields& fields, std::string_view key) {
  const Node* value = fields.node().find(key);
  return value != nullptr && !value->is_null();
}

void DefaultList::note(const Fields& fields, std::string_view key, std::string value, std::string why,
                       DefaultKind kind) {
  if (is_stated(fields, key)) return;
  const std::string path = fields.what() == "spec" ? std::string(key) : fmt::format("{}.{}", fields.what(), key);
  out_.push_back({path, std::move(value), std::move(why), kind});
}

std::string place_words(const manifest::Place& place) {
  const std::string text = manifest::error_at(place, "").text();
  return text.substr(0, text.rfind(": "));
}

std::string spec_relative(const PlanSpec& spec, const std::string& path) {
  const std::filesystem::path given(path);
  if (given.is_absolute()) return path;
  return (std::filesystem::path(spec.file).parent_path() / given).string();
}

void check_kube_name(const Fields& fields, std::string_view key, const std::string& name, bool may_begin_with_digit,
                     ErrorList& errors) {
  std::string nearest;
  for (const char c : name) {
    const char lower = ascii_lower(c);
    const bool is_digit = lower >= '0' && lower <= '9', is_letter = lower >= 'a' && lower <= 'z';
    if (is_digit && nearest.empty() && !may_begin_with_digit) nearest = "n";
    if (is_digit || is_letter) nearest += lower;
    if (!is_digit && !is_letter && !nearest.empty() && nearest.back() != '-') nearest += '-';
  }
  nearest.resize(std::min(nearest.size(), kMaxKubeName));
  while (nearest.ends_with('-')) nearest.pop_back();
  if (name == nearest && !name.empty()) return;
  errors.fail(fields.place_for_error({key}),
              fmt::format("{}.{} is \"{}\", expected a name that Kubernetes accepts: at most {} lower-case letters, "
                          "digits and dashes, first a letter{}, last no dash{}",
                          fields.what(), key, name, kMaxKubeName, may_begin_with_digit ? " or a digit" : "",
                          nearest.empty() ? "" : fmt::format("; the nearest is \"{}\"", nearest)));
}

SpecResult parse_plan_spec(std::string_view text, const std::string& file, std::span<const std::string> sets) {
  std::vector<Error> faults;
  Result<Node> node = manifest::parse(text, file, {}, &faults);
  if (!node) return std::unexpected(manifest::Errors(node.error()));
  if (const auto fault = manifest::object_instead_of(*node, "the spec of a plan")) {
    return std::unexpected(manifest::Errors(*fault));
  }
  if (const auto fault = manifest::other_input_instead_of(*node, manifest::InputFile::plan_spec)) {
    return std::unexpected(manifest::Errors(*fault));
  }
  for (const std::string& set : sets) {
    if (const Result<void> applied = manifest::apply_set(*node, set); !applied) faults.push_back(applied.error());
  }
  ErrorList errors{.max_errors = ErrorList::kMaxErrors};
  for (Error& fault : faults) errors.fail(std::move(fault));
  PlanSpec spec = read_root(*node, file, errors);
  if (!errors.ok()) return std::unexpected(errors.all());
  return spec;
}

SpecResult read_plan_spec(const std::string& path, std::span<const std::string> sets) {
  const auto text = read_file(path, manifest::Limits{}.bytes);
  if (!text) return std::unexpected(Error::about(path, "cannot be read, expected a spec of a plan"));
  return parse_plan_spec(*text, path, sets);
}

}  // namespace capstan::plan
