#pragma once

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "base/error.h"

namespace capstan::lint {

/// A file to read.
struct Candidate {
  std::string path;
  bool named = false;                         ///< true if the user or a kustomization named it; it may have any ending
  std::string scope = {};                     ///< folder whose objects are related to the file's objects; empty for the
                                              ///< file's own folder
  bool patch = false;                         ///< true if a kustomization merges its content into other objects
  std::set<std::string> patched_kinds = {};   ///< kinds of its objects that kustomizations change; `*` for any
  std::vector<std::uint32_t> deployers = {};  ///< ids of the kustomizations and charts that deploy it, sorted
};

struct FoundFiles {
  std::vector<Candidate> files;  ///< files in the order of the search, which visits one folder at a time
  std::vector<Error> unreadable;
};

/// Returns the files at some paths. In a folder these are YAML, JSON and Markdown files, by their endings, except files
/// that a .gitignore or `exclude` names. Folders that are hidden or called node_modules are skipped. Links to folders
/// are not followed, so loops cannot occur. "-" is standard input.
FoundFiles find_files(const std::vector<std::string>& paths, const std::vector<std::string>& exclude);

}  // namespace capstan::lint
