#pragma once

#include <string>

#include "decide/place/place.h"
#include "decide/provision/provision.h"
#include "decide/scale/scale.h"
#include "model/catalog.h"
#include "model/plan.h"

namespace capstan::explain {

/// A decision in words. Nothing is computed here: every number is one that the decision kept, so the words cannot
/// disagree with it.

/// One action or one kept reason: "scale chat to 3 replicas: 12 requests wait; ...", without an end of line.
std::string line(const model::Catalog& catalog, const model::Action& action);
std::string line(const model::Catalog& catalog, const model::Plan::Kept& kept);

/// The arithmetic of a decision as a person would tell it; several sentences, no end of line at the end.
std::string paragraph(const model::Catalog& catalog, const decide::scale::Decision& decision);
std::string paragraph(const model::Catalog& catalog, const decide::place::Decision& decision);
std::string paragraph(const model::Catalog& catalog, const decide::provision::Decision& decision);

/// The same for programs: one JSON object on one line, keys in a stated order, reasons as code, numbers and sentence.
std::string json(const model::Catalog& catalog, const decide::scale::Decision& decision);
std::string json(const model::Catalog& catalog, const decide::place::Decision& decision);
std::string json(const model::Catalog& catalog, const decide::provision::Decision& decision);

}  // namespace capstan::explain
