#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/shared_table.h"
#include "base/time.h"
#include "kube/json.h"
#include "kube/meta.h"

namespace capstan::kube {

/// A row of a store. The row of a deleted object may be reused for another one, which has another `uid`.
using RowId = Id<struct RowTag>;

/// Receives the changes that a watcher sees. `Store` implements it.
class Sink {
 public:
  virtual ~Sink() = default;
  virtual void begin() = 0;             ///< starts a new copy; the old one stays in use
  virtual bool stage(Json object) = 0;  ///< puts an object into the new copy; false if it is not a valid object
  virtual void unstage(Json object) = 0;
  virtual void finish() = 0;          ///< replaces the old copy by the new one
  virtual bool set(Json object) = 0;  ///< sets an object in the copy in use; false if it is not a valid object
  virtual void erase(Json object) = 0;
  virtual void fresh(Instant now) = 0;  ///< records that the server has reported its current state
};

/// The objects of one kind at one time. Immutable; copies are cheap because they share structure.
template <typename View>
struct StoreSnapshot {
  SharedTable<RowId, std::shared_ptr<const View>> rows;
  std::uint64_t version = 0;  ///< grows with every change
  bool synced = false;        ///< the copy was complete at least once; before that, an absent object may exist
  Instant fresh_at;           ///< time of the last report of the server; on a quiet watch, bookmarks come once a minute

  Duration age(Instant now) const { return now - fresh_at; }

  /// Calls `visit(RowId, const View&)` for each object, in the order of rows.
  template <typename Visit>
  void for_each(Visit&& visit) const {
    rows.for_each([&](RowId id, const std::shared_ptr<const View>& view) { visit(id, *view); });
  }
};

/// A copy of the objects of one kind, as views that `View read_view(Json)` makes. A relist does not touch the rows of
/// unchanged objects (same UID and resource version).
template <typename View>
class Store final : public Sink {
 public:
  using Read = View (*)(Json object);
  explicit Store(Read read) : read_(read) {}

  const StoreSnapshot<View>& snapshot() const { return now_; }

  const View* find(std::string_view ns, std::string_view name) const {
    const auto found = by_key_.find(key_of(ns, name));
    return found == by_key_.end() ? nullptr : now_.rows.at(found->second).get();
  }

  /// Returns the rows that were set or erased since the last call, ascending.
  std::vector<RowId> take_changes() {
    const std::set<RowId> changed = std::exchange(changed_, {});
    return {changed.begin(), changed.end()};
  }

  void begin() override { staged_.clear(); }

  bool stage(Json object) override {
    const auto view = std::make_shared<const View>(read_(object));
    if (view->meta.name.empty()) return false;
    staged_[view->meta.key()] = view;
    return true;
  }

  void unstage(Json object) override { staged_.erase(read_meta(object).key()); }

  void finish() override {
    std::vector<RowId> gone;
    for (const auto& [key, row] : by_key_) {
      if (!staged_.contains(key)) gone.push_back(row);
    }
    for (const RowId row : gone) erase_row(row);
    for (auto& [key, view] : staged_) put(key, std::move(view));
    staged_.clear();
    now_.synced = true;
  }

  bool set(Json object) override {
    auto view = std::make_shared<const View>(read_(object));
    if (view->meta.name.empty()) return false;
    const std::string key = view->meta.key();
    put(key, std::move(view));
    return true;
  }

  void erase(Json object) override {
    const auto found = by_key_.find(read_meta(object).key());
    if (found != by_key_.end()) erase_row(found->second);
  }

  void fresh(Instant now) override { now_.fresh_at = now; }

 private:
  void put(const std::string& key, std::shared_ptr<const View> view) {
    const auto [at, inserted] = by_key_.try_emplace(key);
    if (inserted) {
      at->second = free_rows_.empty() ? RowId{next_row_++} : free_rows_.back();
      if (!free_rows_.empty()) free_rows_.pop_back();
    } else {
      const Meta& old = now_.rows.at(at->second)->meta;
      if (old.uid == view->meta.uid && old.resource_version == view->meta.resource_version) return;
    }
    now_.rows.set(at->second, std::move(view));
    note(at->second);
  }

  void erase_row(RowId row) {
    by_key_.erase(now_.rows.at(row)->meta.key());
    now_.rows.erase(row);
    free_rows_.push_back(row);
    note(row);
  }

  void note(RowId row) {
    changed_.insert(row);
    ++now_.version;
  }

  Read read_;
  StoreSnapshot<View> now_;
  std::map<std::string, RowId> by_key_;
  std::map<std::string, std::shared_ptr<const View>> staged_;
  std::vector<RowId> free_rows_;
  std::uint32_t next_row_ = 0;
  std::set<RowId> changed_;
};

}  // namespace capstan::kube
