#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "explain/signal_path.h"
#include "explain/slow_replica.h"
#include "signals/exposition.h"
#include "signals/signal_name.h"

namespace capstan::op {

/// One page of metrics as it was read.
struct MetricsPage {
  std::string_view text;
  signals::Exposition format = signals::Exposition::text;
  Instant at{};
};

/// The contents that a page should have.
struct ExpectedPage {
  std::string source{};  ///< name of the page in errors: a pod, a file or a URL
  std::string model{};   ///< expected model; empty: any
  std::string engine{};  ///< name of the engine; empty: recognized from the metric names
  std::string pod{};     ///< expected pod in the labels of series; empty: any
  std::vector<signals::SignalName> needed = {signals::SignalName::waiting, signals::SignalName::running,
                                             signals::SignalName::kv_usage_ppm};
};

/// Facts that one pod's page shows.
struct PageFacts {
  explain::PodFacts pod;  ///< facts of the pod; only `name` and the fields about the page are set
  explain::ReplicaLoad load;
  std::vector<explain::UnusableSignal> unusable;
};

/// Reads the facts from a page. With a second, later page of the same target, it also reads the preemptions
/// and the CPU time of the front end between the two pages.
/// @param pages  one or two, oldest first
PageFacts page_facts(std::span<const MetricsPage> pages, const ExpectedPage& expected);

/// Returns the name on the page that is most similar to one of the known names; empty if none is similar enough. Two
/// names are similar if they share at least three words, the name of the engine included.
std::string similar_metric(std::span<const std::string> page_names, std::span<const std::string> known);

}  // namespace capstan::op
