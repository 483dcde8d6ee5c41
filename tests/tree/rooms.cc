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

/// The direct edges. A room may include every room that the edges reach. `cli` is at the top and may include all rooms.
const Edges& edges() {
  static const Edges all = {
      {"base", {}},
      {"model", {"base"}},
      {"engine", {"model"}},
      {"bound", {"engine"}},
      {"decide", {"engine"}},
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
      {"conformance", {"decide"}},
      {"peers", {"decide", "manifest", "promql"}},
      {"schema", {"manifest"}},
      {"settings", {"decide", "manifest"}},
      {"archive", {"control", "settings"}},
      {"actuate", {"kube", "ports"}},
      {"operator", {"actuate", "kube", "control", "settings", "signals"}},
      {"experiment", {"sim", "control", "settings", "peers", "promql", "signals", "manifest", "bound"}},
      {"lint", {"manifest", "promql", "explain"}},
      {"plan", {"experiment", "lint"}},
      {"serve", {"explain", "experiment", "net"}},
      {"cli", {"base", "model",  "engine",   "decide",   "explain", "ports",    "control",     "workload",   "sim",
               "net",  "promql", "manifest", "signals",  "kube",    "emulator", "conformance", "experiment", "lint",
               "plan", "serve",  "schema",   "settings", "archive", "actuate",  "operator",    "peers",      "bound"}},
  };
  return all;
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
