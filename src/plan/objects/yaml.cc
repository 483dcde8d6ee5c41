#include "plan/objects/yaml.h"

#include <algorithm>
#include <array>

#include "base/ascii.h"
#include "base/assert.h"

namespace capstan::plan {

namespace {

constexpr std::size_t kYamlIndent = 2;

bool is_plain_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("-_./ ()=~<>+,;%$").find(c) != std::string_view::npos;
}

/// Returns true if YAML 1.1 or 1.2 could read the text as a number, a date, a boolean or null. Kubernetes reads
/// YAML 1.1.
bool reads_as_another_type(std::string_view text) {
  static constexpr std::array<std::string_view, 12> kWords = {"true", "false", "yes", "no",   "on",   "off",
                                                              "null", "y",     "n",   ".nan", ".inf", "~"};
  std::string lower(text);
  std::ranges::transform(lower, lower.begin(), ascii_lower);
  if (std::ranges::find(kWords, lower) != kWords.end()) return true;
  const char first = text.front();
  return (first >= '0' && first <= '9') || first == '.' || first == '+' || first == '-' || first == '=' || first == '<';
}

bool needs_yaml_quotes(std::string_view text) {
  if (text.empty() || text.front() == ' ' || text.back() == ' ' || reads_as_another_type(text)) return true;
  if (std::string_view("~%,>").find(text.front()) != std::string_view::npos) return true;
  // A colon is safe inside a word, as in an image or an address.
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool inside_word = text[i] == ':' && i + 1 < text.size() && text[i + 1] != ' ';
    if (!is_plain_character(text[i]) && !inside_word) return true;
  }
  return false;
}

std::string yaml_quoted(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') out += '\\';
    if (c == '\t') {
      out += "\\t";
    } else if (c == '\n') {
      out += "\\n";
    } else {
      out += c;
    }
  }
  return out + '"';
}

void write_yaml_lines(std::string& out, std::string_view text, std::size_t indent, std::string_view prefix) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(at, end - at);
    if (!line.empty() || !prefix.empty()) out.append(indent, ' ').append(prefix).append(line);
    out += '\n';
    at = end + 1;
  }
}

}  // namespace

Yaml Yaml::plain(std::string_view text) {
  Yaml made(text);
  made.kind_ = Kind::plain;
  return made;
}

Yaml Yaml::map(std::initializer_list<Entry> entries) {
  Yaml made;
  for (const auto& [key, value] : entries) made.set(key, value);
  return made;
}

Yaml Yaml::list(std::initializer_list<Yaml> elements) {
  Yaml made;
  made.kind_ = Kind::list;
  made.elements_ = elements;
  return made;
}

Yaml Yaml::list(const std::vector<std::string>& elements) {
  Yaml made = list();
  for (const std::string& element : elements) made.add(element);
  return made;
}

Yaml& Yaml::operator[](std::string_view key) {
  CAPSTAN_ASSERT(kind_ == Kind::map);
  for (auto& [name, value] : entries_) {
    if (name == key) return value;
  }
  return entries_.emplace_back(std::string(key), Yaml()).second;
}

Yaml& Yaml::set(std::string_view key, Yaml value, std::string_view comment) {
  if (!comment.empty()) value.comment_ = comment;
  (*this)[key] = std::move(value);
  return *this;
}

Yaml& Yaml::add(Yaml element) {
  CAPSTAN_ASSERT(kind_ == Kind::list);
  return elements_.emplace_back(std::move(element));
}

Yaml&& Yaml::with_comment(std::string_view comment) && {
  comment_ = comment;
  return std::move(*this);
}

std::string Yaml::reason() const {
  constexpr std::string_view kIgnore = "capstan:ignore ";
  if (!comment_.starts_with(kIgnore)) return comment_;
  const std::size_t end = comment_.find(' ', kIgnore.size());
  return end == comment_.npos ? std::string() : comment_.substr(end + 1);
}

const Yaml* Yaml::find(std::string_view key) const {
  for (const auto& [name, value] : entries_) {
    if (name == key) return &value;
  }
  return nullptr;
}

std::string Yaml::document() const {
  std::string out;
  write_yaml_lines(out, comment_, 0, "# ");
  write(out, 0);
  return out;
}

std::string Yaml::flow() const {
  if (kind_ == Kind::plain) return text_;
  if (kind_ == Kind::text) return yaml_quoted(text_);
  std::string out;
  for (const auto& [key, value] : entries_) {
    out += (out.empty() ? "" : ", ") + yaml_quoted(key) + ": " + value.flow();
  }
  for (const Yaml& element : elements_) out += (out.empty() ? "" : ", ") + element.flow();
  return kind_ == Kind::map ? "{" + out + "}" : "[" + out + "]";
}

void Yaml::write(std::string& out, std::size_t indent) const {
  if (kind_ == Kind::map && !entries_.empty()) return write_entries(out, indent, false);
  if (kind_ == Kind::list && !elements_.empty()) return write_elements(out, indent);
  write_value(out, indent);
}

void Yaml::write_entries(std::string& out, std::size_t indent, bool after_dash) const {
  for (const auto& [key, value] : entries_) {
    if (!after_dash) {
      write_yaml_lines(out, value.comment_, indent, "# ");
      out.append(indent, ' ');
    }
    after_dash = false;
    out += needs_yaml_quotes(key) ? yaml_quoted(key) : key;
    out += ':';
    if (value.kind_ == Kind::map && !value.entries_.empty()) {
      out += '\n';
      value.write_entries(out, indent + kYamlIndent, false);
    } else if (value.kind_ == Kind::list && !value.elements_.empty()) {
      out += '\n';
      value.write_elements(out, indent);
    } else {
      out += ' ';
      value.write_value(out, indent + kYamlIndent);
    }
  }
}

void Yaml::write_elements(std::string& out, std::size_t indent) const {
  for (const Yaml& element : elements_) {
    write_yaml_lines(out, element.comment_, indent, "# ");
    // The comment of a mapping's first key would stand between the dash and the key.
    if (element.kind_ == Kind::map && !element.entries_.empty()) {
      write_yaml_lines(out, element.entries_.front().second.comment_, indent, "# ");
    }
    out.append(indent, ' ').append("- ");
    if (element.kind_ == Kind::map && !element.entries_.empty()) {
      element.write_entries(out, indent + kYamlIndent, true);
    } else if (element.kind_ == Kind::list && !element.elements_.empty()) {
      out += '\n';
      element.write_elements(out, indent + kYamlIndent);
    } else {
      element.write_value(out, indent + kYamlIndent);
    }
  }
}

void Yaml::write_value(std::string& out, std::size_t indent) const {
  if (kind_ == Kind::map) out += "{}\n";
  if (kind_ == Kind::list) out += "[]\n";
  if (kind_ == Kind::plain) out += text_ + "\n";
  if (kind_ != Kind::text) return;
  if (text_.find('\n') == std::string::npos) {
    out += (needs_yaml_quotes(text_) ? yaml_quoted(text_) : text_) + "\n";
  } else {
    out += text_.ends_with('\n') ? "|\n" : "|-\n";
    write_yaml_lines(out, text_, indent, "");
  }
}

}  // namespace capstan::plan
