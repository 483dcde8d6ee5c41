#pragma once

#include "archive/closed_lists.h"
#include "manifest/fields.h"
#include "model/catalog.h"

namespace capstan::archive {

/// Reads the part of a snapshot file under `catalog:`.
/// @param closed  null, except for format 1: gets the lists of nodes and purchases that the format states for variants
model::Catalog read_catalog(const manifest::Node& node, ClosedLists* closed, manifest::ErrorList& errors);

}  // namespace capstan::archive
