#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "decide/index.h"

namespace capstan::decide {

/// Speculation on the rooms of an index: what is taken here is put back at the end, or earlier by rollback(), so that
/// the index comes out as it went in. Costs what is taken; a copy of the rooms would cost what exists.
class Overlay {
 public:
  explicit Overlay(Rooms& rooms) : rooms_(rooms) {}
  ~Overlay() { rollback(0); }
  Overlay(const Overlay&) = delete;
  Overlay& operator=(const Overlay&) = delete;

  const Rooms& rooms() const { return rooms_; }
  void take(NodeId node, MilliGpu gpus);  ///< from a node that has it
  void erase(NodeId node);                ///< as if it were gone

  using Mark = std::size_t;
  Mark mark() const { return before_.size(); }
  void rollback(Mark mark);  ///< to how it was at `mark`

 private:
  Rooms& rooms_;
  std::vector<std::pair<NodeId, NodeRoom>> before_;  ///< what each change replaced, oldest first
};

}  // namespace capstan::decide
