#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "experiment/words.h"
#include "plan/render/render.h"
#include "plan/render/summary.h"

namespace capstan::plan {

namespace {

constexpr std::size_t kTextColumns = 100;
constexpr std::size_t kTextIndent = 2;
constexpr std::size_t kNameColumns = 32;  ///< of the names of statements

/// Returns the text in lines of at most `kTextColumns`. The first line starts with `start`, later ones with spaces.
std::string folded(std::string_view start, std::string_view text, std::size_t indent) {
  std::string out(start);
  std::size_t column = start.size();
  bool is_first = true;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(' '), text.size());
    const std::string_view word = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (!is_first && column + 1 + word.size() > kTextColumns) {
      out += '\n' + std::string(indent, ' ');
      column = indent;
    } else if (!is_first) {
      out += ' ';
      ++column;
    }
    out += word;
    column += word.size();
    is_first = false;
  }
  return out + '\n';
}

std::string indented(std::string_view text, std::size_t indent) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    out += std::string(end > at ? indent : 0, ' ') + std::string(text.substr(at, end - at)) + '\n';
    at = end + 1;
  }
  return out;
}

void write_text_statements(std::string& out, const std::vector<Statement>& statements) {
  std::size_t names = 0;
  for (const Statement& statement : statements) {
    if (statement.name.size() <= kNameColumns) names = std::max(names, statement.name.size());
  }
  const std::size_t indent = kTextIndent + names + 2;
  for (const Statement& statement : statements) {
    // A longer name has a line of its own.
    const bool is_short = statement.name.size() <= kNameColumns;
    if (!is_short) out += folded(std::string(kTextIndent, ' '), statement.name, kTextIndent);
    const std::string start =
        fmt::format("{:{}}{:<{}}  ", "", kTextIndent, is_short ? statement.name : std::string(), names);
    const std::string why = statement.why.empty() ? "" : ": " + statement.why;
    out += folded(start, fmt::format("{} ({}){}", statement.value, words(statement.evidence), why), indent);
  }
}

void write_text_section(std::string& out, const Section& section) {
  out += '\n' + section.title + '\n';
  out += folded(std::string(kTextIndent, ' '), section.answer, kTextIndent);
  write_text_statements(out, section.statements);
  for (const std::string& part : section.not_simulated) {
    out += folded(std::string(kTextIndent, ' '), "not simulated: " + part, kTextIndent * 2);
  }
  for (const Manifest& manifest : section.manifests) {
    if (manifest.is_on_page) out += indented("# " + manifest.file + '\n' + manifest.body.document(), kTextIndent * 2);
  }
  for (const std::string& command : section.commands) out += indented("$ " + command, kTextIndent);
}

}  // namespace

std::string render_text(const Plan& plan) {
  std::string out = "Plan " + plan.spec.name + '\n';
  for (const std::string& line : summary_lines(plan)) out += folded("", line, kTextIndent);
  for (const Section& section : plan.sections) write_text_section(out, section);
  if (!plan.spec.defaults.empty()) out += "\nAssumed, because the spec does not say it\n";
  for (const std::string& line : default_lines(plan))
    out += folded(std::string(kTextIndent, ' '), line, kTextIndent * 2);
  return out + fmt::format("\n{} simulations\n", experiment::grouped(plan.simulations));
}

}  // namespace capstan::plan
