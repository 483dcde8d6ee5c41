#pragma once

#include <string>
#include <vector>

#include "base/error.h"

// Errors of the command line in the form of all other errors: place, what was found, what is expected.
namespace capstan::cli {

/// A command line that could not be parsed.
struct UsageFault {
  std::string message;                  ///< the message of CLI11
  std::string command;                  ///< the innermost command that was named: "capstan sim"
  std::vector<std::string> commands{};  ///< the subcommands of this command
  std::vector<std::string> options{};   ///< the options of this command: "--seed"
  std::string footer{};                 ///< the end of its help; the first example follows "Example:" or "Examples:"
};

/// Returns the error for a fault, with the command as its place. A message of CLI11 for which `usage_error.cc` has no
/// words of its own is not changed.
Error usage_error(const UsageFault& fault);

}  // namespace capstan::cli
