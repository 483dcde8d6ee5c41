#pragma once

#include "lint/read.h"

namespace capstan::lint {

/// Checks single lines of manifests that lost their indentation when they were copied from a web page or a chat. Every
/// line begins at the margin, possibly with its line number, so the text is not YAML. Returns true for such a text and
/// adds the findings to `out`.
bool find_flat(const File& file, Reading& out);

}  // namespace capstan::lint
