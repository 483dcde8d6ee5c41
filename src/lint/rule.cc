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

std::string_view name_of(FixSafety safety) {
  switch (safety) {
    case FixSafety::none:
      return "none";
    case FixSafety::safe:
      return "safe";
    case FixSafety::unsafe:
      return "unsafe";
  }
  return "none";
}

std::string_view option_for(FixSafety safety) {
  switch (safety) {
    case FixSafety::none:
      return "";
    case FixSafety::safe:
      return "--fix";
    case FixSafety::unsafe:
      return "--unsafe-fixes";
  }
  return "";
}

void Finding::add_edit(std::optional<Edit> edit, std::string text) {
  if (!edit) return;
  if (fix.edits.empty()) fix.text.clear();
  fix.text += (fix.edits.empty() ? "" : "; ") + std::move(text);
  fix.edits.push_back(std::move(*edit));
}

Finding& Finding::replace(const Value& value, std::string_view text) {
  add_edit(value_edit(*file, value, text), value.key.empty() ? fmt::format("replace {} with {}", value.text, text)
                                                             : fmt::format("set {} to {}", value.key, text));
  return *this;
}

Finding& Finding::replace_part(const Value& value, Span span, std::string_view text) {
  if (value.shared || span.size() == 0) return *this;
  const std::string_view old = file->parsed().substr(span.begin, span.size());
  add_edit(Edit{span, std::string(text)}, fmt::format("replace {} with {}", old, text));
  return *this;
}

Finding& Finding::unquote(const Value& value, std::string number) {
  std::string text = fmt::format("write {} {} without quotes", value.key, number);
  add_edit(unquoting_edit(value, std::move(number)), std::move(text));
  return *this;
}

Finding& Finding::quote(const Value& value) {
  std::string quoted = fmt::format("\"{}\"", value.text);
  std::string text = fmt::format("write {}{}{}", value.key, value.key.empty() ? "" : ": ", quoted);
  add_edit(unquoting_edit(value, std::move(quoted)), std::move(text));
  return *this;
}

Finding& Finding::rename_key(const Value& entry, std::string_view key) {
  add_edit(key_edit(*file, entry, key), fmt::format("rename {} to {}", entry.key, key));
  return *this;
}

Finding& Finding::replace_entry(const Value& entry, std::string_view key, std::string_view text) {
  std::optional<Edit> new_key = key_edit(*file, entry, key);
  std::optional<Edit> new_value = value_edit(*file, entry, text);
  if (!new_key || !new_value) return *this;
  add_edit(std::move(new_key), fmt::format("replace {}: {} with {}: {}", entry.key, entry.text, key, text));
  fix.edits.push_back(std::move(*new_value));
  return *this;
}

Finding& Finding::remove_entry(const Value& mapping, const Value& entry) {
  add_edit(removal_edit(*file, mapping, entry), fmt::format("delete {}", entry.key));
  return *this;
}

Finding& Finding::add_entry(const Value& mapping, const Value& after, std::string_view key, std::string_view value) {
  add_edit(insertion_edit(*file, mapping, after, key, value), fmt::format("add {}: {}", key, value));
  return *this;
}

Finding& Finding::set_meant_name(std::string_view name) {
  meant_name = name;
  return *this;
}

Finding& Finding::mark_unsafe() {
  fix.is_unsafe = true;
  return *this;
}

Finding& Finding::set_caution(std::string text) {
  fix.caution = std::move(text);
  return *this;
}

Finding& Finding::suggest(std::string text) {
  if (fix.edits.empty()) fix.text = std::move(text);
  return *this;
}

Finding& Finding::set_severity(Severity severity_in) {
  severity = severity_in;
  return *this;
}

Finding& Finding::mark_absence() {
  const bool is_patched = object != nullptr && file->is_patched(object->kind);
  if (file->is_excerpt() || is_patched) severity = Severity::info;
  return *this;
}

Finding& Finding::require_object(const Object& other, bool is_certain) {
  if (other.file != file) message += fmt::format(" ({})", other.file->path);
  if (!is_certain) {
    severity = Severity::info;
    fix = {};  // an uncertain finding changes no file
    message += "; this is advice, because nothing shows that both objects are deployed together";
  }
  return *this;
}

FixSafety Finding::safety() const {
  if (fix.edits.empty()) return FixSafety::none;
  return rule->fix_safety == FixSafety::safe && !fix.is_unsafe ? FixSafety::safe : FixSafety::unsafe;
}

std::string_view Finding::fix_text() const { return fix.text.empty() ? rule->fix : std::string_view(fix.text); }

Finding& Subject::report_span(Span span, std::string message) const {
  return out_.emplace_back(Finding{.rule = &rule_,
                                   .severity = rule_.severity,
                                   .file = object.file,
                                   .object = &object,
                                   .span = span,
                                   .message = std::move(message),
                                   .fix = {}});
}

Finding& Subject::require_object(Finding& finding, const Object& other, std::string_view name) const {
  const bool is_certain =
      name.empty() ? set.deployed_together(object, other) : set.belong_together(object, other, name);
  return finding.require_object(other, is_certain);
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
