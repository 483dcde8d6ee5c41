#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/number_text.h"
#include "plan/render/files.h"
#include "plan/render/page.h"
#include "plan/render/render.h"

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

void write_markdown_headline(std::string& out, const PageHeadline& headline) {
  out += fmt::format("**{}**: {}\n\n", headline.service, headline.fleet);
  for (const auto& [name, text] : headline.lines) out += fmt::format("- {}: {}\n", name, text);
  out += '\n';
}

void write_markdown_table(std::string& out, const PageTable& table) {
  if (table.rows.empty()) return;
  out += '|';
  for (const std::string& column : table.columns) out += fmt::format(" {} |", table_cell(column));
  out += "\n|";
  for (std::size_t i = 0; i < table.columns.size(); ++i) out += i < 2 ? "---|" : "---:|";
  out += '\n';
  for (const PageTable::Row& row : table.rows) {
    out += '|';
    for (std::size_t i = 0; i < row.cells.size(); ++i) {
      const std::string cell = table_cell(row.cells[i]);
      out += row.is_chosen && i == 1 ? fmt::format(" **{}** |", cell) : fmt::format(" {} |", cell);
    }
    out += '\n';
  }
  out += '\n';
}

void write_markdown_details(std::string& out, const Section& section) {
  out += "<details><summary>Arithmetic, reasons, commands and manifests</summary>\n";
  if (!section.statements.empty()) out += "\n| | value | evidence | why |\n|---|---|---|---|\n";
  for (const Statement& statement : section.statements) {
    out += fmt::format("| {} | {} | {} | {} |\n", table_cell(statement.name), table_cell(statement.value),
                       words(statement.evidence), table_cell(statement.why));
  }
  for (const Manifest& manifest : section.manifests) {
    if (manifest.is_on_page) out += fmt::format("\n`{}`:\n\n```yaml\n{}```\n", manifest.file, manifest.body.document());
  }
  if (!section.apply.empty() || !section.commands.empty()) {
    out += "\n```sh\n";
    for (const ApplyCommand& command : section.apply)
      out += fmt::format("{}  # {}\n", command.command, command.purpose);
    for (const std::string& command : section.commands) out += command + '\n';
    out += "```\n";
  }
  out += "\n</details>\n";
}

void write_markdown_block(std::string& out, const PageBlock& block) {
  out += fmt::format("\n## {}\n\n", block.title);
  if (!block.answer.empty()) out += block.answer + "\n\n";
  if (block.figures.empty()) return;
  out += "| | value | evidence |\n|---|---|---|\n";
  for (const PageFigure& figure : block.figures) {
    out += fmt::format("| {} | {} | {} |\n", table_cell(figure.name), table_cell(figure.value), words(figure.evidence));
  }
  out += '\n';
}

void write_markdown_apply(std::string& out, const Page& page) {
  const std::vector<ApplyCommand>& commands = page.apply;
  if (commands.empty()) return;
  out += "\n## Apply in this order\n\n";
  if (!page.needs.empty()) {
    out += fmt::format(
        "The cluster needs {}. `apply.sh` names the missing ones and how to install them before it applies "
        "anything.\n\n",
        fmt::join(page.needs, ", "));
  }
  out += "```sh\n";
  for (const ApplyCommand& command : commands) {
    out += command.command;
    if (!command.purpose.empty() || command.is_optional) {
      out += fmt::format("  # {}{}{}", command.purpose, command.purpose.empty() || !command.is_optional ? "" : ", ",
                         command.is_optional ? "optional" : "");
    }
    out += '\n';
  }
  out += "```\n";
}

void write_markdown_files(std::string& out, const Plan& plan, const Page& page, PageDetail detail) {
  if (page.folders.empty()) return;
  if (detail == PageDetail::page) {
    out += "\n## Files\n\n`--out DIR` writes:\n\n";
    for (const PageFolder& folder : page.folders) {
      out += fmt::format("- `{}`{}\n", folder.name, folder.files == 1 ? "" : fmt::format(": {} files", folder.files));
    }
    return;
  }
  out += "\n## Files\n\n| | content |\n|---|---|\n";
  for (const PlanFile& file : list_plan_files(plan)) {
    out += fmt::format("| [{}]({}) | {} |\n", file.path, file.path,
                       table_cell(fmt::format("{}", fmt::join(file.kinds, ", "))));
  }
}

}  // namespace

std::string render_markdown(const Plan& plan, PageDetail detail) {
  const Page page = page_of(plan);
  std::string out = fmt::format("# {}\n\n", page.title);
  for (const PageHeadline& headline : page.headlines) write_markdown_headline(out, headline);
  if (!page.sum.empty()) out += fmt::format("**Together**: {}\n\n", page.sum);
  for (const std::string& jobs : page.jobs) out += fmt::format("- jobs of {}\n", jobs);
  if (!page.jobs.empty()) out += '\n';
  write_markdown_table(out, page.scalers);
  if (!page.choice.empty()) out += page.choice + "\n\n";
  write_markdown_table(out, page.frontier);
  for (std::size_t i = 0; i < page.blocks.size(); ++i) {
    write_markdown_block(out, page.blocks[i]);
    if (detail == PageDetail::all) write_markdown_details(out, plan.sections[i]);
  }
  if (!page.not_simulated.empty()) out += "\n## Not simulated\n\n";
  for (const std::string& part : page.not_simulated) out += fmt::format("- {}\n", part);
  if (!page.defaults.empty()) out += "\n## Defaults\n\nThe spec does not state these values.\n\n";
  if (detail == PageDetail::page) {
    for (const std::string& line : page.defaults) out += fmt::format("- `{}`\n", line);
  } else {
    for (const std::string& line : default_lines(plan)) out += fmt::format("- {}\n", line);
  }
  write_markdown_apply(out, page);
  write_markdown_files(out, plan, page, detail);
  out += fmt::format("\n{} simulations.\n", grouped_text(plan.simulations));
  if (!page.kill_switch.empty()) out += fmt::format("\n## Kill switch\n\n{}\n", page.kill_switch);
  return out;
}

}  // namespace capstan::plan
