#include <fmt/format.h>

#include "lint/mig_configs.h"
#include "lint/rule.h"

namespace capstan::lint {
namespace mig_config_shape {
namespace {

bool is_field(std::string_view key) {
  return key == "device-filter" || key == "devices" || key == "mig-enabled" || key == "mig-devices" || key == "<<";
}

void check_entry(const Subject& s, const MigEntry& found) {
  const auto& [config, entry] = found;
  for (const std::string_view key : {"devices", "mig-enabled"}) {
    if (entry[key]) continue;
    s.report_key(config, fmt::format("an entry of {} has no {}", config.key, key));
  }
  for (const Value& field : entry.children()) {
    if (is_field(field.key)) continue;
    s.report_key(field, fmt::format("an entry has no field {}", field.key));
  }
  const Value& devices = entry["devices"];
  if (devices.is_scalar() && !devices.is("all"))
    s.report(devices, fmt::format("devices is {}, expected all or a list of numbers", devices.text));
  const Value& profiles = entry["mig-devices"];
  bool has_instances = profiles.count == 0;
  for (const Value& profile : profiles.children()) {
    const auto count = profile.integer();
    has_instances = has_instances || !count || *count != 0;
    if (!count || *count < 0) s.report(profile, fmt::format("found {}, expected a number of instances", profile.text));
  }
  if (!has_instances) s.report_key(profiles, "all profiles have 0 instances");
  if (entry["mig-enabled"].is("true") && !entry.has("mig-devices"))
    s.report_key(config, fmt::format("an entry of {} has no mig-devices", config.key));
  if (entry["mig-enabled"].is("false") && profiles.count > 0)
    s.report_key(profiles, "the entry has profiles although MIG is not enabled");
}

void check(const Subject& s) {
  for_each_mig_file(s, [&](const Value& root) {
    const Value& version = root["version"];
    if (version.is("v1")) return;
    constexpr std::string_view kMessage = "the configuration must have version v1, which is the only version";
    Finding& finding =
        version ? s.report(version, std::string(kMessage)) : s.report_key(root["mig-configs"], std::string(kMessage));
    if (!version) finding.mark_absence();
  });
  for_each_mig_entry(s, [&](const MigEntry& found) { check_entry(s, found); });
}

}  // namespace
}  // namespace mig_config_shape

extern const Rule rule_mig_config_shape;
const Rule rule_mig_config_shape = {
    .id = "mig-config-shape",
    .severity = Severity::error,
    .kinds = "ConfigMap",
    .title = "the MIG configuration lacks required fields",
    .why = "mig-parted refuses the whole file, and the nodes keep their old geometry.",
    .fix = "add version: v1, and to each entry devices and mig-enabled",
    .source = "NVIDIA mig-parted, api/spec/v1 and pkg/types",
    .bad = R"(apiVersion: v1
kind: ConfigMap
metadata: {name: mig}
data:
  config.yaml: |
    mig-configs:
      all:
        - devices: all
          mig-enabled: true
          mig-devices: {"1g.10gb": 7}
)",
    .good = R"(apiVersion: v1
kind: ConfigMap
metadata: {name: mig}
data:
  config.yaml: |
    version: v1
    mig-configs:
      all:
        - devices: all
          mig-enabled: true
          mig-devices: {"1g.10gb": 7}
)",
    .check = mig_config_shape::check,
};

}  // namespace capstan::lint
