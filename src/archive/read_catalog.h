#pragma once

#include "manifest/fields.h"
#include "model/catalog.h"

namespace capstan::archive {

/// Reads the part of a snapshot file under `catalog:`.
model::Catalog read_catalog(const manifest::Node& node, manifest::Verdict& verdict);

}  // namespace capstan::archive
