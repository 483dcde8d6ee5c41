#include "manifest/errors.h"

#include <algorithm>
#include <set>
#include <tuple>

#include "base/unit_text.h"

namespace capstan::manifest {

namespace {

/// Returns place and cause without the name of the setting, because several roles or variants may inherit one value.
std::string cause(const Error& error) {
  const std::size_t colon = error.message.find(": ");
  if (error.line == 0 || colon == std::string::npos) return error.text();
  return std::to_string(error.line) + ":" + std::to_string(error.column) + error.message.substr(colon) + error.file;
}

}  // namespace

Errors::Errors(std::vector<Error> errors) {
  std::ranges::stable_sort(errors, {}, [](const Error& e) { return std::tie(e.file, e.line, e.column); });
  const auto has = [&](ErrorKind wanted) { return std::ranges::find(errors, wanted, &Error::kind) != errors.end(); };
  kind = has(ErrorKind::input) ? ErrorKind::input : has(ErrorKind::usage) ? ErrorKind::usage : ErrorKind::infeasible;
  std::set<std::string> seen;
  for (Error& error : errors) {
    if (seen.insert(cause(error)).second) list.push_back(std::move(error));
  }
}

std::string Errors::text() const {
  std::string text;
  for (std::size_t i = 0; i < list.size() && i < kShown; ++i) text += (i > 0 ? "\n" : "") + list[i].text();
  if (list.size() <= kShown) return text;
  return text + "\nand " + count_text(static_cast<std::int64_t>(list.size() - kShown), "more error", "more errors");
}

}  // namespace capstan::manifest
