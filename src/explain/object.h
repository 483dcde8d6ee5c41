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
#include "model/names.h"
#include "model/snapshot.h"

namespace capstan::explain {

/// Something that a person may ask about.
struct Object {
  enum class Kind : std::uint8_t { service, gang, pod, node };
  Kind kind{};
  std::uint32_t id = 0;
  friend bool operator==(const Object&, const Object&) = default;
};

/// Finds what a person named: a service's, pod's, gang's or node's name, or a kind and an id ("gang 7").
/// @return a usage error that says what there is, when there is no such thing
Result<Object> find_object(const model::Snapshot& snapshot, const model::Names& names, std::string_view text);

/// What was decided about everything, of which one object's part is told.
struct Decided {
  std::span<const decide::scale::Decision> scale;  ///< by service
  const decide::place::Decision& place;
  const decide::provision::Decision& provision;
};

/// A reason that an answer rests on, and what it is the reason of: a service, a gang or a node, by name.
struct GivenReason {
  std::string subject;
  model::Reason why;
};

/// An answer about one object.
struct Account {
  std::string text;                  ///< a few lines, without an end of line at the end
  std::vector<GivenReason> reasons;  ///< every reason in the text, in its order
};

/// Tells how the object stands, why, and what is about to happen to it.
Account about(const Object& object, const model::Snapshot& snapshot, const model::Names& names, const Decided& decided);

/// The same for programs: a JSON document with `object`, `explanation`, and each reason as subject, code, numbers and
/// sentence.
/// @param asked  what the person called the object
std::string json(const model::Catalog& catalog, std::string_view asked, const Account& account);

}  // namespace capstan::explain
