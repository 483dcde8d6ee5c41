#include "lint/rule.h"

#include <fmt/format.h>

#include <utility>

namespace capstan::lint {

std::string_view name_of(Severity severity) {
  switch (severity) {
    case Severity::off:
      return "off";
    case Severity::info:
      return "info";
    case Severity::warning:
      return "warning";
    case Severity::error:
      return "error";
  }
  return "off";
}

namespace {

std::uint32_t line_start(std::string_view text, std::uint32_t offset) {
  const std::size_t line_break = offset == 0 ? text.npos : text.rfind('\n', offset - 1);
  return line_break == text.npos ? 0 : static_cast<std::uint32_t>(line_break + 1);
}

std::uint32_t next_line(std::string_view text, std::uint32_t offset) {
  const std::size_t line_break = text.find('\n', offset);
  return static_cast<std::uint32_t>(line_break == text.npos ? text.size() : line_break + 1);
}

bool only_spaces(std::string_view text) { return text.find_first_not_of(' ') == text.npos; }

}  // namespace

Finding& Finding::replace(const Value& value, std::string text) {
  if (value.shared || value.form != manifest::Form::scalar || value.span.size() == 0) return *this;
  fix.edits.push_back({value.span, std::move(text)});
  return *this;
}

Finding& Finding::remove_entry(const Value& mapping, const Value& entry) {
  const std::string_view text = file->parsed();
  if (mapping.style != manifest::Style::block || mapping.count < 2 || entry.shared || mapping.shared) return *this;
  const Span whole = entry_of(entry);
  const std::uint32_t begin = line_start(text, whole.begin);
  // The first entry of a list's item stands behind its dash, and cannot go with its line.
  if (!only_spaces(text.substr(begin, whole.begin - begin))) return *this;
  fix.edits.push_back({{begin, next_line(text, whole.end)}, ""});
  return *this;
}

Finding& Finding::insert_before(const Value& entry, std::string words) {
  const std::string_view text = file->parsed();
  if (entry.shared || entry.key_span.size() == 0) return *this;
  const std::uint32_t begin = line_start(text, entry.key_span.begin);
  const std::string indent(text.substr(begin, entry.key_span.begin - begin));
  if (!only_spaces(indent)) return *this;
  std::string lines = indent;
  for (const char c : words) {
    lines += c;
    if (c == '\n') lines += indent;
  }
  fix.edits.push_back({{begin, begin}, lines + "\n"});
  return *this;
}

Finding& Finding::suggest(std::string words) {
  fix.words = std::move(words);
  return *this;
}

Finding& Finding::as(Severity severity_in) {
  severity = severity_in;
  return *this;
}

Finding& Finding::of_absence() {
  const bool is_patched = object != nullptr && file->is_patched(object->kind);
  if (file->is_excerpt() || is_patched) severity = Severity::info;
  return *this;
}

Finding& Finding::joined_with(const Object& other, bool sure) {
  if (other.file != file) message += fmt::format(" ({})", other.file->path);
  if (!sure) {
    severity = Severity::info;
    fix.edits.clear();  // a guess is no reason to edit
    message += "; advice, as nothing shows that both are deployed together";
  }
  return *this;
}

Finding& Subject::report_span(Span span, std::string message) const {
  return out_.emplace_back(Finding{.rule = &rule_,
                                   .severity = rule_.severity,
                                   .file = object.file,
                                   .object = &object,
                                   .span = span,
                                   .message = std::move(message),
                                   .fix = {}});
}

Finding& Subject::join(Finding& finding, const Object& other, std::string_view name) const {
  const bool sure = name.empty() ? set.deployed_together(object, other) : set.belong_together(object, other, name);
  return finding.joined_with(other, sure);
}

Finding& Subject::report(const Value& value, std::string message) const {
  const bool one_line = value.form == manifest::Form::scalar && value.span.size() > 0;
  return report_span(one_line || value.key_span.size() == 0 ? value.span : value.key_span, std::move(message));
}

Finding& Subject::report_key(const Value& value, std::string message) const {
  return report_span(value.key_span.size() > 0 ? value.key_span : value.span, std::move(message));
}

Finding& Subject::report_object(std::string message) const {
  const Value& name = at(object, "metadata.name");
  return report(name ? name : object["kind"], std::move(message));
}

}  // namespace capstan::lint
