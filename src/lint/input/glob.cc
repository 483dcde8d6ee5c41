#include "lint/input/glob.h"

#include <utility>

namespace capstan::lint {
namespace {

/// Matches one character against `[a-z]`. `set` is the text between the brackets.
bool in_set(std::string_view set, char c) {
  const bool negated = !set.empty() && (set[0] == '!' || set[0] == '^');
  if (negated) set.remove_prefix(1);
  bool found = false;
  for (std::size_t i = 0; i < set.size(); ++i) {
    if (i + 2 < set.size() && set[i + 1] == '-') {
      found = found || (set[i] <= c && c <= set[i + 2]);
      i += 2;
    } else {
      found = found || set[i] == c;
    }
  }
  return found != negated;
}

/// Splits a path at '/'. Matching by parts needs no recursion over the path's length.
std::vector<std::string_view> parts_of(std::string_view path) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t slash = path.find('/');
    parts.push_back(path.substr(0, slash));
    if (slash == path.npos) return parts;
    path.remove_prefix(slash + 1);
  }
}

/// Matches one name against one part of a pattern. On a mismatch, it suffices to go back to the last star, because that
/// star matches any text that an earlier one could match.
bool name_matches(std::string_view pattern, std::string_view name) {
  std::size_t p = 0, n = 0, star = pattern.npos, star_n = 0;
  while (n < name.size()) {
    const std::size_t close = p < pattern.size() && pattern[p] == '[' ? pattern.find(']', p + 2) : pattern.npos;
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      star_n = n;
    } else if (close != pattern.npos && in_set(pattern.substr(p + 1, close - p - 1), name[n])) {
      p = close + 1;
      ++n;
    } else if (p < pattern.size() && close == pattern.npos && (pattern[p] == '?' || pattern[p] == name[n])) {
      ++p;
      ++n;
    } else if (star != pattern.npos) {
      p = star + 1;
      n = ++star_n;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

}  // namespace

bool glob_matches(std::string_view pattern, std::string_view path) {
  const std::vector<std::string_view> globs = parts_of(pattern);
  const std::vector<std::string_view> names = parts_of(path);
  std::size_t g = 0, n = 0, star = globs.size(), star_n = 0;
  while (n < names.size()) {
    if (g < globs.size() && globs[g] == "**") {
      star = g++;
      star_n = n;
    } else if (g < globs.size() && name_matches(globs[g], names[n])) {
      ++g;
      ++n;
    } else if (star != globs.size()) {
      g = star + 1;
      n = ++star_n;
    } else {
      return false;
    }
  }
  while (g < globs.size() && globs[g] == "**") ++g;
  return g == globs.size();
}

IgnoreList::IgnoreList(std::string folder, std::string_view text) : folder_(std::move(folder)) {
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    add(line);
  }
}

void IgnoreList::add(std::string_view line) {
  while (!line.empty() && (line.back() == ' ' || line.back() == '\r' || line.back() == '\t')) line.remove_suffix(1);
  if (line.empty() || line[0] == '#') return;
  Pattern pattern;
  if (line[0] == '!') {
    pattern.negates = true;
    line.remove_prefix(1);
  }
  if (!line.empty() && line.back() == '/') {
    pattern.only_folders = true;
    line.remove_suffix(1);
  }
  pattern.anchored = line.find('/') != line.npos;
  if (!line.empty() && line[0] == '/') line.remove_prefix(1);
  if (line.starts_with("./")) line.remove_prefix(2);
  pattern.glob = line;
  if (!pattern.glob.empty()) patterns_.push_back(std::move(pattern));
}

IgnoreList::Match IgnoreList::match(std::string_view path, bool is_folder) const {
  if (!path.starts_with(folder_)) return Match::none;
  path.remove_prefix(folder_.size());
  const std::string_view name = path.substr(path.rfind('/') + 1);
  Match match = Match::none;
  for (const Pattern& pattern : patterns_) {
    if (pattern.only_folders && !is_folder) continue;
    if (glob_matches(pattern.glob, pattern.anchored ? path : name)) {
      match = pattern.negates ? Match::included : Match::ignored;
    }
  }
  return match;
}

}  // namespace capstan::lint
