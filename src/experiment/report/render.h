#pragma once

#include <string>

#include "experiment/compare.h"

namespace capstan::experiment {

struct RenderOptions {
  bool color = false;       ///< use the colours of a terminal
  bool frontier = false;    ///< also the frontier, the changes an hour and where the first two policies part
  bool sparklines = false;  ///< also arrivals, ready replicas and missed requests over time, for UTF-8 terminals
  int width = 120;          ///< columns of the terminal; sentences wrap there
};

/// Writes the result as a page for people: what was run, the ranked table, the sentences that say which policy to
/// choose and why, the moments that made the difference, and the command to type next. Equal comparisons give equal
/// bytes.
std::string render_text(const Comparison& comparison, const std::string& arguments, const RenderOptions& options = {});

/// What a result in JSON holds beside the figures.
struct JsonParts {
  bool minutes = true;     ///< the series by minute
  bool decisions = false;  ///< every change of the wanted replicas with its reason, and the sentences of the text
  std::string command{};   ///< that gives the same result; empty: is left out
  bool compact = false;    ///< on one line
};

/// Writes every figure in JSON, "format_version" first, keys in snake_case with their unit last. Ends with a newline.
std::string render_json(const Comparison& comparison, const JsonParts& parts = {});

}  // namespace capstan::experiment
