#include "explain/object.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <optional>
#include <utility>

#include "explain/explain.h"
#include "explain/words.h"
#include "model/reason_sentence.h"

namespace capstan::explain {
namespace {

using model::GangId;
using model::NodeId;
using model::PodId;
using Kind = Object::Kind;

constexpr std::array<std::string_view, 4> kKinds = {"service", "gang", "pod", "node"};
constexpr std::array<std::string_view, 5> kGangPhases = {"waits for nodes", "is starting", "serves", "is draining",
                                                         "sleeps"};
constexpr std::array<std::string_view, 3> kNodePhases = {"is ready", "takes no new pods", "is going away"};
constexpr std::size_t kMostListed = 20;  ///< gangs or pods that one answer lists

template <typename IdType>
std::string called(const SharedTable<IdType, std::string>& names, std::string_view kind, IdType id) {
  const std::string* name = names.find(id);
  return name != nullptr ? *name : fmt::format("{} {}", kind, id.value);
}

template <typename IdType>
std::optional<Object> by_name(const SharedTable<IdType, std::string>& names, std::string_view text, Kind kind) {
  std::optional<Object> found;
  names.for_each([&](IdType id, const std::string& name) {
    if (!found && name == text) found = Object{kind, id.value};
  });
  return found;
}

bool exists(const model::Snapshot& snapshot, const Object& object) {
  switch (object.kind) {
    case Kind::service:
      return object.id < snapshot.catalog->services.size();
    case Kind::gang:
      return snapshot.gangs.find(GangId{object.id}) != nullptr;
    case Kind::pod:
      return snapshot.pods.find(PodId{object.id}) != nullptr;
    case Kind::node:
      return snapshot.nodes.find(NodeId{object.id}) != nullptr;
  }
  return false;
}

/// "gang 7".
std::optional<Object> by_id(std::string_view text) {
  const std::size_t blank = text.find(' ');
  if (blank == std::string_view::npos) return {};
  for (std::size_t i = 0; i < kKinds.size(); ++i) {
    if (text.substr(0, blank) != kKinds[i]) continue;
    Object object{static_cast<Kind>(i), 0};
    const char* last = text.data() + text.size();
    const auto [end, error] = std::from_chars(text.data() + blank + 1, last, object.id);
    if (error == std::errc{} && end == last) return object;
  }
  return {};
}

/// Writes about one object; every number is one that a decision or the snapshot holds.
class Teller {
 public:
  Teller(const model::Snapshot& snapshot, const model::Names& names, const Decided& decided)
      : snapshot_(snapshot), names_(names), decided_(decided) {}

  std::string service(model::ServiceId id) {
    const decide::scale::Decision& decision = decided_.scale[id.value];
    std::string text = paragraph(*snapshot_.catalog, decision);
    reasons_.push_back({service_name(*snapshot_.catalog, id), decision.why});
    std::size_t listed = 0;
    snapshot_.gangs.for_each([&](GangId gang, const model::Gang& row) {
      if (row.service != id || row.phase != model::Gang::Phase::pending || ++listed > kMostListed) return;
      text += "\n- " + this->gang(gang);
    });
    for (const decide::place::Shortfall& lack : decided_.place.shortfalls) {
      if (lack.service == id && !lack.gang.valid()) text += "\n- " + shortfall(lack);
    }
    return text;
  }

  std::string gang(GangId id) {
    const model::Gang& gang = snapshot_.gangs.at(id);
    const std::string name = called(names_.gangs, "gang", id);
    std::string text = fmt::format("{} {}", name, kGangPhases[static_cast<std::size_t>(gang.phase)]);
    for (const decide::place::Verdict& verdict : decided_.place.verdicts) {
      if (verdict.gang == id) text += ": " + because(name, verdict.why);
    }
    text += '.';
    for (const decide::place::Shortfall& lack : decided_.place.shortfalls) {
      if (lack.gang == id) text += ' ' + shortfall(lack) + '.';
    }
    for (const model::Action& action : decided_.provision.plan.actions) {
      const auto* launch = std::get_if<model::LaunchNodes>(&action.what);
      if (launch == nullptr || launch->gang != id) continue;
      text += " For it: " + line(*snapshot_.catalog, action) + '.';
      reasons_.push_back({name, action.why});
    }
    return text;
  }

  std::string pod(PodId id) {
    const model::Pod& pod = snapshot_.pods.at(id);
    std::string text = called(names_.pods, "pod", id);
    text += pod.node.valid() ? " is on " + called(names_.nodes, "node", pod.node) : std::string(" has no node");
    const std::size_t pods = snapshot_.gangs.at(pod.gang).pods.size();
    return text + (pods == 1 ? ", alone in its gang. " : fmt::format(", one of {} pods of its gang. ", pods)) +
           gang(pod.gang);
  }

  std::string node(NodeId id) {
    const model::Node& node = snapshot_.nodes.at(id);
    const std::string name = called(names_.nodes, "node", id);
    std::string text = fmt::format("{} {}, {} x {}", name, kNodePhases[static_cast<std::size_t>(node.phase)],
                                   gpus_text(node.gpus), gpu_name(*snapshot_.catalog, node.gpu));
    MilliGpu held;
    std::size_t pods = 0;
    snapshot_.pods.for_each([&](PodId, const model::Pod& pod) {
      if (pod.node != id) return;
      held += pod.gpus;
      ++pods;
    });
    text += fmt::format(", {} of them held by {} {}.", gpus_text(held), pods, pods == 1 ? "pod" : "pods");
    for (const model::Action& action : decided_.provision.plan.actions) {
      const auto* end = std::get_if<model::TerminateNode>(&action.what);
      if (end != nullptr && end->node == id) text += " It goes: " + because(name, action.why) + '.';
    }
    for (const model::Plan::Kept& kept : decided_.provision.plan.kept) {
      if (kept.subject == model::Plan::Kept::Subject::node && kept.id == id.value) {
        text += " It stays: " + because(name, kept.why) + '.';
      }
    }
    return text;
  }

  std::vector<GivenReason> take_reasons() { return std::move(reasons_); }

 private:
  /// Returns the sentence of a reason and notes that it was given.
  std::string because(const std::string& subject, const model::Reason& why) {
    reasons_.push_back({subject, why});
    return sentence(why, *snapshot_.catalog);
  }

  std::string shortfall(const decide::place::Shortfall& lack) const {
    std::string text = fmt::format("replica {} of {} lacks {} of {} {} GPUs", lack.ordinal,
                                   service_name(*snapshot_.catalog, lack.service), gpus_text(lack.short_by),
                                   gpus_text(lack.needed), gpu_name(*snapshot_.catalog, lack.gpu));
    if (lack.best_domain.valid()) {
      text += fmt::format("; the best place is {} with {} free", domain_name(*snapshot_.catalog, lack.best_domain),
                          gpus_text(lack.best_free));
    } else if (lack.best_node.valid()) {
      text += fmt::format("; the best place is {} with {} free", called(names_.nodes, "node", lack.best_node),
                          gpus_text(lack.best_free));
    }
    return text;
  }

  const model::Snapshot& snapshot_;
  const model::Names& names_;
  const Decided& decided_;
  std::vector<GivenReason> reasons_;
};

std::string tell(Teller& teller, const Object& object) {
  switch (object.kind) {
    case Kind::service:
      return teller.service({object.id});
    case Kind::gang:
      return teller.gang({object.id});
    case Kind::pod:
      return teller.pod({object.id});
    case Kind::node:
      return teller.node({object.id});
  }
  return {};
}

}  // namespace

Result<Object> find_object(const model::Snapshot& snapshot, const model::Names& names, std::string_view text) {
  const std::vector<model::Service>& services = snapshot.catalog->services;
  for (std::uint32_t i = 0; i < services.size(); ++i) {
    if (services[i].name == text) return Object{Kind::service, i};
  }
  if (const auto pod = by_name(names.pods, text, Kind::pod)) return *pod;
  if (const auto gang = by_name(names.gangs, text, Kind::gang)) return *gang;
  if (const auto node = by_name(names.nodes, text, Kind::node)) return *node;
  if (const auto object = by_id(text); object && exists(snapshot, *object)) return *object;
  return std::unexpected(
      Error{ErrorKind::usage, "", 0, 0,
            fmt::format("there is no \"{}\", expected the name of one of {} services, {} gangs, {} pods or {} nodes, "
                        "or a kind and an id such as \"gang 7\"",
                        text, services.size(), snapshot.gangs.size(), snapshot.pods.size(), snapshot.nodes.size())});
}

Account about(const Object& object, const model::Snapshot& snapshot, const model::Names& names,
              const Decided& decided) {
  Teller teller(snapshot, names, decided);
  std::string text = tell(teller, object);
  return {std::move(text), teller.take_reasons()};
}

}  // namespace capstan::explain
