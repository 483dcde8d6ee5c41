#pragma once

#include "lint/read.h"

namespace capstan::lint {

/// Manifests that lost their indentation on the way through a web page or a chat: every line at the margin, perhaps
/// with its number. They are no YAML any more, and what they say can still be searched word by word. True where the
/// text is such; the findings are then in `out`.
bool find_flat(const File& file, Reading& out);

}  // namespace capstan::lint
