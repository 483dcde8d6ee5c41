#include "plan/files.h"

#include "plan/render/render.h"

namespace capstan::plan {

std::map<std::string, std::string> plan_files(const Plan& plan) {
  std::map<std::string, std::string> files;
  for (const Section& section : plan.sections) {
    for (const Manifest& manifest : section.manifests) {
      std::string& text = files[manifest.file];
      if (!text.empty()) text += "---\n";
      text += manifest.body.document();
    }
  }
  for (const ServicePlan& service : plan.services) files["scenario-" + service.service + ".yaml"] = service.scenario;
  files["plan.md"] = render_markdown(plan);
  return files;
}

}  // namespace capstan::plan
