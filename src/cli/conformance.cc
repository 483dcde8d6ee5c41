#include "cli/conformance.h"

#include "base/input_file.h"
#include "conformance/run.h"

namespace capstan::cli {

ExitCode conformance(const ConformanceArguments& arguments) {
  const conformance::Suite* suite = conformance::find_suite(arguments.suite);
  if (suite == nullptr) {
    return report({ErrorKind::usage, "suite", 0, 0,
                   "found \"" + arguments.suite + "\", expected one of " + conformance::suite_names()});
  }
  const Result<std::string> text = read_input(arguments.cases, "a file of cases");
  if (!text) return report(text.error());
  const Result<std::vector<conformance::Case>> cases = conformance::parse_cases(*text, arguments.cases);
  if (!cases) return report(cases.error());
  const conformance::Report result = conformance::run(*suite, *cases);
  const ExitCode printed = print(arguments.output == Output::json ? to_json(result) : to_text(result));
  return printed != kOk ? printed : result.failed.empty() ? kOk : kFindings;
}

}  // namespace capstan::cli
