#include "explain/reason_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <vector>

#include "model/reason_help.h"
#include "model/reason_sentence.h"

namespace capstan::explain {
namespace {

using model::ReasonCode;

constexpr std::size_t kPageWidth = 120;

/// A group of consecutive codes in model/reasons.inc.
struct Group {
  ReasonCode first;
  std::string_view title;
  std::string_view about;
};
constexpr Group kGroups[] = {
    {ReasonCode::queue_above_target, "Scale: how many replicas",
     "`status.reason` and Events of an InferenceScaler, and `capstan explain SERVICE`."},
    {ReasonCode::placed_together, "Place: which pods go where",
     "Events and the condition `PodScheduled` of pods that wait, and `capstan explain POD`."},
    {ReasonCode::launch_for_pod, "Provision: which nodes come and go",
     "Events of pods that wait for a node, and `capstan explain NODE`."},
    {ReasonCode::outcome_refused, "Control: what happened to an action",
     "The log of `capstan run`, and results of a simulation."},
    {ReasonCode::halted, "Act: how the API server answered", "The log of `capstan run`."},
    {ReasonCode::passes_off, "Passes: what is switched off", "Results of a simulation."},
    {ReasonCode::below_minimum, "Scale: counts outside the bounds",
     "`status.reason` and Events of an InferenceScaler, and `capstan explain SERVICE`."},
    {ReasonCode::pool_node_limit, "Provision: limits and budgets of one pool",
     "Events of pods that wait for a node, and `capstan explain NODE`."},
    {ReasonCode::pods_missing, "Place and provision: what a gang lacks although GPUs are free",
     "Events and the condition `PodScheduled` of pods that wait, and `capstan explain POD`."},
};

/// Returns `start` and the words of `text`, broken into lines of at most `width` characters. Lines after the first
/// begin with `indent` instead.
std::string wrapped(std::string_view start, std::string_view text, std::string_view indent, std::size_t width) {
  std::string out(start);
  std::size_t column = start.size();
  bool line_has_word = false;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    if (line_has_word && column + 1 + word.size() > width) {
      out += fmt::format("\n{}{}", indent, word);
      column = indent.size() + word.size();
    } else {
      out += fmt::format("{}{}", line_has_word ? " " : "", word);
      column += word.size() + (line_has_word ? 1 : 0);
    }
    line_has_word = true;
    text.remove_prefix(std::min(text.size(), word.size() + 1));
  }
  return out + '\n';
}

std::string example(const model::ReasonHelp& row) {
  return model::sentence(model::Reason{row.code, row.example}, model::example_catalog());
}

/// Returns the meaning of each number of a code, with its position: "0: ...; 1: ...".
std::string numbers_text(const model::ReasonHelp& row) {
  std::string out;
  const std::vector<std::string_view> parts = number_meanings(row);
  for (std::size_t i = 0; i < parts.size(); ++i) out += fmt::format("{}{}: {}", i == 0 ? "" : "; ", i, parts[i]);
  return out.empty() ? "none" : out;
}

std::string section(const model::ReasonHelp& row) {
  return fmt::format("### {}\n\n", model::name(row.code)) + wrapped("> ", example(row), "> ", kPageWidth) + '\n' +
         wrapped("", row.meaning, "", kPageWidth) + '\n' +
         wrapped("- **Numbers**: ", numbers_text(row) + ".", "  ", kPageWidth) +
         wrapped("- **Usual causes**: ", row.causes, "  ", kPageWidth) +
         wrapped("- **What to do**: ", row.remedy, "  ", kPageWidth) + '\n';
}

constexpr std::string_view kIntroduction =
    R"(# Troubleshooting by reason code

To look up one code, without a cluster:

```sh
capstan explain reason queue_limit
```

Every decision of Capstan, and every decision to change nothing, has a reason: a code, numbers and a sentence. The code
is `status.reason` of an InferenceScaler, `reason` in the log of `capstan run`, and `code` in the output of `-o json`.
An Event has the same code in another spelling: `QueueLimit` is `queue_limit`. A code never changes its meaning.

To see the reasons of one object with all numbers, save what the controller sees and ask for the object:

```sh
capstan snapshot > now.json
capstan explain chat --snapshot now.json
```

The sentences below are examples. `numbers` in the output of `-o json` has the numbers of a code at the positions that
are named here; an id of -1 means that there is no object. Generated from `src/model/reason_help.inc` by
`scripts/generate`.

)";

}  // namespace

std::string troubleshooting_page() {
  std::vector<std::string> index;
  std::string sections;
  for (std::size_t i = 0; i < model::reason_count(); ++i) {
    const model::ReasonHelp& row = model::help(static_cast<ReasonCode>(i));
    const auto group = std::ranges::find(kGroups, row.code, &Group::first);
    if (group != std::end(kGroups)) {
      sections +=
          fmt::format("## {}\n\n{}", group->title, wrapped("Where it is shown: ", group->about, "", kPageWidth) + '\n');
    }
    index.push_back(fmt::format("| [`{0}`](#{0}) | {1} |\n", model::name(row.code), row.meaning));
    sections += section(row);
  }
  while (sections.ends_with("\n\n")) sections.pop_back();
  std::ranges::sort(index);
  std::string table = "| code | meaning |\n|---|---|\n";
  for (const std::string& row : index) table += row;
  return std::string(kIntroduction) + table + '\n' + sections;
}

std::string reason_entry(ReasonCode code, std::size_t width) {
  const model::ReasonHelp& row = model::help(code);
  std::string out = fmt::format("{}\n\n", model::name(code));
  out += wrapped("  Example: ", example(row), "  ", width) + '\n' + wrapped("", row.meaning, "", width) + '\n';
  const std::vector<std::string_view> numbers = number_meanings(row);
  if (!numbers.empty()) out += "Numbers:\n";
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    out += wrapped(fmt::format("  {}  ", i), numbers[i], "     ", width);
  }
  if (!numbers.empty()) out += '\n';
  out += wrapped("Usual causes: ", row.causes, "", width);
  out += wrapped("What to do: ", row.remedy, "", width);
  return out;
}

}  // namespace capstan::explain
