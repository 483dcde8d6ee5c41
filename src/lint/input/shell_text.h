#pragma once

#include "lint/read.h"

namespace capstan::lint {

/// Commands that people run on GPU nodes, wherever a text holds them: a script in a ConfigMap, a page of notes.
void search_commands(const File& file, Reading& out);

}  // namespace capstan::lint
