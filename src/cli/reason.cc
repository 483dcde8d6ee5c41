#include "cli/reason.h"

#include <fmt/format.h>

#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "cli/terminal.h"
#include "explain/reason_page.h"
#include "manifest/fields.h"
#include "model/reason_help.h"

namespace capstan::cli {
namespace {

/// Returns the codes that the person may mean: the most similar one, or the codes that begin with the word. If there is
/// none, it returns an example.
std::string meant_codes(const std::string& word) {
  constexpr std::size_t kShown = 5;
  std::vector<std::string_view> names;
  for (std::size_t i = 0; i < model::reason_count(); ++i) names.push_back(name(static_cast<model::ReasonCode>(i)));
  if (const std::string_view meant = manifest::did_you_mean(word, names); !meant.empty()) {
    return fmt::format(" (did you mean {}?)", meant);
  }
  std::erase_if(names, [&](std::string_view name) { return word.empty() || !name.starts_with(word); });
  if (names.empty()) return " such as queue_limit";
  if (names.size() > kShown) names.resize(kShown);
  return fmt::format(" (did you mean {}?)", manifest::one_of(names));
}

}  // namespace

ExitCode explain_reason(const ReasonArguments& arguments) {
  const std::optional<model::ReasonCode> code = model::find_reason(arguments.code);
  if (!code) {
    return report({ErrorKind::usage, "CODE", 0, 0,
                   fmt::format("\"{}\" is no reason code, expected one of docs/reference/troubleshooting.md{}",
                               arguments.code, meant_codes(arguments.code))});
  }
  if (arguments.output == Output::text) {
    return print(explain::reason_entry(*code, static_cast<std::size_t>(output_width())));
  }
  const model::ReasonHelp& help = model::help(*code);
  const nlohmann::ordered_json json = {
      {"format_version", 1},     {"code", model::name(*code)}, {"numbers", model::number_meanings(help)},
      {"meaning", help.meaning}, {"causes", help.causes},      {"remedy", help.remedy}};
  return print(json.dump(2) + "\n");
}

}  // namespace capstan::cli
