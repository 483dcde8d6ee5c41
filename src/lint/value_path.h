#pragma once

#include <string_view>

#include "manifest/document.h"

namespace capstan::lint {

/// Calls `visit` with each value at a path. A path consists of keys separated by dots: "spec.roles[].template". `[]`
/// after a key means every item of its list, `*` every entry of a mapping, and `.` the value itself.
template <typename Visit>
void for_each_at(const manifest::Value& value, std::string_view path, const Visit& visit) {
  if (path.empty() || path == ".") {
    if (value) visit(value);
    return;
  }
  std::string_view key = path.substr(0, path.find('.'));
  const std::string_view rest = path.size() == key.size() ? std::string_view() : path.substr(key.size() + 1);
  const bool items = key.ends_with("[]");
  if (items) key.remove_suffix(2);
  const bool entries = key == "*";
  const manifest::Value& next = entries ? value : value[key];
  if (!items && !entries) {
    for_each_at(next, rest, visit);
  } else if (items ? next.is_sequence() : next.is_mapping()) {
    for (const manifest::Value& child : next.children()) for_each_at(child, rest, visit);
  }
}

}  // namespace capstan::lint
