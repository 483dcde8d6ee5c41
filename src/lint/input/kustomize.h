#pragma once

#include "lint/input/find_files.h"

namespace capstan::lint {

/// Adds what the kustomizations among the files name in `resources`, `bases` and `components`, and what those name in
/// turn: files, and folders with a kustomization of their own, also outside of what was asked for. They stand with the
/// kustomization that brought them in: its folder is their scope. What is fetched from elsewhere is left out, and so is
/// what is not there: it may be generated. Notes for every file which kustomizations and which chart deploy it.
void follow_kustomizations(FoundFiles& found);

}  // namespace capstan::lint
