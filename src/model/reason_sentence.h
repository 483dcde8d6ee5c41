#pragma once

#include <string>

#include "model/catalog.h"
#include "model/reason.h"

namespace capstan::model {

/// Returns the sentence with the numbers filled in and the objects called by their names: `queue "research"`.
std::string sentence(const Reason& reason, const Catalog& catalog);

}  // namespace capstan::model
