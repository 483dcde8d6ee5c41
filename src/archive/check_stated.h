#pragma once

#include <string>
#include <string_view>

#include "manifest/fields.h"

namespace capstan::archive {

/// Refuses a mapping that leaves out what its writer states: its reader would fill in a default, which may be another
/// one tomorrow. `written` is the JSON of what was read; only its keys count.
/// @param what  the mapping's name in messages
void check_stated(const manifest::Node& given, std::string_view written, const std::string& what,
                  manifest::Verdict& verdict);

}  // namespace capstan::archive
