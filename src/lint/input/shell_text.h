#pragma once

#include "lint/read.h"

namespace capstan::lint {

/// Checks the MIG settings of GPU nodes (`nvidia-smi mig -cgi`, `mig.strategy`) anywhere in a text, for example in a
/// script in a ConfigMap or in a page of notes.
void search_commands(const File& file, Reading& out);

}  // namespace capstan::lint
