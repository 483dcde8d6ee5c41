#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "manifest/path.h"
#include "scenario/gpu_names.h"
#include "scenario/read_job_load.h"
#include "scenario/read_parts.h"
#include "workload/job_trace.h"

namespace capstan::scenario {
namespace {

using manifest::ErrorList;
using manifest::Fields;
using manifest::Node;
using namespace std::chrono_literals;

constexpr std::size_t kMaxClasses = 1000;

/// Reads when jobs arrive, and checks that the arrivals end.
void read_arrivals(const Node& node, const std::string& owner, const Scenario& scenario, workload::JobLoad& load,
                   ErrorList& errors) {
  const std::string path = owner + ".arrivals";
  const manifest::Mark mark(errors);
  const bool ends = read_job_arrivals(node, path, load, errors);
  if (!ends && scenario.duration) load.until = *scenario.duration;
  if (!mark.ok()) return;
  const bool goes_on = load.batches.count == 0 || load.batches.interval > Duration{};
  if (goes_on && !ends && !scenario.duration) {
    return errors.fail(node.place,
                       path + " lacks \"until\", expected the end of the arrivals, or the scenario's duration");
  }
  if (const double jobs = workload::expected_jobs(load); jobs > static_cast<double>(workload::kMaxJobs)) {
    errors.fail(node.place,
                fmt::format("{}: found about {:.0f} jobs, expected at most {}", path, jobs, workload::kMaxJobs));
  }
}

/// Turns the jobs of a trace into jobs of the class, with the CPU, memory and kinds of GPU that their rows state. If
/// the class allows several kinds of GPU, a row that names none of them but others is an error. If the class has one
/// kind, the kinds that the rows name are ignored.
void add_recorded(std::vector<workload::JobArrival> jobs, const Fields& fields, model::Catalog& catalog,
                  Scenario& scenario, JobSpec& spec, ErrorList& errors) {
  const sim::JobClass& job_class = spec.job_class;
  const PodNeeds of_class = job_class.pod_class.valid() ? scenario.pod_needs[job_class.pod_class.value] : PodNeeds{};
  std::map<std::pair<std::int64_t, std::int64_t>, model::PodClassId> classes;
  const bool has_choice = spec.any_gpu || !job_class.other_gpus.empty();
  const std::vector<model::GpuKindId> allowed = sim::gpus_of(job_class, {});
  for (workload::JobArrival& job : jobs) {
    RecordedJob& recorded = spec.recorded->emplace_back();
    const auto [found, is_new] = classes.try_emplace({job.cpu_milli, job.memory_mib});
    if (is_new) {
      PodNeeds needs = of_class;
      if (job.cpu_milli > 0) needs.requests.cpu_milli = job.cpu_milli;
      if (job.memory_mib > 0) needs.requests.memory_mib = job.memory_mib;
      found->second = pod_class_of(scenario, needs);
    }
    recorded.pod_class = found->second;
    for (std::size_t i = 0; has_choice && i < job.gpus.size(); ++i) {
      const model::GpuKindId kind = gpu_kind(catalog, gpu_name(*scenario.engines, catalog, job.gpus[i]));
      if (spec.any_gpu || std::ranges::find(allowed, kind) != allowed.end()) recorded.gpus.push_back(kind);
    }
    if (has_choice && !job.gpus.empty() && recorded.gpus.empty()) {
      errors.fail(fields.node().place,
                  fmt::format("{}: a row names the GPUs {}, expected one of the kinds of gpu in gpu_spec",
                              fields.what(), fmt::join(job.gpus, "|")));
      return;
    }
    recorded.arrival = std::move(job);
  }
}

/// Reads the key `trace` of a class: a file of jobs, and the interval of the file that the scenario takes.
void read_trace(const Node& node, const std::string& owner, model::Catalog& catalog, Scenario& scenario, JobSpec& spec,
                ErrorList& errors) {
  Fields fields(node, owner + ".trace", errors);
  workload::JobTracePart part;
  std::string path;
  const Node* file = fields.take_required("file");
  if (file != nullptr) fields.text("file", path);
  fields.duration("from", part.from, 0s, 876'000h);
  if (!fields.duration("length", part.length, 1s, kLongestJobWork) && scenario.duration)
    part.length = *scenario.duration;
  fields.finish();
  spec.recorded.emplace();
  if (!fields.ok()) return;
  auto bytes = workload::open_bytes(resolved_path(*file, scenario.file));
  if (!bytes) return errors.fail(std::move(bytes.error()));
  auto jobs = workload::read_job_trace(std::move(*bytes), part);
  if (!jobs) return errors.fail(std::move(jobs.error()));
  if (jobs->empty()) {
    return errors.fail(node.place, fields.what() + ": found no job in this part of the trace, expected at least one");
  }
  add_recorded(std::move(*jobs), fields, catalog, scenario, spec, errors);
}

/// Reads the kinds of GPU that the jobs may use: one, several in the order in which a job asks for them, or `any`.
void read_gpus(const Node& node, const std::string& owner, model::Catalog& catalog, const Scenario& scenario,
               JobSpec& spec, ErrorList& errors) {
  const auto kind_of = [&](const Node& name) {
    if (name.kind != Node::Kind::scalar || name.text.empty()) {
      errors.fail(name.place, fmt::format("{}.gpu: found {}, expected the name of a GPU", owner, name.words()));
    }
    return gpu_kind(catalog, gpu_name(*scenario.engines, catalog, name.text));
  };
  sim::JobClass& job_class = spec.job_class;
  spec.any_gpu = node.kind == Node::Kind::scalar && node.text == "any";
  if (spec.any_gpu) return;
  if (node.kind != Node::Kind::sequence) {
    job_class.gpu = kind_of(node);
    return;
  }
  if (node.items.empty()) errors.fail(node.place, owner + ".gpu: found an empty list of names");
  for (std::size_t i = 0; i < node.items.size(); ++i) {
    const model::GpuKindId kind = kind_of(node.items[i]);
    if (i == 0) job_class.gpu = kind;
    if (i > 0) job_class.other_gpus.push_back(kind);
  }
}

void read_goal(const Node& node, const std::string& owner, JobGoal& goal, ErrorList& errors) {
  Fields fields(node, owner + ".goal", errors);
  if (fields.take_required("finish_within") != nullptr) {
    fields.duration("finish_within", goal.finish_within, 1s, kLongestJobWork);
  }
  fields.share_ppm("attainment", goal.attainment_ppm, 1, 1'000'000);
  fields.finish();
}

JobSpec read_class(const Node& node, const std::string& owner, model::Catalog& catalog, Scenario& scenario,
                   ErrorList& errors) {
  JobSpec spec;
  sim::JobClass& job_class = spec.job_class;
  job_class.start = sim::Latency::between(20s, 40s);
  Fields fields(node, owner, errors);
  if (fields.take_required("name") != nullptr) fields.text("name", job_class.name);
  fields.text("team", spec.team);
  if (const Node* gpu = fields.take_required("gpu")) read_gpus(*gpu, owner, catalog, scenario, spec, errors);
  job_class.pod_class = read_pod_needs(fields, scenario, errors);
  model::TopologyLevel required_level = model::TopologyLevel::node;
  read_level(fields, "together", required_level);
  job_class.required_level = required_level;
  read_queue(fields, catalog, job_class.queue, errors);
  read_latency(fields, "start", job_class.start);
  fields.integer("priority", job_class.priority, -kMaxPriority, kMaxPriority);
  fields.boolean("preemptible", job_class.preemptible);
  fields.duration("checkpoint_every", job_class.checkpoint_every, 1s, kLongestJobWork);
  if (const Node* trace = fields.take("trace")) {
    read_trace(*trace, owner, catalog, scenario, spec, errors);
  } else {
    read_job_sizes(fields, owner, spec.load, errors);
    if (const Node* work = fields.take_required("work")) read_job_work(*work, owner, spec.load.work, errors);
    if (const Node* arrivals = fields.take_required("arrivals"))
      read_arrivals(*arrivals, owner, scenario, spec.load, errors);
  }
  if (const Node* goal = fields.take("goal")) read_goal(*goal, owner, spec.goal.emplace(), errors);
  fields.finish();
  return spec;
}

}  // namespace

void resolve_any_gpu(const model::Catalog& catalog, Scenario& scenario) {
  std::map<model::GpuKindId, double> prices;  // the lowest price of a GPU, by kind
  for (const model::Offering& offering : catalog.offerings) {
    if (!offering.gpu.valid() || offering.gpus == 0) continue;
    const double price = static_cast<double>(offering.price_per_hour.count) / static_cast<double>(offering.gpus);
    const auto [found, is_new] = prices.try_emplace(offering.gpu, price);
    if (!is_new) found->second = std::min(found->second, price);
  }
  std::vector<std::pair<double, model::GpuKindId>> kinds;
  for (const auto& [kind, price] : prices) kinds.emplace_back(price, kind);
  std::ranges::sort(kinds);
  for (JobSpec& spec : scenario.jobs) {
    if (!spec.any_gpu || kinds.empty()) continue;
    spec.job_class.gpu = kinds.front().second;
    for (std::size_t i = 1; i < kinds.size(); ++i) spec.job_class.other_gpus.push_back(kinds[i].second);
  }
}

void read_jobs(std::span<const Node> nodes, model::Catalog& catalog, Scenario& scenario, ErrorList& errors) {
  if (nodes.size() > kMaxClasses) {
    return errors.fail(nodes[kMaxClasses].place, fmt::format("more than {} classes of jobs", kMaxClasses));
  }
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    JobSpec spec = read_class(nodes[i], manifest::item_path("jobs", nodes[i], i), catalog, scenario, errors);
    const std::string& name = spec.job_class.name;
    const auto has_name = [&](const JobSpec& other) { return other.job_class.name == name; };
    if (!name.empty() && std::ranges::any_of(scenario.jobs, has_name)) {
      errors.fail(nodes[i].find("name")->place, fmt::format("jobs: \"{}\" is given twice", name));
    }
    const bool is_service =
        std::ranges::find(scenario.endpoints, name, &EndpointSpec::name) != scenario.endpoints.end();
    if (!name.empty() && is_service) {
      errors.fail(nodes[i].find("name")->place,
                  fmt::format("jobs: \"{}\" is the name of a service, expected another name", name));
    }
    scenario.jobs.push_back(std::move(spec));
  }
}

}  // namespace capstan::scenario
