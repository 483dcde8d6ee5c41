#include "cli/reason.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "cli/terminal.h"
#include "explain/reason_page.h"
#include "model/reason_help.h"

namespace capstan::cli {

ExitCode explain_reason(const ReasonArguments& arguments) {
  const std::optional<model::ReasonCode> code = model::find_reason(arguments.code);
  if (!code) {
    return report({ErrorKind::usage, "CODE", 0, 0,
                   fmt::format("\"{}\" is no reason code, expected one of docs/reference/troubleshooting.md such as "
                               "queue_limit",
                               arguments.code)});
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
