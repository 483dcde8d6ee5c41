#include "lint/input/kustomize.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <system_error>

#include "base/file.h"
#include "manifest/document.h"

namespace capstan::lint {
namespace {

namespace fs = std::filesystem;

constexpr std::array<std::string_view, 3> kNames = {"kustomization.yaml", "kustomization.yml", "Kustomization"};
constexpr std::size_t kMostBytes = 1u << 20;
constexpr std::size_t kMostFollowed = 100'000;

bool is_kustomization(const fs::path& path) {
  return std::ranges::find(kNames, path.filename().string()) != kNames.end();
}

bool is_remote(std::string_view name) {
  return name.find("://") != name.npos || name.find("?ref=") != name.npos || name.starts_with("git@") ||
         name.starts_with("github.com/");
}

/// What one kustomization names, as it is written.
struct Contents {
  std::vector<std::string> parts;    ///< files and folders that belong to it
  std::vector<std::string> patches;  ///< files that it merges into those
};

void add_name(const manifest::Value& item, std::vector<std::string>& out) {
  if (item.is_scalar() && !item.is_block_scalar() && !is_remote(item.text)) out.emplace_back(item.text);
}

Contents names_of(const std::string& path) {
  Contents names;
  const auto text = read_file(path, kMostBytes);
  if (!text) return names;
  const manifest::Documents documents = manifest::Documents::parse(*text);
  for (const manifest::Document& document : documents.all()) {
    for (const std::string_view key : {"resources", "bases", "components"}) {
      for (const manifest::Value& item : document.root[key].children()) add_name(item, names.parts);
    }
    for (const std::string_view key : {"patches", "patchesStrategicMerge", "patchesJson6902"}) {
      for (const manifest::Value& item : document.root[key].children()) {
        add_name(item.is_mapping() ? item["path"] : item, names.patches);
      }
    }
  }
  return names;
}

/// The file that a name means: itself, or the kustomization of the folder. Empty where there is none.
fs::path file_of(const fs::path& path) {
  std::error_code error;
  if (fs::is_regular_file(path, error)) return path;
  for (const std::string_view name : kNames) {
    if (fs::is_regular_file(path / name, error)) return path / name;
  }
  return {};
}

std::string identity(const fs::path& path) {
  std::error_code error;
  const fs::path real = fs::canonical(path, error);
  return error ? path.string() : real.string();
}

}  // namespace

void follow_kustomizations(FoundFiles& found) {
  std::set<std::string> known, patches;
  const auto any = [](const Candidate& file) { return is_kustomization(file.path); };
  if (std::ranges::none_of(found.files, any)) return;
  for (const Candidate& file : found.files) known.insert(identity(file.path));
  // What is added is looked at in its turn; nothing is added twice, so that circles end.
  for (std::size_t i = 0; i < found.files.size() && i < kMostFollowed; ++i) {
    const fs::path path = found.files[i].path;
    if (!is_kustomization(path)) continue;
    const fs::path folder = path.parent_path();
    const std::string scope = found.files[i].scope.empty() ? folder.string() : found.files[i].scope;
    const Contents names = names_of(path.string());
    for (const std::string& name : names.parts) {
      const fs::path file = file_of((folder / name).lexically_normal());
      if (!file.empty() && known.insert(identity(file)).second) found.files.push_back({file.string(), true, scope});
    }
    for (const std::string& name : names.patches) patches.insert(identity((folder / name).lexically_normal()));
  }
  if (patches.empty()) return;
  for (Candidate& file : found.files) file.patch = patches.contains(identity(file.path));
}

}  // namespace capstan::lint
