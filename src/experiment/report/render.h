#pragma once

#include <string>

#include "experiment/compare.h"

namespace capstan::experiment {

struct RenderOptions {
  bool color = false;  ///< true: uses the colours of a terminal
  /// True: adds the frontier, the changes per hour, and the first difference of the first two policies.
  bool frontier = false;
  bool sparklines = false;  ///< true: adds charts of arrivals, ready replicas and missed requests, for UTF-8 terminals
  bool all_rows = false;    ///< true: the tables have a row for every service, class of jobs, queue and team
  int width = 120;          ///< columns of the terminal, at which sentences wrap
};

/// Returns the result as text: what was run, the ranked table, the sentences that say which policy to choose and why,
/// the moments that made the difference, and the next command. Equal comparisons give equal bytes.
std::string render_text(const Comparison& comparison, const std::string& arguments, const RenderOptions& options = {});

/// The parts of a result in JSON that are optional.
struct JsonParts {
  bool minutes = true;     ///< the series by minute
  bool decisions = false;  ///< content that only a report shows: every change of the wanted replicas with its reason,
                           ///< the phases of latency and of cold starts, the nodes and replicas, and the sentences
  std::string command{};   ///< command that gives the same result; empty: it is left out
  bool compact = false;    ///< true: the document has one line
};

/// Returns every figure in JSON, "format_version" first, keys in snake_case with their unit last. Ends with a newline.
std::string render_json(const Comparison& comparison, const JsonParts& parts = {});

}  // namespace capstan::experiment
