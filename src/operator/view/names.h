#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/assert.h"
#include "base/shared_table.h"

namespace capstan::op {

/// Identifies an object by name and UID, so that a later object of the same name is another one.
struct ObjectKey {
  std::string kind;
  std::string ns;
  std::string name;
  std::string uid;
  friend auto operator<=>(const ObjectKey&, const ObjectKey&) = default;
};

/// Gives the objects of one table their ids. It remembers the objects that exist. An id is never reused, not even
/// for the same object after it was forgotten.
template <typename IdType>
class Identities {
 public:
  /// Returns the id of an object. A new object gets a new id.
  /// @param shown  name of its row in texts
  IdType id_of(const ObjectKey& object, std::string_view shown) {
    Entry& entry = entry_of(object);
    if (!entry.seen) seen_.push_back(&entry);
    if (!entry.shown) shown_.set(entry.id, std::string(shown));
    entry.seen = entry.shown = true;
    return entry.id;
  }

  /// Returns the id of an object that exists, or none.
  std::optional<IdType> known_id(const ObjectKey& object) const {
    const auto found = ids_.find(object);
    return found == ids_.end() ? std::nullopt : std::optional(found->second.id);
  }

  /// Gives an object its id before it is seen, so that ids follow the order of the calls. An object that is then not
  /// seen is forgotten.
  void expect(const ObjectKey& object) { entry_of(object); }

  /// Returns the object of an id, or null if it is unknown or was forgotten.
  const ObjectKey* find(IdType id) const {
    const auto found = objects_.find(id);
    return found == objects_.end() ? nullptr : &found->second;
  }

  /// Forgets every object whose id was not requested since the last call of this function or of `forget`.
  void forget_unseen() {
    seen_.clear();
    for (auto at = ids_.begin(); at != ids_.end();) {
      if (at->second.seen) {
        at->second.seen = false;
        ++at;
        continue;
      }
      objects_.erase(at->second.id);
      shown_.erase(at->second.id);
      at = ids_.erase(at);
    }
  }

  /// Forgets these objects. Other objects stay, even if their id was not requested since the last call.
  void forget(const std::vector<IdType>& gone) {
    for (Entry* entry : seen_) entry->seen = false;
    seen_.clear();
    for (const IdType id : gone) {
      const auto found = objects_.find(id);
      if (found == objects_.end()) continue;
      ids_.erase(found->second);
      objects_.erase(found);
      shown_.erase(id);
    }
  }

  const SharedTable<IdType, std::string>& shown() const { return shown_; }
  std::size_t size() const { return ids_.size(); }

 private:
  struct Entry {
    IdType id;
    bool seen = false;
    bool shown = false;  ///< `shown_` has its name
  };

  Entry& entry_of(const ObjectKey& object) {
    const auto [at, inserted] = ids_.try_emplace(object);
    if (inserted) {
      CAPSTAN_ASSERT(next_ != IdType::kNone);
      at->second.id = IdType{next_++};
      objects_.emplace(at->second.id, object);
    }
    return at->second;
  }

  std::map<ObjectKey, Entry> ids_;
  std::map<IdType, ObjectKey> objects_;
  std::vector<Entry*> seen_;  ///< objects whose id was requested since the last `forget_unseen` or `forget`
  SharedTable<IdType, std::string> shown_;
  std::uint32_t next_ = 0;
};

}  // namespace capstan::op
