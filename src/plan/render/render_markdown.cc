#include <fmt/format.h>

#include "experiment/words.h"
#include "plan/render/render.h"
#include "plan/render/summary.h"

namespace capstan::plan {

namespace {

/// Returns the text for a cell of a table, in which a bar would end the cell.
std::string table_cell(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '|') out += '\\';
    out += c == '\n' ? ' ' : c;
  }
  return out;
}

void write_markdown_section(std::string& out, const Section& section) {
  out += fmt::format("\n## {}\n\n{}\n", section.title, section.answer);
  if (!section.statements.empty()) out += "\n| | value | evidence | why |\n|---|---|---|---|\n";
  for (const Statement& statement : section.statements) {
    out += fmt::format("| {} | {} | {} | {} |\n", table_cell(statement.name), table_cell(statement.value),
                       words(statement.evidence), table_cell(statement.why));
  }
  if (!section.not_simulated.empty()) out += '\n';
  for (const std::string& part : section.not_simulated) out += fmt::format("- *Not simulated*: {}\n", part);
  for (const Manifest& manifest : section.manifests) {
    if (manifest.is_on_page) out += fmt::format("\n`{}`:\n\n```yaml\n{}```\n", manifest.file, manifest.body.document());
  }
  if (section.commands.empty()) return;
  out += "\n```\n";
  for (const std::string& command : section.commands) out += command + '\n';
  out += "```\n";
}

}  // namespace

std::string render_markdown(const Plan& plan) {
  std::string out = fmt::format("# Plan {}\n\n", plan.spec.name);
  for (const std::string& line : summary_lines(plan)) out += fmt::format("- {}\n", line);
  for (const Section& section : plan.sections) write_markdown_section(out, section);
  if (!plan.spec.defaults.empty()) out += "\n## Assumed\n\nThe spec does not state these values.\n\n";
  for (const std::string& line : default_lines(plan)) out += fmt::format("- {}\n", line);
  return out + fmt::format("\n{} simulations.\n", experiment::grouped(plan.simulations));
}

}  // namespace capstan::plan
