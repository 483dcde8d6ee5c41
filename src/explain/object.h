#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

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

/// How the object stands, why, and what is about to happen to it: a few lines, without an end of line at the end.
std::string about(const Object& object, const model::Snapshot& snapshot, const model::Names& names,
                  const Decided& decided);

}  // namespace capstan::explain
