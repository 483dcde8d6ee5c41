#pragma once

#include <optional>
#include <string>

#include "model/catalog.h"
#include "model/reason.h"
#include "model/reason_template.h"

namespace capstan::model {

/// Returns the sentence with the numbers filled in and with the catalog's names of objects: `queue "research"`.
std::string sentence(const Reason& reason, const Catalog& catalog);

/// Returns the object that the reason is about; none if its sentence names no object of the catalog.
std::optional<ReasonSubject> subject_of(const Reason& reason, const Catalog& catalog);

}  // namespace capstan::model
