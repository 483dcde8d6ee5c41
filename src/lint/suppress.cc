#include "lint/suppress.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "lint/contains.h"
#include "lint/rules.h"

namespace capstan::lint {
namespace {

constexpr std::string_view kAnnotation = "lint.capstan.dev/ignore.";
constexpr std::string_view kForeign = "ignore-check.kube-linter.io/";

/// A comment or an annotation that accepts a finding.
struct Acceptance {
  const File* file = nullptr;
  const Object* object = nullptr;  ///< object of an annotation; null for a comment
  std::uint32_t line = 0;          ///< line that a comment applies to
  std::string_view rule;
  std::string_view reason;
  Span span;
  bool is_used = false;
  bool is_for_capstan = true;  ///< false if written for another linter that has a rule of the same name
};

std::string_view next_word(std::string_view& rest) {
  rest.remove_prefix(std::min(rest.find_first_not_of(" \t"), rest.size()));
  const std::string_view word = rest.substr(0, rest.find_first_of(" \t"));
  rest.remove_prefix(word.size());
  return word;
}

/// Reads `# capstan:ignore rule reason`. A comment alone on its line applies to the next line that is neither empty nor
/// a comment.
Acceptance read_comment(const File& file, std::size_t at) {
  const auto offset = static_cast<std::uint32_t>(at);
  const std::uint32_t number = file.lines().at(offset).line;
  const std::string_view line = file.lines().line(number);
  const std::size_t in_line = at - file.lines().offset_of_line(number);
  std::string_view rest = line.substr(std::min(in_line + kAcceptance.size(), line.size()));
  Acceptance accepted{.file = &file, .line = number, .rule = next_word(rest), .reason = {}, .span = {}};
  rest.remove_prefix(std::min(rest.find_first_not_of(" \t"), rest.size()));
  accepted.reason = rest;
  accepted.span = {offset, offset + static_cast<std::uint32_t>(line.size() - in_line)};
  const bool is_alone = line.find_first_not_of(" \t") == line.find('#');
  while (is_alone && accepted.line < file.lines().lines()) {
    const std::string_view next = file.lines().line(++accepted.line);
    const std::size_t first = next.find_first_not_of(" \t");
    if (first != next.npos && next[first] != '#') break;
  }
  return accepted;
}

void find_comments(const File& file, std::vector<Acceptance>& out) {
  if (!file.has_acceptances) return;
  const std::string_view text = file.text;
  for (std::size_t at = find_word(text, kAcceptance); at != text.npos; at = find_word(text, kAcceptance, at + 1)) {
    const std::size_t line = text.rfind('\n', at) + 1;
    if (text.substr(line, at - line).find('#') != std::string_view::npos) out.push_back(read_comment(file, at));
  }
}

void find_annotations(const Object& object, std::vector<Acceptance>& out) {
  for (const Value& entry : at(object, "metadata.annotations").children()) {
    const bool is_for_capstan = entry.key.starts_with(kAnnotation);
    if (!is_for_capstan && !entry.key.starts_with(kForeign)) continue;
    const std::string_view rule = entry.key.substr(is_for_capstan ? kAnnotation.size() : kForeign.size());
    if (!is_for_capstan && find_rule(rule) == nullptr) continue;
    out.push_back({.file = object.file,
                   .object = &object,
                   .line = 0,
                   .rule = rule,
                   .reason = entry.text,
                   .span = entry.key_span,
                   .is_used = false,
                   .is_for_capstan = is_for_capstan});
  }
}

bool applies_to(const Acceptance& accepted, const Finding& finding) {
  if (accepted.file != finding.file || accepted.rule != finding.rule->id || accepted.reason.empty()) return false;
  if (accepted.object != nullptr) return accepted.object == finding.object;
  const std::uint32_t first = finding.file->lines().at(finding.span.begin).line;
  const std::uint32_t last = finding.file->lines().at(finding.span.end).line;
  return first <= accepted.line && accepted.line <= last;
}

/// Returns the error in an acceptance; empty if the acceptance is valid.
std::string error_of(const Acceptance& accepted, const Options& options) {
  const std::string rule(accepted.rule);
  const Rule* known = find_rule(accepted.rule);
  if (known == nullptr) return "there is no rule \"" + rule + "\" to ignore";
  if (accepted.reason.empty()) return "the acceptance of " + rule + " has no reason, expected one after the rule";
  if (accepted.is_used) return "";
  const auto configured = options.severities.find(known->id);
  const bool off = configured != options.severities.end() ? configured->second == Severity::off
                                                          : known->severity == Severity::info && !options.advice;
  return off ? "" : rule + " is accepted here but finds nothing here";
}

}  // namespace

void suppress(Report& report, const Options& options) {
  std::vector<Acceptance> accepted;
  for (const auto& file : report.files) find_comments(*file, accepted);
  for (const Object& object : report.objects) find_annotations(object, accepted);
  if (accepted.empty()) return;
  std::erase_if(report.findings, [&](const Finding& finding) {
    bool gone = false;
    for (Acceptance& one : accepted) {
      if (!applies_to(one, finding)) continue;
      one.is_used = gone = true;
    }
    if (gone && finding.severity != Severity::off) ++report.summary.suppressed;
    return gone;
  });
  const Rule* unused = find_rule("unused-suppression");
  for (const Acceptance& one : accepted) {
    const std::string fault = one.is_for_capstan ? error_of(one, options) : "";
    if (fault.empty()) continue;
    report.findings.push_back({.rule = unused,
                               .severity = unused->severity,
                               .file = one.file,
                               .object = one.object,
                               .span = one.span,
                               .message = fault,
                               .fix = {}});
  }
}

}  // namespace capstan::lint
