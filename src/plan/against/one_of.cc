#include "plan/against/one_of.h"

#include <algorithm>
#include <array>
#include <span>

namespace capstan::plan {

namespace {

constexpr std::array<std::string_view, 5> kHandlers = {"exec", "httpGet", "tcpSocket", "grpc", "sleep"};
constexpr std::array<std::string_view, 11> kVolumeSources = {
    "hostPath",  "emptyDir",  "persistentVolumeClaim", "configMap", "secret", "nfs", "csi",
    "ephemeral", "projected", "downwardAPI",           "image"};
constexpr std::array<std::string_view, 2> kVariableValues = {"value", "valueFrom"};

bool has_other_key(std::span<const std::string_view> group, const Yaml& planned, const manifest::Node& found) {
  const auto is_only_found = [&](std::string_view key) { return found.find(key) != nullptr && !planned.find(key); };
  const auto is_only_planned = [&](std::string_view key) { return planned.find(key) != nullptr && !found.find(key); };
  return std::ranges::any_of(group, is_only_found) && std::ranges::any_of(group, is_only_planned);
}

}  // namespace

bool has_other_alternative(const Yaml& planned, const manifest::Node& found, std::string_view path) {
  if (path.find(".volumes.") != path.npos && has_other_key(kVolumeSources, planned, found)) return true;
  if (path.find(".env.") != path.npos && has_other_key(kVariableValues, planned, found)) return true;
  const bool has_handler = path.ends_with("Probe") || path.find(".lifecycle.") != path.npos;
  return has_handler && has_other_key(kHandlers, planned, found);
}

}  // namespace capstan::plan
