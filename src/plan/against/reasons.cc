#include "plan/against/reasons.h"

#include <algorithm>
#include <array>

namespace capstan::plan {

namespace {

/// A row of the tables of reasons and cautions: the text for the changes that it matches. The first match applies.
struct ChangeWords {
  std::string_view kind{};  ///< kind of the object; empty: every kind
  std::string_view path{};  ///< part of the path; empty: the whole object
  std::string_view text{};
};

constexpr std::array kChangeReasons = {
    ChangeWords{"NodePool", "kubernetes.io/arch", "the image of the engine is built for this architecture"},
    ChangeWords{"NodePool", "metadata.labels", "the pods of the plan select nodes by this label"},
    ChangeWords{"", "metadata.labels", "the plan's queries, selectors and budgets find the pods by this label"},
    ChangeWords{"", "initContainers", "a new replica fetches the weights once for each node, not for each start"},
    ChangeWords{"", "volumeMounts", "the container reads the weights from this volume"},
    ChangeWords{"", "volumes", "the init container and the engine mount this volume"},
    ChangeWords{"", "automountServiceAccountToken", "an engine does not use the API server, so its pods need no token"},
    ChangeWords{"", "podTargetLabels", "the plan's queries select series by these labels"},
    ChangeWords{"", "interval", "the plan's autoscaler was simulated with data of this age"},
    ChangeWords{"ConfigMap", "", "another object of the plan reads it"},
    ChangeWords{"Namespace", "", "the plan's objects are in it"},
};

constexpr std::array kChangeCautions = {
    ChangeWords{"NodePool", "requirements", "Karpenter replaces nodes that do not match, as the budgets allow"},
    ChangeWords{"NodePool", "template.metadata.labels",
                "Karpenter replaces nodes without the label, as the budgets allow"},
    ChangeWords{"NodePool", "taints", "Karpenter replaces nodes without the taint, as the budgets allow"},
    ChangeWords{"", "nodeSelector", "first change the node pool; a pod that selects an absent label does not start"},
    ChangeWords{"", "priorityClassName", "first apply the PriorityClass; pods that name an absent one are refused"},
    ChangeWords{"", "metadata.labels", "the pods start anew, as with every change of their template"},
    ChangeWords{"", "initContainers",
                "first apply the ConfigMap and the Secret that it reads; without them no pod starts"},
};

template <std::size_t size>
std::string_view words_for(const std::array<ChangeWords, size>& rows, std::string_view kind, std::string_view path) {
  const auto found = std::ranges::find_if(rows, [&](const ChangeWords& row) {
    if (!row.kind.empty() && row.kind != kind) return false;
    return row.path.empty() ? path.empty() : path.find(row.path) != path.npos;
  });
  return found == rows.end() ? std::string_view() : found->text;
}

/// Returns true if a volume of the pods is replaced, and not added.
bool replaces_volume(const Difference& change) {
  return change.found && change.found->is_map() && change.path.find(".volumes.") != change.path.npos;
}

}  // namespace

void add_reason(std::string_view kind, Difference& change) {
  if (change.caution.empty()) {
    change.caution = replaces_volume(change) ? "the pods lose the files of the volume that they have"
                                             : words_for(kChangeCautions, kind, change.path);
  }
  if (!change.why.empty()) return;
  change.why = words_for(kChangeReasons, kind, change.path);
  const bool has_effect = !change.saving.removed_risk.empty() || !change.saving.formula.empty() ||
                          change.saving.micro_usd_per_month.has_value();
  if (change.why.empty() && !has_effect) change.why = "to match the plan";
}

}  // namespace capstan::plan
