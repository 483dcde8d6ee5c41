#include "lint/input/kustomize.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
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
constexpr std::size_t kMaxBytes = 1u << 20;
constexpr std::size_t kMaxFollowed = 100'000;

bool is_kustomization(const fs::path& path) {
  return std::ranges::find(kNames, path.filename().string()) != kNames.end();
}

bool is_remote(std::string_view name) {
  return name.find("://") != name.npos || name.find("?ref=") != name.npos || name.starts_with("git@") ||
         name.starts_with("github.com/");
}

constexpr std::string_view kAnyKind = "*";

/// The names in one kustomization, as written.
struct Contents {
  std::vector<std::string> parts;       ///< files and folders that it includes
  std::vector<std::string> patches;     ///< files that it merges into the included objects
  std::set<std::string> patched_kinds;  ///< kinds of the objects that it changes; `*` if it may change any
};

void add_name(const manifest::Value& item, std::vector<std::string>& out) {
  if (item.is_scalar() && !item.is_block_scalar() && !is_remote(item.text)) out.emplace_back(item.text);
}

/// Adds the kinds of the objects in a text. A document without a kind, such as a list of changes, adds `*`.
void add_kinds(std::string_view text, std::set<std::string>& out) {
  const manifest::Documents documents = manifest::Documents::parse(text);
  for (const manifest::Document& document : documents.all()) {
    const manifest::Value& kind = document.root["kind"];
    out.emplace(kind.is_scalar() ? kind.text : kAnyKind);
  }
}

void add_patch(const manifest::Value& item, const fs::path& folder, Contents& out) {
  const manifest::Value& file = item.is_mapping() ? item["path"] : item;
  const std::size_t before = out.patches.size();
  add_name(file, out.patches);
  const manifest::Value& kind = item["target"]["kind"];
  const manifest::Value& inline_patch = item.is_mapping() ? item["patch"] : item;
  if (kind.is_scalar()) {
    out.patched_kinds.emplace(kind.text);
  } else if (out.patches.size() > before) {
    const auto text = read_file((folder / out.patches.back()).lexically_normal().string(), kMaxBytes);
    if (text) add_kinds(*text, out.patched_kinds);
  } else if (inline_patch.is_block_scalar()) {
    add_kinds(inline_patch.text, out.patched_kinds);
  } else {
    out.patched_kinds.emplace(kAnyKind);
  }
}

Contents names_of(const fs::path& path) {
  Contents names;
  const auto text = read_file(path.string(), kMaxBytes);
  if (!text) return names;
  const manifest::Documents documents = manifest::Documents::parse(*text);
  for (const manifest::Document& document : documents.all()) {
    for (const std::string_view key : {"resources", "bases", "components"}) {
      for (const manifest::Value& item : document.root[key].children()) add_name(item, names.parts);
    }
    for (const std::string_view key : {"patches", "patchesStrategicMerge", "patchesJson6902"}) {
      for (const manifest::Value& item : document.root[key].children()) add_patch(item, path.parent_path(), names);
    }
  }
  return names;
}

/// Returns the file that a name refers to: the file itself, or the kustomization of the folder. Returns an empty path
/// if there is none.
fs::path file_of(const fs::path& path) {
  std::error_code error;
  if (fs::is_regular_file(path, error)) return path;
  for (const std::string_view name : kNames) {
    if (fs::is_regular_file(path / name, error)) return path / name;
  }
  return {};
}

/// Finds the chart of a folder: the nearest folder with a Chart.yaml, at or above the folder. Empty if there is none.
class Charts {
 public:
  const std::string& find(const fs::path& folder) {
    const auto [known, is_new] = by_folder_.try_emplace(folder.string());
    if (!is_new) return known->second;
    std::error_code error;
    std::string chart;
    if (fs::is_regular_file(folder / "Chart.yaml", error)) {
      chart = folder.empty() ? "." : folder.string();
    } else if (!folder.empty() && folder != folder.root_path()) {
      chart = find(folder.parent_path());
    }
    return by_folder_[folder.string()] = chart;
  }

 private:
  std::map<std::string, std::string> by_folder_;
};

std::string identity(const fs::path& path) {
  std::error_code error;
  const fs::path real = fs::canonical(path, error);
  return error ? path.string() : real.string();
}

/// The files that a kustomization names, as indices into the found files, and the kinds that it changes.
struct NamedFiles {
  std::vector<std::size_t> parts;
  std::set<std::string> patched_kinds;
};
/// All kustomizations, by their index in the found files.
using Graph = std::map<std::size_t, NamedFiles>;

/// Returns everything that a kustomization deploys, including what its nested kustomizations deploy.
std::set<std::size_t> deployed_by(const Graph& graph, std::size_t kustomization) {
  std::set<std::size_t> seen = {kustomization};
  std::vector<std::size_t> open = {kustomization};
  while (!open.empty()) {
    const auto node = graph.find(open.back());
    open.pop_back();
    if (node == graph.end()) continue;
    for (const std::size_t part : node->second.parts) {
      if (seen.insert(part).second) open.push_back(part);
    }
  }
  return seen;
}

void note_charts(std::uint32_t unit, FoundFiles& found) {
  Charts charts;
  std::map<std::string, std::uint32_t> unit_of_chart;
  for (Candidate& file : found.files) {
    const std::string& chart = charts.find(fs::path(file.path).parent_path());
    if (chart.empty()) continue;
    const auto [known, is_new] = unit_of_chart.try_emplace(chart, unit);
    if (is_new) ++unit;
    file.deployers.push_back(known->second);
  }
}

/// Adds the files that kustomizations name. Added kustomizations are followed too. No file is added twice, so cycles
/// end.
Graph follow(FoundFiles& found) {
  Graph graph;
  std::map<std::string, std::size_t> known;
  std::set<std::string> patches;
  for (std::size_t i = 0; i < found.files.size(); ++i) known.emplace(identity(found.files[i].path), i);
  for (std::size_t i = 0; i < found.files.size() && i < kMaxFollowed; ++i) {
    const fs::path path = found.files[i].path;
    if (!is_kustomization(path)) continue;
    const fs::path folder = path.parent_path();
    const std::string scope = found.files[i].scope.empty() ? folder.string() : found.files[i].scope;
    const Contents names = names_of(path);
    graph[i].patched_kinds = names.patched_kinds;
    for (const std::string& name : names.parts) {
      const fs::path file = file_of((folder / name).lexically_normal());
      if (file.empty()) continue;
      const auto [place, is_new] = known.emplace(identity(file), found.files.size());
      if (is_new) found.files.push_back({file.string(), true, scope});
      graph[i].parts.push_back(place->second);
    }
    for (const std::string& name : names.patches) patches.insert(identity((folder / name).lexically_normal()));
  }
  if (patches.empty()) return graph;
  for (Candidate& file : found.files) file.patch = patches.contains(identity(file.path));
  return graph;
}

}  // namespace

void follow_kustomizations(FoundFiles& found) {
  std::uint32_t unit = 0;
  if (std::ranges::any_of(found.files, [](const Candidate& file) { return is_kustomization(file.path); })) {
    const Graph graph = follow(found);
    for (const auto& [kustomization, node] : graph) {
      for (const std::size_t place : deployed_by(graph, kustomization)) {
        Candidate& file = found.files[place];
        file.deployers.push_back(unit);
        file.patched_kinds.insert(node.patched_kinds.begin(), node.patched_kinds.end());
      }
      ++unit;
    }
  }
  note_charts(unit, found);
}

}  // namespace capstan::lint
