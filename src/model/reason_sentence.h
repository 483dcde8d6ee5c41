#pragma once

#include <string>

#include "model/catalog.h"
#include "model/reason.h"

namespace capstan::model {

/// Returns the sentence with the numbers filled in and with the catalog's names of objects: `queue "research"`.
std::string sentence(const Reason& reason, const Catalog& catalog);

}  // namespace capstan::model
