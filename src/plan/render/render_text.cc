#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>

#include "base/number_text.h"
#include "base/unit_text.h"
#include "plan/render/page.h"
#include "plan/render/render.h"
#include "plan/render/text_layout.h"

namespace capstan::plan {

namespace {

constexpr std::size_t kTextIndent = 2;
constexpr std::size_t kGutter = 14;       ///< columns of the names at the left edge of the page
constexpr std::size_t kNameColumns = 32;  ///< columns for the names of statements

/// Returns a name for the left edge, with the spaces up to the text.
std::string edge(std::string_view name) { return fmt::format("{:<{}}", name, kGutter); }

std::string evidence_words(Evidence evidence) {
  return evidence == Evidence::none ? "" : fmt::format(" ({})", words(evidence));
}

void write_text_headline(std::string& out, const PageHeadline& headline) {
  out += folded(edge(headline.service), (headline.service.size() >= kGutter ? " " : "") + headline.fleet, kGutter);
  for (const auto& [name, text] : headline.lines) out += folded(edge(name), text, kGutter);
}

void write_text_table(std::string& out, const PageTable& table) {
  if (table.rows.empty()) return;
  std::vector<std::string> starts{"  "};
  std::vector<std::vector<std::string>> rows{table.columns};
  for (const PageTable::Row& row : table.rows) {
    starts.push_back(row.is_chosen ? "▶ " : "  ");
    rows.push_back(row.cells);
  }
  out += '\n' + aligned(starts, rows);
}

void write_text_block(std::string& out, const PageBlock& block) {
  if (!block.answer.empty()) out += folded(edge(block.name), block.answer, kGutter);
  // Figures with the same evidence stand together, so that its word is written once.
  std::vector<std::pair<Evidence, std::string>> groups;
  for (const PageFigure& figure : block.figures) {
    const auto known = std::ranges::find(groups, figure.evidence, &std::pair<Evidence, std::string>::first);
    std::string& text = known == groups.end() ? groups.emplace_back(figure.evidence, "").second : known->second;
    text += fmt::format("{}{}{}{}", text.empty() ? "" : " · ", figure.name,
                        figure.evidence == Evidence::none ? ": " : " = ", figure.value);
  }
  std::string figures;
  for (const auto& [evidence, text] : groups) {
    figures += figures.empty() ? "" : "; ";
    figures += evidence == Evidence::none ? text : fmt::format("{}: {}", words(evidence), text);
  }
  if (!figures.empty()) out += folded(edge(block.answer.empty() ? block.name : ""), figures, kGutter);
}

void write_text_list(std::string& out, std::string_view name, const std::vector<std::string>& parts,
                     std::string_view separator = "; ") {
  if (!parts.empty()) out += folded(edge(name), fmt::format("{}", fmt::join(parts, separator)), kGutter);
}

/// Returns the number of files, the folders, and the files outside folders: "61 files: nodes/ gangs/ apply.sh plan.md".
/// The scenarios of several services appear as one name, scenario-*.yaml.
std::string file_words(const std::vector<PageFolder>& folders) {
  std::int64_t files = 0;
  std::vector<std::string> names;
  for (const PageFolder& folder : folders) {
    files += folder.files;
    const bool is_scenario = folder.name.starts_with("scenario-");
    const auto scenario = std::ranges::find_if(names, [](const auto& name) { return name.starts_with("scenario-"); });
    if (is_scenario && scenario != names.end()) {
      *scenario = "scenario-*.yaml";
    } else {
      names.push_back(folder.name);
    }
  }
  return fmt::format("{} files: {}", files, fmt::join(names, " "));
}

/// Writes that --out writes the files, their number and that of the commands of apply.sh. The details name the optional
/// commands.
void write_text_files(std::string& out, const Page& page) {
  if (page.folders.empty()) return;
  const auto optional = std::ranges::count_if(page.apply, &ApplyCommand::is_optional);
  const auto needed = static_cast<std::int64_t>(page.apply.size()) - optional;
  std::string text = "--out DIR writes " + file_words(page.folders);
  if (!page.apply.empty()) {
    text += fmt::format("; in DIR, sh apply.sh applies them: {} in the order in which they work",
                        count_text(needed, "command", "commands"));
  }
  if (optional > 0) text += fmt::format(", and {} optional {} as comments", optional, optional == 1 ? "one" : "ones");
  out += folded(edge("files"), text, kGutter);
  if (page.needs.empty()) return;
  out +=
      folded(edge("needs"),
             fmt::format("{} in the cluster; apply.sh names the missing ones and how to install them before it applies "
                         "anything",
                         fmt::join(page.needs, ", ")),
             kGutter);
}

void write_text_apply(std::string& out, const std::vector<ApplyCommand>& commands) {
  if (commands.empty()) return;
  out += "\nApply in this order, in the folder of --out\n";
  std::size_t number = 0;
  for (const ApplyCommand& command : commands) {
    const std::string start = fmt::format("{:>2} ", ++number);
    const std::string purpose = "  # " + command.purpose + (command.is_optional ? ", optional" : "");
    // A comment is never folded, because its second line would be a command.
    const auto fits = [&](std::string_view comment) {
      return start.size() + command.command.size() + comment.size() <= kTextColumns;
    };
    if (!command.purpose.empty() && fits(purpose)) {
      out += start + command.command + purpose + '\n';
    } else if (command.is_optional && fits("  # optional")) {
      out += start + command.command + "  # optional\n";
    } else {
      out += folded_command(start, command.command, kTextIndent * 3);
      if (command.is_optional) out += std::string(kTextIndent * 3, ' ') + "# optional\n";
    }
  }
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
    out += folded(start, statement.value + evidence_words(statement.evidence) + why, indent);
  }
}

void write_text_details(std::string& out, const Section& section) {
  out += '\n' + section.title + '\n';
  write_text_statements(out, section.statements);
  for (const Manifest& manifest : section.manifests) {
    if (manifest.is_on_page) out += indented("# " + manifest.file + '\n' + manifest.body.document(), kTextIndent * 2);
  }
  for (const ApplyCommand& command : section.apply) {
    out += indented(fmt::format("$ {}  # {}", command.command, command.purpose), kTextIndent);
  }
  for (const std::string& command : section.commands) out += indented("$ " + command, kTextIndent);
}

}  // namespace

std::string render_text(const Plan& plan, PageDetail detail) {
  const Page page = page_of(plan);
  std::string out = page.title + '\n';
  for (const PageHeadline& headline : page.headlines) write_text_headline(out, headline);
  if (!page.sum.empty()) out += folded(edge("together"), page.sum, kGutter);
  for (std::size_t i = 0; i < page.jobs.size(); ++i) out += folded(edge(i == 0 ? "jobs" : ""), page.jobs[i], kGutter);
  write_text_table(out, page.scalers);
  if (!page.choice.empty()) out += "  " + page.choice + '\n';
  write_text_table(out, page.frontier);
  out += '\n';
  for (const PageBlock& block : page.blocks) write_text_block(out, block);
  write_text_list(out, "not simulated", page.not_simulated);
  write_text_list(out, "defaults", page.defaults, " · ");
  write_text_files(out, page);
  if (!page.kill_switch.empty()) out += folded(edge("kill switch"), page.kill_switch, kGutter);
  if (detail == PageDetail::all) {
    write_text_apply(out, page.apply);
    for (const Section& section : plan.sections) write_text_details(out, section);
    if (!plan.spec.defaults.empty()) out += "\nDefaults, because the spec does not state these values\n";
    for (const std::string& line : default_lines(plan)) out += folded("  ", line, kTextIndent * 2);
  }
  return out + fmt::format("\n{} simulations{}\n", grouped_text(plan.simulations),
                           detail == PageDetail::all
                               ? ""
                               : "; --details shows the arithmetic, the reasons, the commands and the main manifests");
}

}  // namespace capstan::plan
