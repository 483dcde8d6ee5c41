#pragma once

#include "lint/read.h"

namespace capstan::lint {

/// Searches manifests that lost their indentation when they were copied from a web page or a chat. Every line begins at
/// the margin, possibly with its line number. Such a text is no YAML, but single lines can still be checked. Returns
/// true for such a text; the findings are then in `out`.
bool find_flat(const File& file, Reading& out);

}  // namespace capstan::lint
