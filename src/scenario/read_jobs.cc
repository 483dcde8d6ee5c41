#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "engine/names.h"
#include "manifest/path.h"
#include "scenario/read_job_load.h"
#include "scenario/read_parts.h"
#include "workload/job_trace.h"

namespace capstan::scenario {
namespace {

using manifest::ErrorList;
using manifest::Fields;
using manifest::Node;
using namespace std::chrono_literals;

constexpr std::size_t kMostClasses = 1000;

/// Reads when jobs arrive, and checks that they end to arrive.
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
  if (const double jobs = workload::expected_jobs(load); jobs > static_cast<double>(workload::kMostJobs)) {
    errors.fail(node.place,
                fmt::format("{}: found about {:.0f} jobs, expected at most {}", path, jobs, workload::kMostJobs));
  }
}

/// Reads the part of a trace.
void read_trace(const Node& node, const std::string& owner, const Scenario& scenario, JobSpec& spec,
                ErrorList& errors) {
  Fields fields(node, owner + ".trace", errors);
  workload::JobTracePart part;
  std::string path;
  const Node* file = fields.need("file");
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
  spec.recorded = std::move(*jobs);
}

void read_goal(const Node& node, const std::string& owner, JobGoal& goal, ErrorList& errors) {
  Fields fields(node, owner + ".goal", errors);
  if (fields.need("finish_within") != nullptr) {
    fields.duration("finish_within", goal.finish_within, 1s, kLongestJobWork);
  }
  fields.share_ppm("attainment", goal.attainment_ppm, 1, 1'000'000);
  fields.finish();
}

JobSpec read_class(const Node& node, const std::string& owner, model::Catalog& catalog, const Scenario& scenario,
                   ErrorList& errors) {
  JobSpec spec;
  sim::JobClass& job_class = spec.job_class;
  job_class.start = sim::Latency::between(20s, 40s);
  Fields fields(node, owner, errors);
  if (fields.need("name") != nullptr) fields.text("name", job_class.name);
  fields.text("team", spec.team);
  std::string gpu;
  if (fields.need("gpu") != nullptr && fields.text("gpu", gpu)) {
    job_class.gpu = gpu_kind(catalog, engine::gpu_of_product(*scenario.engines, gpu).value_or(gpu));
  }
  model::TopologyLevel together = model::TopologyLevel::node;
  read_level(fields, "together", together);
  job_class.together = together;
  read_queue(fields, catalog, job_class.queue, errors);
  read_latency(fields, "start", job_class.start);
  fields.integer("priority", job_class.priority, -kMostPriority, kMostPriority);
  fields.boolean("preemptible", job_class.preemptible);
  fields.duration("checkpoint_every", job_class.checkpoint_every, 1s, kLongestJobWork);
  if (const Node* trace = fields.take("trace")) {
    read_trace(*trace, owner, scenario, spec, errors);
  } else {
    read_job_sizes(fields, owner, spec.load, errors);
    if (const Node* work = fields.need("work")) read_job_work(*work, owner, spec.load.work, errors);
    if (const Node* arrivals = fields.need("arrivals")) read_arrivals(*arrivals, owner, scenario, spec.load, errors);
  }
  if (const Node* goal = fields.take("goal")) read_goal(*goal, owner, spec.goal.emplace(), errors);
  fields.finish();
  return spec;
}

}  // namespace

void read_jobs(std::span<const Node> nodes, model::Catalog& catalog, Scenario& scenario, ErrorList& errors) {
  if (nodes.size() > kMostClasses) {
    return errors.fail(nodes[kMostClasses].place, fmt::format("more than {} classes of jobs", kMostClasses));
  }
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    JobSpec spec = read_class(nodes[i], manifest::item_path("jobs", nodes[i], i), catalog, scenario, errors);
    const std::string& name = spec.job_class.name;
    const auto has_name = [&](const JobSpec& other) { return other.job_class.name == name; };
    if (!name.empty() && std::ranges::any_of(scenario.jobs, has_name)) {
      errors.fail(nodes[i].find("name")->place, fmt::format("jobs: \"{}\" is given twice", name));
    }
    scenario.jobs.push_back(std::move(spec));
  }
}

}  // namespace capstan::scenario
