#include "explain/object.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <optional>
#include <utility>

#include "base/similar_names.h"
#include "decide/place/shortfall_reason.h"
#include "explain/candidates.h"
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
constexpr std::array<std::string_view, 5> kGangPhases = {"is pending", "is starting", "serves", "drains", "sleeps"};
constexpr std::array<std::string_view, 3> kNodePhases = {"is ready", "takes no new pods", "is terminating"};
constexpr std::size_t kMaxListed = 20;  ///< largest number of gangs that one answer lists

template <typename IdType>
std::string name_or_id(const SharedTable<IdType, std::string>& names, std::string_view kind, IdType id) {
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

/// Returns the number of objects of one kind, with an example: "14 gangs (such as "training 3")". The example is the
/// first object that has a name, or else the first object.
template <typename IdType, typename Row>
std::string count_with_example(const SharedTable<IdType, Row>& table, const SharedTable<IdType, std::string>& names,
                               const std::string& kind) {
  const std::string count = count_text(std::ssize(table), kind, kind + "s");
  std::optional<IdType> example;
  bool has_name = false;
  table.for_each([&](IdType id, const Row&) {
    if (has_name) return;
    has_name = names.find(id) != nullptr;
    if (has_name || !example) example = id;
  });
  return example ? fmt::format("{} (such as \"{}\")", count, name_or_id(names, kind, *example)) : count;
}

/// Returns " (did you mean chat?)" if services, gangs, pods or nodes have a similar name.
std::string similar_objects(const model::Snapshot& snapshot, const model::Names& names, std::string_view text) {
  std::vector<std::string_view> all;
  for (const model::Service& service : snapshot.catalog->services) all.push_back(service.name);
  const auto add = [&](auto, const std::string& name) { all.push_back(name); };
  names.gangs.for_each(add);
  names.pods.for_each(add);
  names.nodes.for_each(add);
  return did_you_mean_words(text, all);
}

bool exists(const model::Snapshot& snapshot, const Object& object) {
  switch (object.kind) {
    case Kind::service:
      return snapshot.services.find(model::ServiceId{object.id}) != nullptr;
    case Kind::gang:
      return snapshot.gangs.find(GangId{object.id}) != nullptr;
    case Kind::pod:
      return snapshot.pods.find(PodId{object.id}) != nullptr;
    case Kind::node:
      return snapshot.nodes.find(NodeId{object.id}) != nullptr;
  }
  return false;
}

/// Parses a kind and an id such as "gang 7".
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

/// Writes the arithmetic of one object. It decides nothing: every number is from a decision or counted in the snapshot.
class Writer {
 public:
  Writer(const model::Snapshot& snapshot, const model::Names& names, const LayerDecisions& decided)
      : snapshot_(snapshot), names_(names), decided_(decided) {}

  std::string service(model::ServiceId id) {
    const decide::scale::Decision& decision = decided_.scale[id.value];
    std::string text = paragraph(*snapshot_.catalog, decision);
    reasons_.push_back({service_name(*snapshot_.catalog, id), decision.why});
    std::size_t listed = 0;
    snapshot_.gangs.for_each([&](GangId gang, const model::Gang& row) {
      if (row.service != id || row.phase != model::Gang::Phase::pending || ++listed > kMaxListed) return;
      text += "\n- " + this->gang(gang);
    });
    for (const decide::place::Shortfall& lack : decided_.place.shortfalls) {
      if (lack.service == id && !lack.gang.valid()) text += "\n- " + shortfall(lack);
    }
    return text;
  }

  std::string gang(GangId id) {
    const model::Gang& gang = snapshot_.gangs.at(id);
    const std::string name = name_or_id(names_.gangs, "gang", id);
    std::string text = fmt::format("{} {}", name, kGangPhases[static_cast<std::size_t>(gang.phase)]);
    for (const decide::place::PlacementResult& verdict : decided_.place.verdicts) {
      if (verdict.gang == id) text += ": " + sentence_of(name, verdict.why);
    }
    text += '.';
    for (const decide::place::Shortfall& lack : decided_.place.shortfalls) {
      if (lack.gang == id && !decide::place::has_unusable_gpus(lack.why)) text += ' ' + shortfall(lack) + '.';
    }
    for (const model::Action& action : decided_.provision.plan.actions) {
      const auto* launch = std::get_if<model::LaunchNodes>(&action.effect);
      if (launch == nullptr || launch->gang != id) continue;
      text += " For this replica: " + line(*snapshot_.catalog, action) + '.';
      reasons_.push_back({name, action.why});
    }
    if (const std::string tried = candidates(*snapshot_.catalog, decided_, id); !tried.empty()) text += '\n' + tried;
    return text;
  }

  std::string pod(PodId id) {
    const model::Pod& pod = snapshot_.pods.at(id);
    std::string text = name_or_id(names_.pods, "pod", id);
    text +=
        pod.node.valid() ? " is on " + name_or_id(names_.nodes, "node", pod.node) : std::string(" is bound to no node");
    const std::size_t pods = snapshot_.gangs.at(pod.gang).pods.size();
    return text + (pods == 1 ? ", the only pod of its gang. " : fmt::format(", one of {} pods of its gang. ", pods)) +
           gang(pod.gang);
  }

  std::string node(NodeId id) {
    const model::Node& node = snapshot_.nodes.at(id);
    const std::string name = name_or_id(names_.nodes, "node", id);
    const std::string phase = name + " " + std::string(kNodePhases[static_cast<std::size_t>(node.phase)]);
    std::string text = fmt::format("{}, {} x {}", phase, gpus_text(node.gpus), gpu_name(*snapshot_.catalog, node.gpu));
    MilliGpu held;
    std::int64_t pods = 0;
    snapshot_.pods.for_each([&](PodId, const model::Pod& pod) {
      if (pod.node != id) return;
      held += pod.gpus;
      ++pods;
    });
    if (!node.gpu.valid()) return phase + ", no GPUs, " + count_text(pods, "pod of a gang.", "pods of gangs.");
    text += fmt::format(", {} of them held by {}.", gpus_text(held), count_text(pods, "pod", "pods"));
    for (const model::Action& action : decided_.provision.plan.actions) {
      const auto* end = std::get_if<model::TerminateNode>(&action.effect);
      if (end != nullptr && end->node == id) text += " It is given back: " + sentence_of(name, action.why) + '.';
    }
    for (const model::Plan::NoAction& kept : decided_.provision.plan.no_actions) {
      if (kept.subject == model::Plan::NoAction::Subject::node && kept.id == id.value) {
        text += " It stays: " + sentence_of(name, kept.why) + '.';
      }
    }
    return text;
  }

  std::vector<GivenReason> take_reasons() { return std::move(reasons_); }

 private:
  /// Returns the sentence of a reason and adds it to the reasons of the answer.
  std::string sentence_of(const std::string& subject, const model::Reason& why) {
    reasons_.push_back({subject, why});
    return sentence(why, *snapshot_.catalog);
  }

  std::string shortfall(const decide::place::Shortfall& lack) const {
    const std::string subject = lack.service.valid() ? fmt::format("replica {} of {}", lack.ordinal,
                                                                   service_name(*snapshot_.catalog, lack.service))
                                                     : gang_name(&names_, lack.gang);
    if (decide::place::has_unusable_gpus(lack.why)) return subject + ": " + sentence(lack.why, *snapshot_.catalog);
    std::string text = fmt::format("{} lacks {} of {} {} GPUs", subject, gpus_text(lack.short_by),
                                   gpus_text(lack.needed), gpu_name(*snapshot_.catalog, lack.spec.pods.gpu));
    if (lack.best_domain.valid()) {
      text += fmt::format("; the domain with the most free GPUs is {} with {}",
                          domain_name(*snapshot_.catalog, lack.best_domain), gpus_text(lack.best_free));
    } else if (lack.best_node.valid()) {
      text += fmt::format("; the node with the most free GPUs is {} with {}",
                          name_or_id(names_.nodes, "node", lack.best_node), gpus_text(lack.best_free));
    }
    return text;
  }

  const model::Snapshot& snapshot_;
  const model::Names& names_;
  const LayerDecisions& decided_;
  std::vector<GivenReason> reasons_;
};

std::string arithmetic(Writer& writer, const Object& object) {
  switch (object.kind) {
    case Kind::service:
      return writer.service({object.id});
    case Kind::gang:
      return writer.gang({object.id});
    case Kind::pod:
      return writer.pod({object.id});
    case Kind::node:
      return writer.node({object.id});
  }
  return {};
}

Summary summary_of(const Object& object, const model::Snapshot& snapshot, const model::Names& names,
                   const LayerDecisions& decided, Environment environment) {
  const Summarizer summarizer(snapshot, names, decided.place, decided.provision);
  const auto decision_of = [&](GangId id) -> const decide::scale::Decision& {
    static const decide::scale::Decision kNone;
    const model::ServiceId service = snapshot.gangs.at(id).service;
    return service.valid() && service.value < decided.scale.size() ? decided.scale[service.value] : kNone;
  };
  switch (object.kind) {
    case Kind::service:
      return summarizer.service(decided.scale[object.id], environment);
    case Kind::gang:
      return summarizer.gang(GangId{object.id}, decision_of(GangId{object.id}));
    case Kind::pod:
      return summarizer.pod(PodId{object.id}, decision_of(snapshot.pods.at(PodId{object.id}).gang));
    case Kind::node:
      return summarizer.node(NodeId{object.id});
  }
  return {};
}

}  // namespace

Result<Object> find_object(const model::Snapshot& snapshot, const model::Names& names, std::string_view text) {
  const std::vector<model::Service>& services = snapshot.catalog->services;
  for (std::uint32_t i = 0; i < services.size(); ++i) {
    if (services[i].name != text) continue;
    const Object service{Kind::service, i};
    if (exists(snapshot, service)) return service;
    return std::unexpected(Error{ErrorKind::usage, "", 0, 0,
                                 fmt::format("nothing is decided about {}: the snapshot has no state of this service, "
                                             "because its target is missing or its mode is Off",
                                             text)});
  }
  if (const auto pod = by_name(names.pods, text, Kind::pod)) return *pod;
  if (const auto gang = by_name(names.gangs, text, Kind::gang)) return *gang;
  if (const auto node = by_name(names.nodes, text, Kind::node)) return *node;
  if (const auto object = by_id(text); object && exists(snapshot, *object)) return *object;
  constexpr std::size_t kNamed = 5;
  std::string named;
  for (std::size_t i = 0; i < std::min(services.size(), kNamed); ++i) {
    named += fmt::format("{}{}", i > 0 ? ", " : "", services[i].name);
  }
  if (services.size() > kNamed) named += ", ...";
  return std::unexpected(
      Error{ErrorKind::usage, "", 0, 0,
            fmt::format("no object is called \"{}\"{}, expected a service{}, or one of {}, {} and {}", text,
                        similar_objects(snapshot, names, text), named.empty() ? "" : " (" + named + ")",
                        count_with_example(snapshot.gangs, names.gangs, "gang"),
                        count_with_example(snapshot.pods, names.pods, "pod"),
                        count_with_example(snapshot.nodes, names.nodes, "node"))});
}

Answer explain_object(const Object& object, const model::Snapshot& snapshot, const model::Names& names,
                      const LayerDecisions& decided, Environment environment) {
  Writer writer(snapshot, names, decided);
  std::string text = arithmetic(writer, object);
  return {summary_of(object, snapshot, names, decided, environment), std::move(text), writer.take_reasons()};
}

}  // namespace capstan::explain
