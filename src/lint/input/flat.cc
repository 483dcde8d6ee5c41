#include "lint/input/flat.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string>

#include "lint/contains.h"
#include "lint/facts.h"
#include "lint/rules.h"

namespace capstan::lint {
namespace {

/// A line `key: value` without indentation. Before the key there may be a line number, copied from a web page, and then
/// the dash of a list.
struct FlatLine {
  std::uint32_t begin = 0;  ///< offset of the key
  std::string_view key;     ///< empty if the line has another form
  std::string_view value;
  std::uint32_t value_begin = 0;
};

bool is_key(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '/' ||
           c == '-' || c == '_';
  });
}

/// Returns the length of the line number that a web page put before a line: up to four digits, and the blank after
/// them.
std::size_t skip_number(std::string_view line) {
  std::size_t at = 0;
  while (at < line.size() && line[at] >= '0' && line[at] <= '9') ++at;
  return at > 0 && at < 5 && at < line.size() && line[at] == ' ' ? at + 1 : at < 5 ? at : 0;
}

FlatLine flat_line(std::string_view text, std::uint32_t begin, std::string_view line) {
  std::size_t at = skip_number(line);
  if (line.substr(at).starts_with("- ")) at += 2;
  const std::size_t colon = line.find(':', at);
  FlatLine out{.begin = begin + static_cast<std::uint32_t>(at), .key = {}, .value = {}, .value_begin = 0};
  if (colon == line.npos || !is_key(line.substr(at, colon - at))) return out;
  if (colon + 1 < line.size() && line[colon + 1] != ' ' && line[colon + 1] != '\r') return out;
  out.key = line.substr(at, colon - at);
  const std::size_t value = line.find_first_not_of(' ', colon + 1);
  std::size_t end = line.find(" #", colon);
  if (end == line.npos) end = line.size();
  while (end > colon && (line[end - 1] == ' ' || line[end - 1] == '\r')) --end;
  if (value != line.npos && value < end) {
    out.value = text.substr(begin + value, end - value);
    out.value_begin = begin + static_cast<std::uint32_t>(value);
  }
  return out;
}

std::vector<FlatLine> flat_lines(std::string_view text) {
  std::vector<FlatLine> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back(flat_line(text, static_cast<std::uint32_t>(begin), text.substr(begin, end - begin)));
    begin = end + 1;
  }
  return lines;
}

/// Finds four consecutive unindented lines with the keys `apiVersion`, `kind`, `metadata` (without a value) and `name`,
/// and returns the first of them. Stores only the last three lines, so that a text without such lines costs little.
std::optional<FlatLine> first_flat(std::string_view text) {
  std::array<FlatLine, 3> before{};
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    FlatLine line{};
    if (text[begin] != ' ' && text[begin] != '#') {
      line = flat_line(text, static_cast<std::uint32_t>(begin), text.substr(begin, end - begin));
    }
    const bool inside = line.key == "name" && before[2].key == "metadata" && before[2].value.empty();
    if (inside && before[1].key == "kind" && before[0].key == "apiVersion" && !before[0].value.empty()) {
      return before[0];
    }
    before = {before[1], before[2], line};
    begin = end + 1;
  }
  return std::nullopt;
}

/// A rule that checks the value of one key, whatever object the key is in.
struct TokenRow {
  std::string_view rule;
  std::string_view key;
  bool (*is_wrong)(std::string_view value);
};

bool contains_word(std::string_view value, std::string_view word) { return value.find(word) != value.npos; }
bool is_duty_cycle(std::string_view v) { return v == "DCGM_FI_DEV_GPU_UTIL" || v == "DCGM_FI_PROF_GR_ENGINE_ACTIVE"; }
bool is_gpu_memory(std::string_view v) { return v.starts_with("DCGM_FI_DEV_FB_"); }
bool is_underutilized(std::string_view v) { return v == "WhenEmptyOrUnderutilized"; }
bool is_any(std::string_view) { return true; }
bool is_al2(std::string_view v) { return v == "AL2"; }
bool is_frozen_image(std::string_view v) { return contains_word(v, "k8s.gcr.io/"); }
bool is_floating(std::string_view v) { return v.ends_with(":latest"); }
bool is_old_provisioner(std::string_view v) { return v == "karpenter.sh/v1alpha5" || v == "karpenter.sh/v1beta1"; }
bool is_old_hpa(std::string_view v) { return v.starts_with("autoscaling/v2beta"); }
bool is_zero(std::string_view v) { return v == "0"; }
bool is_visible_devices(std::string_view v) { return v == "NVIDIA_VISIBLE_DEVICES"; }
bool is_ca_config(std::string_view v) { return v == "cluster-autoscaler-config"; }

constexpr std::array<TokenRow, 13> kTokens = {{
    {"gpu-util-scaling-signal", "name", is_duty_cycle},
    {"gpu-memory-scaling-signal", "name", is_gpu_memory},
    {"gpu-consolidation-underutilized", "consolidationPolicy", is_underutilized},
    {"keda-metricname-removed", "metricName", is_any},
    {"ami-al2-eol", "amiFamily", is_al2},
    {"image-registry-frozen", "image", is_frozen_image},
    {"image-floating-tag", "image", is_floating},
    {"karpenter-api-removed", "apiVersion", is_old_provisioner},
    {"hpa-api-removed", "apiVersion", is_old_hpa},
    {"scale-to-zero-no-warm-pool", "minReplicaCount", is_zero},
    {"visible-devices-override", "name", is_visible_devices},
    {"ca-configmap-unknown", "name", is_ca_config},
    {"karpenter-minnodes", "minNodes", is_any},
}};

/// Finds the names of metrics that vLLM has removed, anywhere in the text.
void search_metrics(const File& file, Reading& out) {
  const std::string_view text = file.text;
  for (std::size_t at = text.find("vllm:"); at != text.npos; at = text.find("vllm:", at + 5)) {
    std::size_t end = at + 5;
    while (end < text.size() && (std::isalnum(static_cast<unsigned char>(text[end])) || text[end] == '_')) ++end;
    const RemovedMetric* removed = removed_metric(text.substr(at, end - at));
    if (removed == nullptr) continue;
    add_finding(out, "metric-removed", {static_cast<std::uint32_t>(at), static_cast<std::uint32_t>(end)},
                std::string(removed->metric) + " was removed in " + std::string(removed->since));
  }
}

}  // namespace

bool find_flat(const File& file, Reading& out) {
  if (!contains(file.text, "apiVersion")) return false;
  const std::optional<FlatLine> first = first_flat(file.text);
  if (!first) return false;
  const auto begin = first->begin;
  add_finding(
      out, "yaml-structure-lost", {begin, begin + static_cast<std::uint32_t>(first->key.size())},
      "the name is beside metadata instead of below it: the text lost its indentation, so only single lines were "
      "searched");
  for (const FlatLine& line : flat_lines(file.text)) {
    for (const TokenRow& token : kTokens) {
      if (line.key != token.key || line.value.empty() || !token.is_wrong(line.value)) continue;
      add_finding(out, token.rule, {line.value_begin, line.value_begin + static_cast<std::uint32_t>(line.value.size())},
                  std::string(find_rule(token.rule) != nullptr ? find_rule(token.rule)->title : "") +
                      " (found by text search)");
    }
  }
  search_metrics(file, out);
  return true;
}

}  // namespace capstan::lint
