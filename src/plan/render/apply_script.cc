#include "plan/render/apply_script.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "plan/render/prerequisites.h"

namespace capstan::plan {

namespace {

/// Joins the commands that apply the scalers of the services into one: "kubectl apply -f a.yaml -f b.yaml".
std::vector<ApplyCommand> with_joined_scalers(std::vector<ApplyCommand> commands) {
  static constexpr std::string_view kApply = "kubectl apply";
  const auto applies_scaler = [](const ApplyCommand& command) {
    return command.step == ApplyStep::scaler && !command.is_optional && command.command.starts_with(kApply);
  };
  std::vector<ApplyCommand> out;
  for (ApplyCommand& command : commands) {
    if (!out.empty() && applies_scaler(out.back()) && applies_scaler(command)) {
      out.back().command += command.command.substr(kApply.size());
      out.back().purpose = "the scalers";
    } else {
      out.push_back(std::move(command));
    }
  }
  return out;
}

/// Returns the text as one comment line of the script. Line breaks become spaces, so that no part of it is a command.
std::string comment(std::string text) {
  std::ranges::replace(text, '\n', ' ');
  return "# " + text + '\n';
}

}  // namespace

std::vector<ApplyCommand> chosen_commands(const Plan& plan) {
  std::vector<ApplyCommand> out;
  for (const Section& section : plan.sections) {
    for (const ApplyCommand& command : section.apply) {
      const bool is_other_option = !command.alternative.choice.empty() && !command.alternative.is_chosen;
      if (!is_other_option || command.is_optional) out.push_back(command);
    }
  }
  std::ranges::stable_sort(out, {}, &ApplyCommand::step);
  const auto same = [](const ApplyCommand& a, const ApplyCommand& b) { return a.command == b.command; };
  const auto rest = std::ranges::unique(out, same);
  out.erase(rest.begin(), rest.end());
  return with_joined_scalers(std::move(out));
}

std::string apply_script(const Plan& plan) {
  std::string out = "#!/bin/sh\n";
  out += comment(fmt::format("Applies the plan {} in the order in which its parts work.", plan.spec.name));
  out += comment("It ends at the first command that fails. Commands that are optional are comments.");
  out += "set -eu\ncd \"$(dirname \"$0\")\"\n" + prerequisite_check(plan);
  for (const ApplyCommand& command : chosen_commands(plan)) {
    out += '\n' + comment((command.is_optional ? "optional: " : "") + command.purpose);
    out += command.is_optional ? comment(command.command) : command.command + '\n';
  }
  return out;
}

}  // namespace capstan::plan
