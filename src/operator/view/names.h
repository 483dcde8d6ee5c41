#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "base/assert.h"
#include "base/shared_table.h"

namespace capstan::op {

/// Something in the cluster, as people name it and as the server does: an object of the same name that is made anew is
/// another one.
struct ObjectKey {
  std::string kind;
  std::string ns;
  std::string name;
  std::string uid;
  friend auto operator<=>(const ObjectKey&, const ObjectKey&) = default;
};

/// Gives the objects of one table their ids. An id is never used again, also not for the same object once it was
/// forgotten; what is remembered is what exists.
template <typename IdType>
class Identities {
 public:
  /// The id of the object, which is new where the object is.
  /// @param shown  what people call its row
  IdType id_of(const ObjectKey& object, std::string_view shown) {
    Entry& entry = entry_of(object);
    if (!entry.shown) shown_.set(entry.id, std::string(shown));
    entry.seen = entry.shown = true;
    return entry.id;
  }

  /// Gives an object its id before it is seen: ids then follow this order. Forgotten like every other that is not seen.
  void expect(const ObjectKey& object) { entry_of(object); }

  /// The object of an id, or null: it was forgotten or never was.
  const ObjectKey* find(IdType id) const {
    const auto found = objects_.find(id);
    return found == objects_.end() ? nullptr : &found->second;
  }

  /// Forgets every object that nobody asked for since the last call.
  void forget_unseen() {
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

  const SharedTable<IdType, std::string>& shown() const { return shown_; }
  std::size_t size() const { return ids_.size(); }

 private:
  struct Entry {
    IdType id;
    bool seen = false;
    bool shown = false;  ///< its row has a name
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
  SharedTable<IdType, std::string> shown_;
  std::uint32_t next_ = 0;
};

}  // namespace capstan::op
