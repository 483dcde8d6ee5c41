#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "model/catalog.h"
#include "model/reason.h"

namespace capstan::model {

/// Help for an operator about one reason code. The rows are in model/reason_help.inc.
struct ReasonHelp {
  ReasonCode code{};
  ReasonNumbers example{};   ///< typical numbers, of objects of `example_catalog`
  std::string_view numbers;  ///< meaning and unit of each number, separated by "; "
  std::string_view meaning;
  std::string_view causes;
  std::string_view remedy;
};

const ReasonHelp& help(ReasonCode code);
/// Returns the meaning of each number of a code, by position.
std::vector<std::string_view> number_meanings(const ReasonHelp& row);

/// Returns the code with this name: "queue_limit", or "QueueLimit" as the reason of an Event.
std::optional<ReasonCode> find_reason(std::string_view name);

/// Returns a small catalog that has the objects of all examples.
const Catalog& example_catalog();

}  // namespace capstan::model
