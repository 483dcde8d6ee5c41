#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "engine/names.h"
#include "manifest/scalars.h"
#include "scenario/read_parts.h"
#include "workload/job_trace.h"

namespace capstan::scenario {
namespace {

using manifest::ErrorList;
using manifest::Fields;
using manifest::Node;
using namespace std::chrono_literals;

constexpr std::size_t kMostClasses = 1000;
constexpr std::int64_t kMostPods = 1024;
constexpr std::int64_t kMostGpusPerPod = 1024;
constexpr double kMostJobsPerHour = 1e6;
constexpr Duration kLongestWork = 8784h;

/// Reads the pods of a job: a number, or the bounds of an elastic job.
void read_pods(const Node& node, const std::string& owner, workload::JobSize& size, ErrorList& errors) {
  if (node.kind == Node::Kind::scalar) {
    const auto pods = manifest::read_integer(node.text);
    if (!pods) {
      return errors.fail(node.place,
                         fmt::format("{}.pods: found {}, expected a whole number or a mapping", owner, node.words()));
    }
    if (*pods < 1 || *pods > kMostPods) {
      return errors.fail(node.place,
                         fmt::format("{}.pods: found {}, expected 1 to {}", owner, node.words(), kMostPods));
    }
    size.pods = static_cast<std::int32_t>(*pods);
    return;
  }
  Fields fields(node, owner + ".pods", errors);
  if (fields.need("min") != nullptr) fields.integer("min", size.least_pods, 1, kMostPods);
  if (fields.need("max") != nullptr) fields.integer("max", size.pods, 1, kMostPods);
  fields.finish();
  if (fields.ok() && size.least_pods > size.pods) {
    errors.fail(node.place, fmt::format("{}: min {} is above max {}", fields.what(), size.least_pods, size.pods));
  }
}

/// Reads the pods of a job and the GPUs of each.
void read_size(Fields& fields, workload::JobSize& size) {
  fields.check("pods", [&](const Node& node, ErrorList& errors) { read_pods(node, fields.what(), size, errors); });
  fields.integer("gpus_per_pod", size.gpus_per_pod, 1, kMostGpusPerPod);
}

void read_sizes(Fields& fields, const std::string& owner, workload::JobLoad& load, ErrorList& errors) {
  const auto sizes = fields.list("sizes");
  if (sizes.empty()) return read_size(fields, load.sizes.front());
  load.sizes.clear();
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    Fields size(sizes[i], fmt::format("{}.sizes.{}", owner, i), errors);
    read_size(size, load.sizes.emplace_back());
    size.integer("weight", load.sizes.back().weight, 1, 1'000'000);
    size.finish();
  }
}

/// Reads a length of time, or the distribution of lengths.
void read_work(const Node& node, const std::string& owner, workload::JobWork& work, ErrorList& errors) {
  if (node.kind == Node::Kind::scalar) {
    const auto stated = manifest::read_duration(node.text);
    if (!stated) {
      return errors.fail(node.place,
                         fmt::format("{}.work: found {}, expected a duration or a mapping", owner, node.words()));
    }
    if (*stated < 1s || *stated > kLongestWork) {
      return errors.fail(node.place, fmt::format("{}.work: found {}, expected 1s to {}", owner, node.text,
                                                 manifest::duration_text(kLongestWork)));
    }
    work.median = *stated;
    return;
  }
  Fields fields(node, owner + ".work", errors);
  if (fields.need("median") != nullptr) fields.duration("median", work.median, 1s, kLongestWork);
  fields.number("sigma", work.sigma, 0, 10);
  fields.duration("min", work.least, 1s, kLongestWork);
  fields.duration("max", work.most, 1s, kLongestWork);
  fields.finish();
  if (fields.ok() && work.least > work.most) {
    errors.fail(node.place, fmt::format("{}: min {} is above max {}", fields.what(),
                                        manifest::duration_text(work.least), manifest::duration_text(work.most)));
  }
}

/// Reads when jobs arrive: `count` jobs together, or jobs one by one at a rate.
void read_arrivals(const Node& node, const std::string& owner, const Scenario& scenario, workload::JobLoad& load,
                   ErrorList& errors) {
  Fields fields(node, owner + ".arrivals", errors);
  const bool has_batches = fields.take("count") != nullptr;
  bool has_rate = false;
  if (has_batches) {
    fields.integer("count", load.batches.count, 1, static_cast<std::int64_t>(workload::kMostJobs));
    fields.duration("at", load.batches.at, 0s, kLongestWork);
    fields.duration("every", load.batches.every, 1s, kLongestWork);
  } else {
    has_rate = fields.number("per_hour", load.rate.per_hour, 0, kMostJobsPerHour);
    fields.number("peak_per_hour", load.rate.peak_per_hour, 0, kMostJobsPerHour);
    fields.duration("peak_at", load.rate.peak_at, 0s, 24h);
  }
  const bool ends = fields.duration("until", load.until, 1s, kLongestWork);
  if (!ends && scenario.duration) load.until = *scenario.duration;
  fields.finish();
  if (!fields.ok()) return;
  if (!has_batches && !has_rate) {
    return errors.fail(node.place, fields.what() + " lacks \"count\" or \"per_hour\"");
  }
  const bool goes_on = has_rate || load.batches.every > Duration{};
  if (goes_on && !ends && !scenario.duration) {
    return errors.fail(
        node.place, fields.what() + " lacks \"until\", expected the end of the arrivals, or the scenario's duration");
  }
  if (const double jobs = workload::expected_jobs(load); jobs > static_cast<double>(workload::kMostJobs)) {
    errors.fail(node.place, fmt::format("{}: found about {:.0f} jobs, expected at most {}", fields.what(), jobs,
                                        workload::kMostJobs));
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
  if (!fields.duration("length", part.length, 1s, kLongestWork) && scenario.duration) part.length = *scenario.duration;
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
    fields.duration("finish_within", goal.finish_within, 1s, kLongestWork);
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
  fields.duration("checkpoint_every", job_class.checkpoint_every, 1s, kLongestWork);
  if (const Node* trace = fields.take("trace")) {
    read_trace(*trace, owner, scenario, spec, errors);
  } else {
    read_sizes(fields, owner, spec.load, errors);
    if (const Node* work = fields.need("work")) read_work(*work, owner, spec.load.work, errors);
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
    JobSpec spec = read_class(nodes[i], fmt::format("jobs.{}", i), catalog, scenario, errors);
    const std::string& name = spec.job_class.name;
    const auto has_name = [&](const JobSpec& other) { return other.job_class.name == name; };
    if (!name.empty() && std::ranges::any_of(scenario.jobs, has_name)) {
      errors.fail(nodes[i].find("name")->place, fmt::format("jobs: \"{}\" is given twice", name));
    }
    scenario.jobs.push_back(std::move(spec));
  }
}

}  // namespace capstan::scenario
