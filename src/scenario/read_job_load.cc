#include "scenario/read_job_load.h"

#include <fmt/format.h>

#include "manifest/scalars.h"

namespace capstan::scenario {

namespace {

using manifest::ErrorList;
using manifest::Fields;
using manifest::Node;
using namespace std::chrono_literals;

constexpr std::int64_t kMaxPods = 1024;
constexpr std::int64_t kMaxGpusPerPod = 1024;
constexpr double kMaxJobsPerHour = 1e6;

/// Reads the pods of a job: a number, or the bounds of an elastic job.
void read_pods(const Node& node, const std::string& owner, workload::JobSize& size, ErrorList& errors) {
  if (node.kind == Node::Kind::scalar) {
    const auto pods = manifest::read_integer(node.text);
    if (!pods) {
      return errors.fail(node.place,
                         fmt::format("{}.pods: found {}, expected a whole number or a mapping", owner, node.words()));
    }
    if (*pods < 1 || *pods > kMaxPods) {
      return errors.fail(node.place, fmt::format("{}.pods: found {}, expected 1 to {}", owner, node.words(), kMaxPods));
    }
    size.pods = static_cast<std::int32_t>(*pods);
    return;
  }
  Fields fields(node, owner + ".pods", errors);
  if (fields.take_required("min") != nullptr) fields.integer("min", size.min_pods, 1, kMaxPods);
  if (fields.take_required("max") != nullptr) fields.integer("max", size.pods, 1, kMaxPods);
  fields.finish();
  if (fields.ok() && size.min_pods > size.pods) {
    errors.fail(node.place, fmt::format("{}: min {} is above max {}", fields.what(), size.min_pods, size.pods));
  }
}

}  // namespace

void read_job_size(Fields& fields, workload::JobSize& size) {
  fields.check("pods", [&](const Node& node, ErrorList& errors) { read_pods(node, fields.what(), size, errors); });
  fields.integer("gpus_per_pod", size.gpus_per_pod, 1, kMaxGpusPerPod);
}

void read_job_sizes(Fields& fields, const std::string& owner, workload::JobLoad& load, ErrorList& errors) {
  const auto sizes = fields.list("sizes");
  if (sizes.empty()) return read_job_size(fields, load.sizes.front());
  load.sizes.clear();
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    Fields size(sizes[i], fmt::format("{}.sizes.{}", owner, i), errors);
    read_job_size(size, load.sizes.emplace_back());
    size.integer("weight", load.sizes.back().weight, 1, 1'000'000);
    size.finish();
  }
}

void read_job_work(const Node& node, const std::string& owner, workload::JobWork& work, ErrorList& errors) {
  if (node.kind == Node::Kind::scalar) {
    const auto stated = manifest::read_duration(node.text);
    const bool is_negative = node.text.starts_with('-') && manifest::read_duration(node.text.substr(1)).has_value();
    if (!stated && !is_negative) {
      return errors.fail(node.place,
                         fmt::format("{}.work: found {}, expected a duration or a mapping", owner, node.words()));
    }
    if (!stated || *stated < 1s || *stated > kLongestJobWork) {
      return errors.fail(node.place, fmt::format("{}.work: found {}, expected 1s to {}", owner, node.text,
                                                 manifest::duration_text(kLongestJobWork)));
    }
    work.median = *stated;
    return;
  }
  Fields fields(node, owner + ".work", errors);
  if (fields.take_required("median") != nullptr) fields.duration("median", work.median, 1s, kLongestJobWork);
  fields.number("sigma", work.sigma, 0, 10);
  fields.duration("min", work.least, 1s, kLongestJobWork);
  fields.duration("max", work.most, 1s, kLongestJobWork);
  fields.finish();
  if (fields.ok() && work.least > work.most) {
    errors.fail(node.place, fmt::format("{}: min {} is above max {}", fields.what(),
                                        manifest::duration_text(work.least), manifest::duration_text(work.most)));
  }
}

bool read_job_arrivals(const Node& node, const std::string& what, workload::JobLoad& load, ErrorList& errors) {
  Fields fields(node, what, errors);
  const bool has_batches = fields.take("count") != nullptr;
  bool has_rate = false;
  if (has_batches) {
    fields.integer("count", load.batches.count, 1, static_cast<std::int64_t>(workload::kMaxJobs));
    fields.duration("at", load.batches.at, 0s, kLongestJobWork);
    fields.duration("every", load.batches.interval, 1s, kLongestJobWork);
  } else {
    has_rate = fields.number("per_hour", load.rate.per_hour, 0, kMaxJobsPerHour);
    fields.number("peak_per_hour", load.rate.peak_per_hour, 0, kMaxJobsPerHour);
    fields.duration("peak_at", load.rate.peak_at, 0s, 24h);
    const bool has_peak = fields.take("peak_per_hour") != nullptr;
    if (fields.ok() && has_peak && load.rate.peak_per_hour < load.rate.per_hour) {
      errors.fail(fields.place_for_error({"peak_per_hour", "per_hour"}),
                  fmt::format("{}: peak_per_hour {} is below per_hour {}, expected a peak that is at least as high",
                              what, load.rate.peak_per_hour, load.rate.per_hour));
    }
  }
  const bool ends = fields.duration("until", load.until, 1s, kLongestJobWork);
  fields.finish();
  if (fields.ok() && !has_batches && !has_rate) errors.fail(node.place, what + " lacks \"count\" or \"per_hour\"");
  return ends;
}

}  // namespace capstan::scenario
