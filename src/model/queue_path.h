#pragma once

#include <cstddef>
#include <iterator>
#include <span>

#include "base/known_row.h"
#include "model/queue.h"

namespace capstan::model {

/// A queue and the queues above it, from the bottom to the top of the tree: `for (QueueId id : QueuePath(queues, id))`.
/// The GPUs of a pod count in all of them. The path is empty if the first queue is none.
class QueuePath {
 public:
  /// @param queues  must outlive this object; their parents form no loop
  QueuePath(std::span<const Queue> queues, QueueId first) : queues_(queues), first_(first) {}

  class Iterator {
   public:
    Iterator(std::span<const Queue> queues, QueueId at) : queues_(queues), at_(at) {}
    QueueId operator*() const { return at_; }
    Iterator& operator++() {
      at_ = known_row(queues_, at_.value).parent;
      return *this;
    }
    friend bool operator==(const Iterator& a, std::default_sentinel_t) { return !a.at_.valid(); }

   private:
    std::span<const Queue> queues_;
    QueueId at_;
  };

  Iterator begin() const { return {queues_, first_}; }
  static std::default_sentinel_t end() { return {}; }

 private:
  std::span<const Queue> queues_;
  QueueId first_;
};

}  // namespace capstan::model
