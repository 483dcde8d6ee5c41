#pragma once

#include <string>
#include <string_view>

#include "manifest/fields.h"

namespace capstan::archive {

/// Refuses a mapping that lacks a key which the writer always writes. Otherwise the reader would use the default, which
/// may differ between versions of Capstan.
/// @param written  JSON of the settings as the writer writes them; only the keys are compared
/// @param name     name of the mapping in messages
void require_written_keys(const manifest::Node& node, std::string_view written, const std::string& name,
                          manifest::ErrorList& errors);

}  // namespace capstan::archive
