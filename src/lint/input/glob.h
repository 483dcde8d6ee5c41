#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace capstan::lint {

/// Does a path match a pattern as .gitignore has it: `*` within a name, `**` across folders, `?`, `[a-z]`.
bool glob_matches(std::string_view pattern, std::string_view path);

/// The lines of one .gitignore, or of `--exclude`.
class IgnoreList {
 public:
  IgnoreList() = default;
  /// @param folder  where the list lies, "" or with a '/' at the end; its patterns are relative to it
  IgnoreList(std::string folder, std::string_view text);
  void add(std::string_view line);

  enum class Verdict { none, ignored, kept };
  /// @param path  from where the walk began, with '/' between folders
  Verdict verdict(std::string_view path, bool is_folder) const;

 private:
  struct Pattern {
    std::string glob;
    bool keeps = false;         ///< began with '!'
    bool only_folders = false;  ///< ended with '/'
    bool anchored = false;      ///< a '/' in it: matches from the list's folder on
  };
  std::string folder_;
  std::vector<Pattern> patterns_;
};

}  // namespace capstan::lint
