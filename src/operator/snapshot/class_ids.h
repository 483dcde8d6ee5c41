#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace capstan::op {

/// Gives classes small ids, so that a vector with one flag for each class can be indexed by id. The text of a class
/// contains everything that distinguishes it. A class keeps its id as long as it is in use at the end of each pass. The
/// id of a class that is no longer in use is reused only by a later pass, so two successive passes never give one id to
/// different classes.
class ClassIds {
 public:
  /// Returns the id of a class and counts one more use of it.
  std::uint32_t acquire(const std::string& text) {
    const auto [found, is_new] = ids_.try_emplace(text);
    if (is_new) {
      found->second =
          free_.empty() ? static_cast<std::uint32_t>(classes_.size()) : free_.extract(free_.begin()).value();
      if (found->second == classes_.size()) classes_.emplace_back();
      classes_[found->second].text = text;
    }
    ++classes_[found->second].uses;
    return found->second;
  }

  /// Ends one use of a class.
  void release(std::uint32_t id) {
    if (--classes_[id].uses == 0) unused_.insert(id);
  }
  /// Ends all uses, at the start of a pass that counts them again.
  void release_all() {
    for (const auto& [text, id] : ids_) {
      classes_[id].uses = 0;
      unused_.insert(id);
    }
  }

  /// Returns a number above all ids.
  std::size_t end() const { return classes_.size(); }

  /// Ends a pass: forgets the classes that are not in use.
  /// @return their ids
  std::vector<std::uint32_t> forget_unused() {
    std::vector<std::uint32_t> forgotten;
    for (const std::uint32_t id : unused_) {
      if (classes_[id].uses > 0) continue;
      ids_.erase(classes_[id].text);
      free_.insert(id);
      forgotten.push_back(id);
    }
    unused_.clear();
    return forgotten;
  }

 private:
  struct Class {
    std::string text;
    std::size_t uses = 0;
  };
  std::map<std::string, std::uint32_t> ids_;
  std::vector<Class> classes_;      ///< classes by id
  std::set<std::uint32_t> unused_;  ///< classes that were without a use at some time since the last pass
  std::set<std::uint32_t> free_;
};

}  // namespace capstan::op
