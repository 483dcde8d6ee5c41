#pragma once

#include <string>

#include "experiment/compare.h"

namespace capstan::experiment {

struct RenderOptions {
  bool color = false;     ///< a terminal that did not ask for none (NO_COLOR)
  bool frontier = false;  ///< also the frontier, the changes an hour and where the first two parted
  int width = 120;        ///< columns of the terminal; sentences wrap there
};

/// The result as a page that people read: what was run, a ranked table, the sentence that says who won and why, the
/// moments that made the difference, what to type next. Same comparison, same bytes.
std::string render_text(const Comparison& comparison, const std::string& arguments, const RenderOptions& options = {});

/// The same and everything else in JSON, with "format_version" first, snake_case keys, units last. Ends with a newline.
/// @param minutes  with the series by minute
std::string render_json(const Comparison& comparison, bool minutes = true);

}  // namespace capstan::experiment
