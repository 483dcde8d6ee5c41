#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "workload/source.h"

namespace capstan::workload {

/// A source of requests that are all known in advance, for tests.
class ListSource final : public Source {
 public:
  explicit ListSource(std::vector<Request> requests) : requests_(std::move(requests)) {}
  bool next(Request& request) override {
    if (next_ == requests_.size()) return false;
    request = requests_[next_++];
    return true;
  }

 private:
  std::vector<Request> requests_;
  std::size_t next_ = 0;
};

}  // namespace capstan::workload
