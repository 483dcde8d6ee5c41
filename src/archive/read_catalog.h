#pragma once

#include "archive/exclusion_lists.h"
#include "manifest/fields.h"
#include "model/catalog.h"

namespace capstan::archive {

/// Reads the part of a snapshot file under `catalog:`.
/// @param exclusions  null, except for format 1: gets the lists of nodes and purchases that the format states for
/// variants
model::Catalog read_catalog(const manifest::Node& node, ExclusionLists* exclusions, manifest::ErrorList& errors);

}  // namespace capstan::archive
