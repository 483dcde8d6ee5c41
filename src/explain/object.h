#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "decide/place/place.h"
#include "decide/provision/provision.h"
#include "decide/scale/scale.h"
#include "explain/summary.h"
#include "model/names.h"
#include "model/snapshot.h"

namespace capstan::explain {

/// An object that a person may ask about.
struct Object {
  enum class Kind : std::uint8_t { service, gang, pod, node };
  Kind kind{};
  std::uint32_t id = 0;
  friend bool operator==(const Object&, const Object&) = default;
};

/// Finds an object by the name of a service, pod, gang or node, or by its kind and id ("gang 7").
/// @return a usage error that says which objects exist, if there is no such object
Result<Object> find_object(const model::Snapshot& snapshot, const model::Names& names, std::string_view text);

/// The decisions of all layers about one snapshot.
struct LayerDecisions {
  std::span<const decide::scale::Decision> scale;  ///< decisions by service
  const decide::place::Decision& place;
  const decide::provision::Decision& provision;
};

/// A reason in an answer, with its subject: the name of a service, a gang or a node.
struct GivenReason {
  std::string subject;
  model::Reason why;
};

/// An answer about one object.
struct Answer {
  Summary summary;                   ///< the answer in three lines
  std::string text;                  ///< the arithmetic; several lines, without an end of line at the end
  std::vector<GivenReason> reasons;  ///< reasons of the decisions and actions in `text`, in its order
};

/// Returns the state of the object, the reasons for it, and what is about to happen to it.
Answer explain_object(const Object& object, const model::Snapshot& snapshot, const model::Names& names,
                      const LayerDecisions& decided, Environment environment = Environment::cluster);

/// Returns the answer as a JSON document with `object`, `policy`, the summary, `explanation`, and each reason as
/// subject, code, numbers and sentence.
/// @param asked  the object as the person named it
/// @param policy  name of the scenario's policy that decided; empty: the state is not that of a scenario
std::string json(const model::Catalog& catalog, std::string_view asked, std::string_view policy, const Answer& answer);

}  // namespace capstan::explain
