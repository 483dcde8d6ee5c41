#include "lint/input/recognise.h"

#include <algorithm>

#include "lint/contains.h"
#include "manifest/document.h"

namespace capstan::lint {
namespace {

bool is_word(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/// Returns true if the text after `{{` begins like a template of Go or Jinja, and not like a quoted variable.
bool opens_template(std::string_view rest) {
  if (rest.starts_with('-') || rest.starts_with("/*")) return true;
  rest.remove_prefix(std::min(rest.find_first_not_of(' '), rest.size()));
  for (const std::string_view word :
       {".Values",   ".Release", ".Chart",  ".Files",    ".Capabilities", ".Template", "$.",     "include ",
        "template ", "define ",  "toYaml ", "if ",       "range ",        "with ",     "end ",   "end}}",
        "else",      "tpl ",     "printf ", "required ", "default ",      "quote ",    "lookup "}) {
    if (rest.starts_with(word)) return true;
  }
  return false;
}

struct Line {
  std::size_t begin, end;  ///< byte range without the line break
};

/// Returns true if a line begins a fence with the language YAML. Sets `fence` to the marks of a fence with any
/// language.
bool opens_yaml(std::string_view line, std::string& fence) {
  const std::size_t start = line.find_first_not_of(' ');
  if (start == line.npos || (line[start] != '`' && line[start] != '~')) return false;
  const std::size_t end = line.find_first_not_of(line[start], start);
  if (end == line.npos || end - start < 3) return false;
  fence = line.substr(start, end - start);
  std::size_t word = end;
  while (word < line.size() && (line[word] == ' ' || line[word] == '{' || line[word] == '.')) ++word;
  std::size_t word_end = word;
  while (word_end < line.size() && is_word(line[word_end])) ++word_end;
  const std::string_view language = line.substr(word, word_end - word);
  return language == "yaml" || language == "yml" || language == "YAML";
}

bool closes(std::string_view line, std::string_view fence) {
  const std::size_t start = line.find_first_not_of(' ');
  return start != line.npos && line.substr(start).starts_with(fence) &&
         line.find_first_not_of(std::string(1, fence[0]) + " \r", start) == line.npos;
}

void blank(std::string& text, Line line) {
  std::fill(text.begin() + static_cast<std::ptrdiff_t>(line.begin),
            text.begin() + static_cast<std::ptrdiff_t>(line.end), ' ');
}

}  // namespace

namespace {

bool has_template_action(std::string_view text) {
  for (std::size_t at = text.find('{'); at != text.npos && at + 1 < text.size(); at = text.find('{', at + 1)) {
    const std::string_view rest = text.substr(at + 2, 64);
    if (text[at + 1] == '{' && opens_template(rest)) return true;
    if (text[at + 1] == '%' && (rest.starts_with(' ') || rest.starts_with("- "))) return true;
  }
  return false;
}

}  // namespace

bool is_template(std::string_view text) { return has_template_action(text) && is_text(text); }

bool is_text(std::string_view bytes) { return !manifest::forbidden_byte(bytes); }

bool mentions_objects(std::string_view text) { return contains(text, "apiVersion") && contains(text, "kind"); }

std::string fenced_yaml(std::string_view markdown) {
  std::string out(markdown);
  std::string fence;
  bool inside = false, any = false;
  for (std::size_t begin = 0; begin < markdown.size();) {
    const std::size_t found = markdown.find('\n', begin);
    const Line line{begin, found == markdown.npos ? markdown.size() : found};
    const std::string_view text = markdown.substr(line.begin, line.end - line.begin);
    begin = line.end + 1;
    if (inside && !closes(text, fence)) continue;
    blank(out, line);
    if (inside) {
      inside = false;
    } else if (opens_yaml(text, fence)) {
      inside = true;
      out.replace(line.begin, 3, "---");
      any = true;
    }
  }
  return any && mentions_objects(out) ? out : std::string();
}

}  // namespace capstan::lint
