#include "lint/input/find_files.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <system_error>

#include "base/file.h"
#include "lint/input/glob.h"

namespace capstan::lint {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 5> kEndings = {".yaml", ".yml", ".json", ".md", ".markdown"};
constexpr std::size_t kMaxIgnoreBytes = 1u << 20;
constexpr int kMaxDepth = 256;

class Walk {
 public:
  Walk(const std::vector<std::string>& exclude, FoundFiles& out) : out_(out) {
    for (const std::string& pattern : exclude) exclude_.add(pattern);
  }

  void start(const std::string& root) {
    root_ = root;
    if (root_.size() > 1 && root_.back() == '/') root_.pop_back();
    lists_.clear();
    folder("", 0);
  }

 private:
  void folder(const std::string& inside, int depth) {
    const std::string path = inside.empty() ? root_ : join(root_, inside.substr(0, inside.size() - 1));
    std::error_code error;
    std::vector<fs::directory_entry> entries;
    for (fs::directory_iterator it(path, error), end; !error && it != end; it.increment(error)) entries.push_back(*it);
    if (error) {
      out_.unreadable.push_back({ErrorKind::input, path, 0, 0, "cannot be read: " + error.message()});
      return;
    }
    std::ranges::sort(entries, {}, [](const fs::directory_entry& entry) { return entry.path().native(); });
    const std::size_t lists_before = lists_.size();
    if (const std::string list = join(path, ".gitignore"); fs::is_regular_file(list, error)) {
      if (const auto text = read_file(list, kMaxIgnoreBytes)) lists_.emplace_back(inside, *text);
    }
    std::vector<std::string> folders;
    for (const fs::directory_entry& entry : entries) {
      const std::string name = entry.path().filename().string();
      std::error_code unknown;
      const bool is_folder = entry.is_directory(unknown) && !entry.is_symlink(unknown);
      if (ignored(inside + name, name, is_folder)) continue;
      if (is_folder) {
        folders.push_back(inside + name + "/");
      } else if (has_known_ending(name) && entry.is_regular_file(unknown)) {
        out_.files.push_back({join(path, name), false, {}});
      }
    }
    for (const std::string& next : folders) {
      if (depth < kMaxDepth) folder(next, depth + 1);
    }
    lists_.resize(lists_before);
  }

  bool ignored(const std::string& path, const std::string& name, bool is_folder) const {
    if (is_folder && (name.starts_with(".") || name == "node_modules")) return true;
    if (exclude_.match(path, is_folder) == IgnoreList::Match::ignored) return true;
    if (exclude_.match(join(root_, path), is_folder) == IgnoreList::Match::ignored) return true;
    // The nearest ignore list with a pattern for this path decides.
    for (auto list = lists_.rbegin(); list != lists_.rend(); ++list) {
      const IgnoreList::Match match = list->match(path, is_folder);
      if (match != IgnoreList::Match::none) return match == IgnoreList::Match::ignored;
    }
    return false;
  }

  static bool has_known_ending(const std::string& name) {
    return std::ranges::any_of(kEndings, [&](std::string_view ending) { return name.ends_with(ending); });
  }

  static std::string join(const std::string& folder, const std::string& name) {
    return folder == "." ? name : folder.ends_with('/') ? folder + name : folder + "/" + name;
  }

  FoundFiles& out_;
  std::string root_;
  IgnoreList exclude_;
  std::vector<IgnoreList> lists_;
};

/// Returns true for a regular file or for a pipe that the shell has opened (`<(kustomize build)`). To open another pipe
/// by its name would block until a process writes to it.
bool can_be_read(const std::string& path) {
  std::error_code error;
  return path == "-" || path == "/dev/stdin" || path.starts_with("/dev/fd/") || path.starts_with("/proc/self/fd/") ||
         fs::is_regular_file(path, error);
}

}  // namespace

FoundFiles find_files(const std::vector<std::string>& paths, const std::vector<std::string>& exclude) {
  FoundFiles found;
  Walk walk(exclude, found);
  for (const std::string& path : paths) {
    std::error_code error;
    if (path != "-" && fs::is_directory(path, error)) {
      walk.start(path);
    } else if (path == "-" || fs::exists(path, error)) {
      if (can_be_read(path)) {
        found.files.push_back({path, true, {}});
      } else {
        found.unreadable.push_back({ErrorKind::input, path, 0, 0, "is not a regular file"});
      }
    } else {
      found.unreadable.push_back({ErrorKind::input, path, 0, 0, "cannot be opened, expected a file or a folder"});
    }
  }
  return found;
}

}  // namespace capstan::lint
