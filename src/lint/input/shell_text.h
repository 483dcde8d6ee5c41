#pragma once

#include "lint/read.h"

namespace capstan::lint {

/// Checks commands for GPU nodes anywhere in a text, for example in a script in a ConfigMap or in a page of notes.
void search_commands(const File& file, Reading& out);

}  // namespace capstan::lint
