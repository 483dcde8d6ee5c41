#pragma once

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <utility>

namespace capstan::op {

/// Gives classes small ids, so that bits can be stored by id. A class is named by a text with everything that
/// distinguishes it. It keeps its id as long as each look at the cluster contains it. Ids of classes that a look did
/// not contain are given to others at later looks, so that two successive looks never disagree about an id.
class ClassIds {
 public:
  std::uint32_t id_of(const std::string& text) {
    const auto [found, is_new] = entries_.try_emplace(text);
    if (is_new) found->second.id = free_.empty() ? next_++ : free_.extract(free_.begin()).value();
    found->second.is_seen = true;
    return found->second.id;
  }

  /// Returns a number above all ids.
  std::size_t end() const { return next_; }

  /// Ends a look: forgets the classes that it did not contain.
  void forget_unseen() {
    for (auto at = entries_.begin(); at != entries_.end();) {
      const bool is_seen = std::exchange(at->second.is_seen, false);
      if (!is_seen) free_.insert(at->second.id);
      at = is_seen ? std::next(at) : entries_.erase(at);
    }
  }

 private:
  struct Entry {
    std::uint32_t id = 0;
    bool is_seen = false;
  };
  std::map<std::string, Entry> entries_;
  std::set<std::uint32_t> free_;
  std::uint32_t next_ = 0;
};

}  // namespace capstan::op
