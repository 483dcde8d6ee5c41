#include "tree/rooms.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <set>
#include <sstream>

namespace capstan::tree {
namespace {

using Edges = std::map<std::string_view, std::vector<std::string_view>>;

/// Returns the direct edges. A room may include every room that the edges reach. `cli` is at the top and may include
/// all rooms.
const Edges& edges() {
  static const Edges all = {
      {"base", {}},
      {"model", {"base"}},
      {"engine", {"model"}},
      {"bound", {"engine"}},
      {"fleet", {"model"}},
      {"decide", {"engine", "fleet"}},
      {"explain", {"decide"}},
      {"ports", {"model"}},
      {"control", {"decide", "explain", "ports"}},
      {"workload", {"model"}},
      {"sim", {"ports", "engine", "workload"}},
      {"net", {"base"}},
      {"promql", {"base"}},
      {"manifest", {"base"}},
      {"signals", {"ports", "promql", "net"}},
      {"kube", {"ports", "manifest", "net"}},
      {"emulator", {"sim", "net"}},
      {"conformance", {"peers"}},
      {"peers", {"decide", "manifest", "promql"}},
      {"schema", {"manifest"}},
      {"settings", {"decide", "manifest"}},
      {"archive", {"control", "settings"}},
      {"actuate", {"kube", "ports"}},
      {"operator", {"actuate", "kube", "control", "settings", "signals"}},
      {"scenario", {"sim", "control", "settings", "peers", "manifest"}},
      {"experiment", {"scenario", "promql", "signals", "bound"}},
      {"lint", {"manifest", "promql", "explain"}},
      {"plan", {"experiment", "lint"}},
      {"serve", {"archive", "explain", "experiment", "kube", "net"}},
      {"top", {"serve"}},
      {"cli", {"base",        "model",    "engine",     "fleet",    "decide",   "explain", "ports", "control",
               "workload",    "sim",      "net",        "promql",   "manifest", "signals", "kube",  "emulator",
               "conformance", "scenario", "experiment", "lint",     "plan",     "serve",   "top",   "schema",
               "settings",    "archive",  "actuate",    "operator", "peers",    "bound"}},
  };
  return all;
}

/// Returns the direct edges between the folders of a room. A room that is not named here has no rules for its folders.
/// A folder that its room does not name here may include only itself.
/// Files that lie directly in a room count as the folder ".".
const std::map<std::string_view, Edges>& folder_edges() {
  static const std::map<std::string_view, Edges> all = {
      // HPA's arithmetic stays in decide/scale: the policy Queue of an InferenceScaler decides by it. The emulated HPA
      // of `peers` uses the same functions, so both are tested against Kubernetes' own cases.
      {"decide",
       {{".", {}},
        {"place", {"."}},
        {"provision", {".", "place"}},
        {"scale", {".", "place", "provision"}},
        {"testing", {"scale"}}}},
      {"sim", {{"serving", {}}, {"fleet", {"serving"}}, {"cluster", {}}}},
      {"experiment",
       {{"text", {}}, {"run", {"text"}}, {"foresight", {"run"}}, {".", {"foresight"}}, {"report", {"."}}}},
      {"lint",
       {{".", {"input"}}, {"input", {"."}}, {"rules", {"."}}, {"render", {"."}}, {"lsp", {"."}}, {"testing", {"."}}}},
      {"peers", {{"formula", {}}, {".", {"formula"}}}},
      {"plan",
       {{"spec", {}},
        {"fleet", {"spec"}},
        {"objects", {"fleet"}},
        {"measure", {"objects"}},
        {"result", {"objects"}},
        {"cost", {"result"}},
        {"pods", {"result"}},
        {"pools", {"pods"}},
        {"queues", {"pools"}},
        {"feasibility", {"pools"}},
        {"read", {"feasibility"}},
        {"scalers", {"feasibility"}},
        {"search", {"measure", "queues", "scalers"}},
        {"monitoring", {"search"}},
        {"sections", {"cost", "monitoring"}},
        {"render", {"sections"}},
        {"against", {"render"}},
        {"report", {"render"}},
        {".", {"sections"}},
        {"testing", {"measure", "read"}}}},
      {"operator",
       {{"facts", {"loop"}},
        {"view", {}},
        {"snapshot", {"view"}},
        {"memory", {"snapshot"}},
        {"act", {"memory"}},
        {"status", {"act"}},
        {"loop", {"status"}}}},
  };
  return all;
}

bool reaches(const Edges& edges, std::string_view from, std::string_view to, std::set<std::string_view>& seen) {
  if (from == to) return true;
  const auto found = edges.find(from);
  if (found == edges.end() || !seen.insert(from).second) return false;
  return std::ranges::any_of(found->second, [&](std::string_view next) { return reaches(edges, next, to, seen); });
}

/// Returns the folder of a file in its room, from its path below src/: "place" for decide/place/fit.h.
std::string_view folder_of(std::string_view path) {
  const std::size_t room_end = path.find('/');
  const std::size_t folder_end = path.find('/', room_end + 1);
  return folder_end == path.npos ? "." : path.substr(room_end + 1, folder_end - room_end - 1);
}

/// Returns whether a file of a room may include another file of the same room. Both paths start below src/.
bool may_include_in_room(std::string_view from, std::string_view to) {
  const auto room = folder_edges().find(from.substr(0, from.find('/')));
  if (room == folder_edges().end()) return true;
  const Edges& edges = room->second;
  std::set<std::string_view> seen;
  return reaches(edges, folder_of(from), folder_of(to), seen);
}

std::string edge_message(std::string_view from, std::string_view to) {
  return "room " + std::string(from) + " may not see room " + std::string(to) + ", see docs/architecture.md";
}

}  // namespace

std::string Finding::text() const {
  return path + (line > 0 ? ":" + std::to_string(line) : std::string()) + ": " + message;
}

bool is_room(std::string_view name) { return edges().contains(name); }

bool may_include(std::string_view from, std::string_view to) {
  if (from == to) return true;
  const auto found = edges().find(from);
  if (found == edges().end()) return false;
  return std::ranges::any_of(found->second, [&](std::string_view next) { return may_include(next, to); });
}

std::vector<Finding> check_includes(const Source& source) {
  std::vector<Finding> findings;
  const std::string_view from = source.room();
  if (!source.is_cpp() || from.empty()) return findings;
  for (std::size_t i = 0; i < source.code.size(); ++i) {
    const std::string_view line = source.code[i];
    if (!line.starts_with("#include")) continue;
    const std::size_t open = line.find_first_of("<\"");
    const std::size_t close = line.find_last_of(">\"");
    if (open == line.npos || close <= open) continue;
    const std::string_view header = line.substr(open + 1, close - open - 1);
    const std::string_view to = header.substr(0, header.find('/'));
    const bool is_project_include = line[open] == '"';
    if (is_project_include && (to == header || !is_room(to))) {
      findings.push_back({source.path, i + 1, "paths of our headers start at src/: \"room/file.h\""});
    } else if (!is_project_include && is_room(to) && to != header) {
      findings.push_back({source.path, i + 1, "our own header in angle brackets, expected quotes"});
    } else if (is_project_include && !may_include(from, to)) {
      findings.push_back({source.path, i + 1, edge_message(from, to)});
    } else if (is_project_include && from == to && !source.is_test() &&
               !may_include_in_room(std::string_view(source.path).substr(4), header)) {
      findings.push_back({source.path, i + 1,
                          "folder " + std::string(folder_of(std::string_view(source.path).substr(4))) + " of " +
                              std::string(from) + " may not see " + std::string(header)});
    }
  }
  return findings;
}

std::vector<Finding> check_declared_edges(const Source& cmake) {
  std::vector<Finding> findings;
  std::string pending;
  for (std::size_t i = 0; i < cmake.lines.size(); ++i) {
    pending += cmake.lines[i].substr(0, cmake.lines[i].find('#')) + " ";
    const std::size_t start = pending.find("capstan_room(");
    const std::size_t end = pending.find(')', start == pending.npos ? 0 : start);
    if (start == pending.npos) pending.clear();
    if (start == pending.npos || end == pending.npos) continue;
    std::istringstream words(pending.substr(start + 13, end - start - 13));
    std::string room, word, section;
    words >> room;
    if (!is_room(room)) findings.push_back({cmake.path, i + 1, "room " + room + " is not in the graph of rooms"});
    while (words >> word) {
      if (word == "DEPENDS" || word == "LIBRARIES")
        section = word;
      else if (section == "DEPENDS" && !may_include(room, word))
        findings.push_back({cmake.path, i + 1, edge_message(room, word)});
    }
    pending.clear();
  }
  return findings;
}

}  // namespace capstan::tree
