#pragma once

namespace capstan {

/// Erases a value from the set that a map has for a key, and erases the set if it becomes empty. So the map is equal to
/// one that was built without the value. A key or a value that is not there changes nothing.
template <typename Map, typename Key, typename Value>
void erase_from(Map& map, const Key& key, const Value& value) {
  const auto found = map.find(key);
  if (found == map.end()) return;
  found->second.erase(value);
  if (found->second.empty()) map.erase(found);
}

}  // namespace capstan
