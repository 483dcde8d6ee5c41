#pragma once

#include <string>
#include <string_view>
#include <utility>

#include "plan/result/plan.h"

namespace capstan::plan {

/// Adds statements about one service or workload to a section. The subject begins the name of each.
class SubjectStatements {
 public:
  /// @param subject  "chat-prefill"; empty: the names have no subject
  /// @param out      must outlive this object
  SubjectStatements(std::string subject, Section& out) : subject_(std::move(subject)), out_(out) {}

  void add(std::string_view name, std::string value, std::string why, Evidence evidence,
           Visibility visibility = Visibility::details) {
    out_.statements.push_back({.name = (subject_.empty() ? "" : subject_ + " ") + std::string(name),
                               .value = std::move(value),
                               .why = std::move(why),
                               .evidence = evidence,
                               .visibility = visibility,
                               .subject = subject_});
  }

 private:
  std::string subject_;
  Section& out_;
};

}  // namespace capstan::plan
