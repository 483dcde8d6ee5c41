#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace capstan::lint {

/// Returns true if a path matches a pattern of .gitignore: `*` within a name, `**` across folders, `?`, `[a-z]`.
bool glob_matches(std::string_view pattern, std::string_view path);

/// The patterns of one .gitignore, or of `--exclude`.
class IgnoreList {
 public:
  IgnoreList() = default;
  /// @param folder  folder of the list, empty or ending in '/'; the patterns are relative to it
  IgnoreList(std::string folder, std::string_view text);
  void add(std::string_view line);

  enum class Match { none, ignored, included };
  /// @param path  path relative to the start of the search, with '/' between folders
  Match match(std::string_view path, bool is_folder) const;

 private:
  struct Pattern {
    std::string glob;
    bool negates = false;       ///< true if it begins with '!'
    bool only_folders = false;  ///< true if it ends with '/'
    bool anchored = false;      ///< true if it contains '/'; it then matches only from the start of the path
  };
  std::string folder_;
  std::vector<Pattern> patterns_;
};

}  // namespace capstan::lint
