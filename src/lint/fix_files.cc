#include "lint/fix_files.h"

#include <fmt/format.h>

#include <filesystem>
#include <system_error>

#include "base/file.h"
#include "base/replace_file.h"

namespace capstan::lint {
namespace {

std::string note(const Finding& finding, std::string_view words) {
  const auto place = finding.file->lines().at(finding.span.begin);
  return fmt::format("{}:{}:{}: {}: {}\n", finding.file->path, place.line, place.column, finding.rule->id, words);
}

std::string counted(std::size_t count, std::string_view one) {
  return fmt::format("{} {}{}", count, one, count == 1 ? "" : "s");
}

Result<void> write_fix(const FixedFile& fixed) {
  const File& file = *fixed.file;
  std::error_code unknown;
  if (!std::filesystem::is_regular_file(file.path, unknown)) {
    return std::unexpected(Error::about(file.path, "is not a regular file, expected one that can be written"));
  }
  if (read_file(file.path, file.text.size()) != file.text) {
    return std::unexpected(Error::about(file.path, "changed since it was read, so it is left as it is"));
  }
  return replace_file(file.path, fixed.text);
}

}  // namespace

std::string diff_of(const std::vector<FixedFile>& files) {
  std::string out;
  for (const FixedFile& fixed : files) {
    out += unified_diff(fixed.file->path, fixed.file->text, fixed.text);
  }
  return out;
}

std::string fix_notes(const std::vector<FixedFile>& files) {
  std::string out;
  for (const FixedFile& fixed : files) {
    for (const Finding* finding : fixed.fixed) {
      if (!finding->fix.caution.empty()) out += note(*finding, "caution: " + finding->fix.caution);
    }
    for (const Finding* finding : fixed.refused) {
      out += note(*finding, "not fixed: the edit would also change something else");
    }
    for (const Finding* finding : fixed.overlapping) {
      out += note(*finding, "not fixed: another fix changes the same text; run it again");
    }
  }
  return out;
}

std::string fixed_words(const std::vector<FixedFile>& files) {
  std::size_t findings = 0, changed = 0;
  for (const FixedFile& fixed : files) {
    findings += fixed.fixed.size();
    changed += fixed.fixed.empty() ? 0 : 1;
  }
  return fmt::format("fixed {} in {}\n", counted(findings, "finding"), counted(changed, "file"));
}

std::vector<Error> write_fixes(const std::vector<FixedFile>& files) {
  std::vector<Error> errors;
  for (const FixedFile& fixed : files) {
    if (fixed.fixed.empty()) continue;
    if (Result<void> written = write_fix(fixed); !written) errors.push_back(std::move(written.error()));
  }
  return errors;
}

}  // namespace capstan::lint
