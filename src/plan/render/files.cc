#include "plan/render/files.h"

#include <fmt/format.h>

#include <algorithm>

#include "plan/measure/use_measured_load.h"
#include "plan/render/apply_script.h"
#include "plan/render/render.h"
#include "plan/result/figures.h"
#include "plan/sections/kill_switch.h"

namespace capstan::plan {

namespace {

/// A simulated scenario of a service.
struct ScenarioFile {
  std::string path{};
  std::string content{};  ///< description of the file as a noun phrase: "the simulation of chat with Capstan"
  std::string text{};
};

std::vector<ScenarioFile> scenarios_of(const ServicePlan& service) {
  const auto with = [&](ScalerKind kind) {
    return fmt::format("the simulation of {} with {}{}", service.service, kind == ScalerKind::constant ? "a " : "",
                       scaler_word(kind));
  };
  const auto worse = [&](const Trial& trial) {
    return ScenarioFile{worse_scenario_file(service, trial),
                        fmt::format("{}: {}, worst with --seed {}", service.service, trial.name, trial.seed),
                        trial.scenario};
  };
  std::vector<ScenarioFile> out{{scenario_file(service, service.scaler), with(service.scaler), service.scenario}};
  for (const ScalerVariant& variant : service.variants) {
    if (variant.kind == service.scaler || variant.scenario.empty()) continue;
    out.push_back({scenario_file(service, variant.kind), with(variant.kind), variant.scenario});
  }
  if (!service.comparison.empty()) {
    out.push_back({comparison_file(service),
                   fmt::format("the autoscaler files of {} as policies of one scenario", service.service),
                   service.comparison});
  }
  for (const Trial& trial : service.robustness) {
    if (!trial.scenario.empty()) out.push_back(worse(trial));
  }
  if (service.zone_loss) out.push_back(worse(service.zone_loss->trial));
  return out;
}

/// Returns the text of a scenario. The path of a measured load is relative to the folder of the scenario.
std::string with_path_of_load(const ScenarioFile& scenario, const ServicePlan& service) {
  std::string text = scenario.text;
  const std::string profile = "profile: " + measured_load_file(service.service);
  const std::size_t at = text.find(profile);
  const bool is_below = scenario.path.find('/') != scenario.path.npos;
  if (!service.measured_profile_text.empty() && is_below && at != text.npos)
    text.insert(at + profile.find(' ') + 1, "../");
  return text;
}

std::string content_of(const Manifest& manifest) {
  const Yaml* kind = manifest.body.find("kind");
  return kind == nullptr ? "Helm values" : kind->text();
}

}  // namespace

std::vector<PlanFile> list_plan_files(const Plan& plan) {
  std::vector<PlanFile> out;
  for (const Section& section : plan.sections) {
    for (const Manifest& manifest : section.manifests) {
      const auto known = std::ranges::find(out, manifest.file, &PlanFile::path);
      PlanFile& file = known == out.end() ? out.emplace_back(PlanFile{manifest.file, {}}) : *known;
      const std::string content = content_of(manifest);
      if (std::ranges::find(file.kinds, content) == file.kinds.end()) file.kinds.push_back(content);
    }
  }
  for (const ServicePlan& service : plan.services) {
    for (const ScenarioFile& scenario : scenarios_of(service)) out.push_back({scenario.path, {scenario.content}});
  }
  if (plan.together)
    out.push_back({std::string(kTogetherFile),
                   {fmt::format("the simulation of {} on one cluster", together_subject(plan.together->trials))}});
  out.push_back({std::string(kKillSwitchFile), {"the kill switch, for a breach of the SLO"}});
  out.push_back({"apply.sh", {"the commands in the order in which they work"}});
  out.push_back({"plan.md", {"this page, with the arithmetic"}});
  return out;
}

std::map<std::string, std::string> plan_files(const Plan& plan) {
  std::map<std::string, std::string> files;
  for (const Section& section : plan.sections) {
    for (const Manifest& manifest : section.manifests) {
      std::string& text = files[manifest.file];
      if (!text.empty()) text += "---\n";
      text += manifest.body.document();
    }
  }
  for (const ServicePlan& service : plan.services) {
    for (const ScenarioFile& scenario : scenarios_of(service)) {
      files[scenario.path] = with_path_of_load(scenario, service);
    }
    if (!service.measured_profile_text.empty())
      files[measured_load_file(service.service)] = service.measured_profile_text;
  }
  if (plan.together) files[std::string(kTogetherFile)] = plan.together->scenario;
  files[std::string(kKillSwitchFile)] = kill_switch_script({.spec = plan.spec, .services = plan.services});
  files["apply.sh"] = apply_script(plan);
  files["plan.md"] = render_markdown(plan, PageDetail::all);
  return files;
}

}  // namespace capstan::plan
