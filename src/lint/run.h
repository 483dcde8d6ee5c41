#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/error.h"
#include "lint/input/find_files.h"
#include "lint/rule.h"

namespace capstan::lint {

/// The options of a run.
struct Options {
  Settings settings;
  std::map<std::string, Severity, std::less<>> severities;  ///< severities that replace those of the rules, by rule id
  bool advice = false;                                      ///< true if findings of severity info are reported
  std::size_t threads = 0;                                  ///< number of threads; 0 for one per core
};

/// Counts of what a run read and of what it skipped.
struct Summary {
  std::size_t files = 0;
  std::size_t documents = 0;
  std::size_t objects = 0;
  std::size_t templates = 0;                          ///< files that are templates of Helm or Jinja
  std::size_t patches = 0;                            ///< partial objects, to be merged into others
  std::map<std::string, std::size_t> kinds_not_read;  ///< kinds that no rule checks, with the number of their objects
  std::size_t suppressed = 0;                         ///< findings that people accepted with a reason
  std::size_t in_baseline = 0;                        ///< findings that the baseline holds
  std::size_t hidden_advice = 0;                      ///< findings of severity info that `Options::advice` would show
};

struct Report {
  std::vector<Finding> findings;  ///< findings, sorted by file, line, column and rule
  std::vector<Error> unreadable;
  Summary summary;
  // The findings point into these files and objects.
  std::vector<std::unique_ptr<File>> files;
  std::vector<Object> objects;
};

/// A text to lint, with its name.
struct Text {
  std::string path;
  std::string text;
  bool named = true;                          ///< see Candidate::named; a broken `.json` is then an error
  std::string scope = {};                     ///< see Candidate::scope
  bool patch = false;                         ///< see Candidate::patch
  std::vector<std::uint32_t> deployers = {};  ///< see Candidate::deployers
  std::set<std::string> patched_kinds = {};   ///< see Candidate::patched_kinds
};

/// Reads and lints files.
Report lint_files(const std::vector<Candidate>& files, const Options& options);

/// Lints texts as if they were files with these names.
Report lint_texts(std::vector<Text> texts, const Options& options);

}  // namespace capstan::lint
