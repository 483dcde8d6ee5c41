#include "plan/render/prerequisites.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "base/ascii.h"
#include "plan/objects/charts.h"
#include "plan/objects/names.h"
#include "plan/pods/weight_cache.h"
#include "plan/render/apply_script.h"

namespace capstan::plan {

namespace {

/// A component that defines kinds of objects.
struct InstalledComponent {
  std::string_view group{};  ///< API group
  std::string_view name{};
  std::string_view remedy{};  ///< command or page that installs it; empty: `chart` does
  std::string_view chart{};   ///< chart that installs it, in a namespace of its own
  std::string_view namespace_{};
};

constexpr std::string_view kKarpenter = "https://karpenter.sh/docs/getting-started/";
constexpr std::string_view kOverlays = "Karpenter with the chart value settings.featureGates.nodeOverlay=true";

constexpr std::array<InstalledComponent, 9> kComponents = {
    {{"karpenter.sh", "Karpenter", kKarpenter},
     {"karpenter.k8s.aws", "Karpenter", kKarpenter},
     {"karpenter.azure.com", "Karpenter",
      "az aks update --resource-group \"$RESOURCE_GROUP\" --name CLUSTER --node-provisioning-mode Auto"},
     {"scheduling.run.ai", "KAI", {}, "kai-scheduler", "kai-scheduler"},
     {"kai.scheduler", "KAI", {}, "kai-scheduler", "kai-scheduler"},
     {"keda.sh", "KEDA", {}, "keda", "keda"},
     {"leaderworkerset.x-k8s.io", "LeaderWorkerSet", {}, "lws", "lws-system"},
     {"kueue.x-k8s.io", "Kueue", {}, "kueue", "kueue-system"},
     {"capstan.dev", "Capstan",
      "in a checkout of Capstan, docs/guides/first-cluster.md: helm upgrade --install capstan deploy/chart/capstan "
      "--namespace capstan-system --create-namespace --set image.repository=IMAGE --set permissions.replicas=true"}}};

constexpr std::array<std::pair<std::string_view, std::string_view>, 5> kPrograms = {
    {{"kubectl", "https://kubernetes.io/docs/tasks/tools/"},
     {"helm", "https://helm.sh/docs/intro/install/"},
     {"eksctl", "https://eksctl.io/installation/"},
     {"gcloud", "https://cloud.google.com/sdk/docs/install"},
     {"az", "https://learn.microsoft.com/cli/azure/install-azure-cli"}}};

/// Returns the plural of a kind as its definition names it: "nodepools", "fleetpolicies", "ec2nodeclasses",
/// "nodeoverlays".
std::string plural_of(std::string_view kind) {
  std::string name(kind);
  std::ranges::transform(name, name.begin(), ascii_lower);
  const bool follows_vowel = name.ends_with("ay") || name.ends_with("ey") || name.ends_with("oy");
  if (name.ends_with('y') && !follows_vowel) return name.substr(0, name.size() - 1) + "ies";
  return name + (name.ends_with('s') ? "es" : "s");
}

std::string text_of(const Yaml& body, std::string_view key) {
  const Yaml* found = body.find(key);
  return found == nullptr ? std::string() : std::string(found->text());
}

/// Returns the API group of an object; empty for the core group.
std::string group_of(const Manifest& manifest) {
  const std::string version = text_of(manifest.body, "apiVersion");
  const std::size_t slash = version.find('/');
  return slash == version.npos ? std::string() : version.substr(0, slash);
}

bool is_applied(const Manifest& manifest) {
  return manifest.is_object && (manifest.alternative.choice.empty() || manifest.alternative.is_chosen);
}

/// Returns the optional command of the plan that installs Prometheus, or the page about its installation if the plan
/// has no such command.
std::string prometheus_remedy(const std::vector<ApplyCommand>& commands) {
  const auto found = std::ranges::find(commands, ApplyStep::prometheus, &ApplyCommand::step);
  return found == commands.end() ? "https://prometheus-operator.dev/docs/getting-started/installation/"
                                 : found->command;
}

std::string remedy_of(const InstalledComponent& component, std::string_view kind) {
  if (kind == "NodeOverlay") return std::string(kOverlays);
  if (component.chart.empty()) return std::string(component.remedy);
  return helm_install(component.chart, fmt::format("--namespace {} --create-namespace", component.namespace_));
}

Prerequisite definition(const InstalledComponent& component, std::string_view kind) {
  std::string part = fmt::format("{}.{}", plural_of(kind), component.group);
  return {.name = std::string(component.name),
          .test = fmt::format("kubectl get customresourcedefinition {} >/dev/null 2>&1", part),
          .part = std::move(part),
          .remedy = remedy_of(component, kind)};
}

void add_programs(const std::vector<ApplyCommand>& commands, std::vector<Prerequisite>& out) {
  const auto uses = [&](std::string_view text) {
    return std::ranges::any_of(commands, [&](const ApplyCommand& command) {
      return !command.is_optional && command.command.find(text) != command.command.npos;
    });
  };
  for (const auto& [program, page] : kPrograms) {
    if (!uses(fmt::format("{} ", program))) continue;
    out.push_back({.name = std::string(program),
                   .test = fmt::format("command -v {} >/dev/null", program),
                   .remedy = std::string(page)});
  }
  if (uses("$RESOURCE_GROUP")) {
    out.push_back({.name = "RESOURCE_GROUP",
                   .test = "[ -n \"${RESOURCE_GROUP-}\" ]",
                   .remedy = "export RESOURCE_GROUP=GROUP, the resource group of the AKS cluster"});
  }
}

/// Adds the Secrets without which the weights of gated models cannot be loaded.
void add_secrets(const PlanSpec& spec, std::vector<Prerequisite>& out) {
  for (const ServiceSpec& service : spec.services) {
    if (!needs_model_secret(service)) continue;
    std::string part = fmt::format("secret {} in {}", service.model_secret, spec.namespace_);
    if (std::ranges::find(out, part, &Prerequisite::part) != out.end()) continue;
    const std::string get = fmt::format("kubectl --namespace {} get secret {}", spec.namespace_, service.model_secret);
    out.push_back({.name = "access to " + service.served_model_name,
                   .test = fmt::format("{} >/dev/null 2>&1", get),
                   .part = std::move(part),
                   .remedy = fmt::format("kubectl create namespace {0}; kubectl --namespace {0} create secret generic "
                                         "{1} --from-literal token=\"$HF_TOKEN\"",
                                         spec.namespace_, service.model_secret)});
  }
}

/// Adds the volumes with models that the plan mounts and does not write: an engine that is built for one GPU is not
/// downloaded from a model hub.
void add_model_volumes(const PlanSpec& spec, std::vector<Prerequisite>& out) {
  for (const ServiceSpec& service : spec.services) {
    if (downloads_weights(service)) continue;
    const std::string claim = service.name + "-models";
    out.push_back({.name = "model repository of " + service.name,
                   .test = fmt::format("kubectl --namespace {} get persistentvolumeclaim {} >/dev/null 2>&1",
                                       spec.namespace_, claim),
                   .part = fmt::format("persistentvolumeclaim {} in {}", claim, spec.namespace_),
                   .remedy = fmt::format(
                       "a volume that all nodes can read, with engines of {} that were built for the GPU and the "
                       "tensor parallelism of the plan: https://github.com/triton-inference-server/"
                       "tensorrtllm_backend",
                       service.served_model_name)});
  }
}

/// Returns the text in single quotes, as one word of the shell.
std::string in_single_quotes(std::string_view text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

}  // namespace

std::vector<Prerequisite> prerequisites(const Plan& plan) {
  const std::vector<ApplyCommand> commands = chosen_commands(plan);
  std::vector<Prerequisite> out;
  add_programs(commands, out);
  const InstalledComponent prometheus{"monitoring.coreos.com", "Prometheus Operator", {}};
  for (const Section& section : plan.sections) {
    for (const Manifest& manifest : section.manifests) {
      if (!is_applied(manifest)) continue;
      const std::string group = group_of(manifest);
      const auto known = std::ranges::find(kComponents, group, &InstalledComponent::group);
      if (known == kComponents.end() && group != prometheus.group) continue;
      const std::string kind = text_of(manifest.body, "kind");
      Prerequisite needed = definition(known == kComponents.end() ? prometheus : *known, kind);
      if (group == prometheus.group) needed.remedy = prometheus_remedy(commands);
      if (std::ranges::find(out, needed.part, &Prerequisite::part) == out.end()) out.push_back(std::move(needed));
    }
  }
  add_secrets(plan.spec, out);
  add_model_volumes(plan.spec, out);
  return out;
}

std::vector<std::string> needed_components(const Plan& plan) {
  std::vector<std::string> names;
  for (const Prerequisite& needed : prerequisites(plan)) {
    if (!needed.part.empty() && std::ranges::find(names, needed.name) == names.end()) names.push_back(needed.name);
  }
  return names;
}

std::string prerequisite_check(const Plan& plan) {
  const std::vector<Prerequisite> needed = prerequisites(plan);
  if (needed.empty()) return {};
  std::string out =
      "\n# Tests for everything that the plan needs and does not install. Nothing is applied if a part is missing.\n"
      "absent=0\n"
      "missing() {\n  echo \"missing: $1\" >&2\n  echo \"  install it: $2\" >&2\n  absent=1\n}\n";
  bool is_connected = false;
  for (const Prerequisite& part : needed) {
    if (!part.part.empty() && !is_connected) {
      is_connected = true;
      out += "kubectl version >/dev/null 2>&1 || { echo \"kubectl reaches no cluster\" >&2; exit 1; }\n";
    }
    const std::string name = part.part.empty() ? part.name : fmt::format("{} ({})", part.name, part.part);
    out += fmt::format("{} || missing {} {}\n", part.test, in_single_quotes(name), in_single_quotes(part.remedy));
  }
  return out + "[ \"$absent\" -eq 0 ] || { echo \"nothing was applied\" >&2; exit 1; }\n";
}

}  // namespace capstan::plan
