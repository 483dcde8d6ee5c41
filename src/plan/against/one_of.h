#pragma once

#include <string_view>

#include "manifest/yaml.h"
#include "plan/objects/yaml.h"

namespace capstan::plan {

/// Returns true if a planned value and an existing one use different keys of a group of which Kubernetes allows one:
/// the handler of a probe or of a hook, the source of a volume, or the value of a variable. Both keys together would be
/// refused.
/// @param path  path of the value: "spec.template.spec.volumes.models"
bool has_other_alternative(const Yaml& planned, const manifest::Node& found, std::string_view path);

}  // namespace capstan::plan
