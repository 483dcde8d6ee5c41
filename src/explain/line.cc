#include <fmt/format.h>

#include "explain/explain.h"
#include "explain/words.h"
#include "model/reason_sentence.h"

namespace capstan::explain {
namespace {

struct ActionWords {
  const model::Catalog& catalog;
  const model::Names* names;

  std::string operator()(const model::SetReplicas& action) const {
    std::string text =
        fmt::format("scale {} to {}", service_name(catalog, action.service), replicas_text(action.replicas));
    if (!action.drain.empty()) text += fmt::format(", draining {}", action.drain.size());
    return text;
  }
  std::string operator()(const model::BindPods& action) const {
    return fmt::format("bind {} of {}", count_text(std::ssize(action.bindings), "pod", "pods"),
                       gang_name(names, action.gang));
  }
  std::string operator()(const model::LaunchNodes& action) const {
    const bool group = action.hold > Duration{};
    std::string text = fmt::format("launch {} x {}", action.count, offering_name(catalog, action.offering));
    if (action.domain.valid()) text += fmt::format(", all inside {}", domain_name(catalog, action.domain));
    if (group) {
      text += fmt::format(", all or none within {}", time_text(action.hold));
    }
    return text;
  }
  std::string operator()(const model::ReleaseGroup& action) const {
    return fmt::format("release all nodes of group {}", action.group.value);
  }
  std::string operator()(const model::TerminateNode& action) const {
    return fmt::format("give back node {}", action.node.value);
  }
  std::string operator()(const model::EvictPod& action) const { return fmt::format("evict pod {}", action.pod.value); }
  std::string operator()(const model::ConvertReplica& action) const {
    return fmt::format("convert gang {} from {} to {}", action.gang.value, service_name(catalog, action.from),
                       service_name(catalog, action.to));
  }
};

}  // namespace

std::string line(const model::Catalog& catalog, const model::Action& action, const model::Names* names) {
  return fmt::format("{}: {}", std::visit(ActionWords{catalog, names}, action.effect), sentence(action.why, catalog));
}

std::string line(const model::Catalog& catalog, const model::Plan::NoAction& kept) {
  return fmt::format("{} does not change: {}", subject_name(catalog, kept), sentence(kept.why, catalog));
}

}  // namespace capstan::explain
