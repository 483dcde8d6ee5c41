// Reads any bytes as a file of cases. Every peer then runs the cases and must return a result or an error for each.
#include <algorithm>
#include <string>
#include <string_view>

#include "check_error.h"
#include "conformance/run.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace capstan;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const Result<std::vector<conformance::Case>> cases = conformance::parse_cases(text, "fuzz.json");
  if (!cases) {
    fuzz::check_error(cases.error());
    return 0;
  }
  const std::string names = conformance::suite_names();
  for (std::size_t from = 0; from < names.size();) {
    const std::size_t end = std::min(names.find(", ", from), names.size());
    const conformance::Suite* suite = conformance::find_suite(std::string_view(names).substr(from, end - from));
    CAPSTAN_ASSERT(suite != nullptr);
    const conformance::Report report = conformance::run(*suite, *cases);
    CAPSTAN_ASSERT(report.passed + report.failed.size() == cases->size());
    (void)conformance::to_json(report);
    from = end + 2;
  }
  return 0;
}
