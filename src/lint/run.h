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

/// How a run was asked for.
struct Options {
  Settings settings;
  std::map<std::string, Severity, std::less<>> severities;  ///< of rules that are to have another
  bool advice = false;                                      ///< rules of severity info are on
  std::size_t threads = 0;                                  ///< 0: one a core
};

/// What a run looked at, and what it left alone.
struct Summary {
  std::size_t files = 0;
  std::size_t documents = 0;
  std::size_t objects = 0;
  std::size_t templates = 0;                          ///< files that are templates of Helm or Jinja
  std::size_t patches = 0;                            ///< parts of objects, to be merged into others
  std::map<std::string, std::size_t> kinds_not_read;  ///< kinds that no rule looks at, with the number of their objects
  std::size_t suppressed = 0;                         ///< findings that somebody has accepted, with a reason
  std::size_t known = 0;                              ///< findings that the baseline holds
};

struct Report {
  std::vector<Finding> findings;  ///< by file, line, column and rule
  std::vector<Error> unreadable;
  Summary summary;
  // What the findings point at.
  std::vector<std::unique_ptr<File>> files;
  std::vector<Object> objects;
};

/// A text that is linted under a name.
struct Text {
  std::string path;
  std::string text;
  bool named = true;                      ///< asked for by its name: a broken `.json` is an error then
  std::string scope = {};                 ///< as of a Candidate
  bool patch = false;                     ///< as of a Candidate
  std::vector<std::uint32_t> units = {};  ///< as of a Candidate
  std::set<std::string> patched = {};     ///< as of a Candidate
};

/// Reads and lints files.
Report lint_files(const std::vector<Candidate>& files, const Options& options);

/// Lints texts as if they were files of these names.
Report lint_texts(std::vector<Text> texts, const Options& options);

}  // namespace capstan::lint
