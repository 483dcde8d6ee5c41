#pragma once

#include <string>

#include "decide/place/place.h"
#include "decide/provision/provision.h"
#include "decide/scale/scale.h"
#include "model/catalog.h"
#include "model/names.h"
#include "model/plan.h"

namespace capstan::explain {

/// Decisions as text. These functions compute nothing: every number comes from the decision, so text and decision
/// agree.

/// Returns one action, or one reason for no change: "scale chat to 3 replicas: 12 requests wait; ...", without an end
/// of line.
/// @param names  names of gangs; may be null. A gang without a name is called "gang 7".
std::string line(const model::Catalog& catalog, const model::Action& action, const model::Names* names = nullptr);
std::string line(const model::Catalog& catalog, const model::Plan::NoAction& kept);

/// Returns the arithmetic of a decision in several sentences, without an end of line at the end.
std::string paragraph(const model::Catalog& catalog, const decide::scale::Decision& decision);
std::string paragraph(const model::Catalog& catalog, const decide::place::Decision& decision,
                      const model::Names* names = nullptr);
std::string paragraph(const model::Catalog& catalog, const decide::provision::Decision& decision);

/// Returns a decision as one JSON object on one line. Keys have a fixed order; a reason is its code, numbers and
/// sentence.
std::string json(const model::Catalog& catalog, const decide::scale::Decision& decision);
std::string json(const model::Catalog& catalog, const decide::place::Decision& decision);
std::string json(const model::Catalog& catalog, const decide::provision::Decision& decision);

}  // namespace capstan::explain
