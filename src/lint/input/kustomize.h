#pragma once

#include "lint/input/find_files.h"

namespace capstan::lint {

/// Adds the files that the found kustomizations name in `resources`, `bases` and `components`, also outside the
/// requested paths. If a name is a folder with a kustomization, that kustomization is followed too. The scope of an
/// added file is the folder of the found kustomization that names it, directly or through added ones. Remote resources
/// are skipped, and so are missing files, because they may be generated. Also records for every file the kustomizations
/// and the chart that deploy it, the kinds of its objects that kustomizations change, and whether it is a patch.
void follow_kustomizations(FoundFiles& found);

}  // namespace capstan::lint
