#pragma once

#include "lint/input/find_files.h"

namespace capstan::lint {

/// Adds the files that the kustomizations among the files name in `resources`, `bases` and `components`. They may be
/// files or folders with a kustomization, which is followed in turn, and may lie outside the requested paths. An added
/// file gets the folder of the kustomization as its scope. Remote resources are skipped, and so are missing files,
/// because they may be generated. Also records for every file the kustomizations and the chart that deploy it.
void follow_kustomizations(FoundFiles& found);

}  // namespace capstan::lint
