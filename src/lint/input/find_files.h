#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "base/error.h"

namespace capstan::lint {

/// A file to be read.
struct Candidate {
  std::string path;
  bool named = false;                  ///< given by the user, and not found in a folder: read whatever its name is
  std::string scope = {};              ///< the folder whose objects its own stand with; empty: the one that it lies in
  bool patch = false;                  ///< a kustomization merges what it holds into other objects
  std::set<std::string> patched = {};  ///< kinds of its objects that kustomizations change; `*`: any
  std::vector<std::uint32_t> units = {};  ///< the kustomizations and charts that deploy it, in order
};

struct FoundFiles {
  std::vector<Candidate> files;  ///< in the order of their paths, those of one folder together
  std::vector<Error> unreadable;
};

/// The files below some paths: those that are named, and in folders those called .yaml, .yml, .json and .md that no
/// .gitignore and no `exclude` names. Links to folders are not followed, so that loops end. "-" is standard input.
FoundFiles find_files(const std::vector<std::string>& paths, const std::vector<std::string>& exclude);

}  // namespace capstan::lint
