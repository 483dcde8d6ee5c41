#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "workload/source.h"

namespace capstan::workload {

/// Requests that are all known beforehand, such as a test's.
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
