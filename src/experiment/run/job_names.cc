#include "experiment/run/job_names.h"

#include <fmt/format.h>

#include "base/known_row.h"

namespace capstan::experiment {

model::Names job_names(const model::Snapshot& snapshot, const sim::ClusterConfig& config) {
  model::Names names;
  if (config.jobs.empty()) return names;
  snapshot.gangs.for_each([&](model::GangId id, const model::Gang& gang) {
    if (gang.service.valid()) return;
    const sim::Job& job = known_row(config.jobs, gang.ordinal);
    names.gangs.set(id, fmt::format("{} {}", known_row(config.job_classes, job.job_class).name, gang.ordinal));
  });
  return names;
}

}  // namespace capstan::experiment
