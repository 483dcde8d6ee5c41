#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "base/unit_text.h"
#include "lint/render/places.h"
#include "lint/render/render.h"
#include "manifest/utf8.h"

namespace capstan::lint {
namespace {

constexpr std::size_t kShownColumns = 160;

struct Colors {
  std::string_view bold, dim, off;
  std::array<std::string_view, 4> severity;
};
constexpr Colors kPlain{"", "", "", {"", "", "", ""}};
constexpr Colors kColored{"\x1b[1m", "\x1b[2m", "\x1b[0m", {"", "\x1b[1;36m", "\x1b[1;33m", "\x1b[1;31m"}};

/// Replaces control sequences and invalid characters with dots, so that a terminal cannot interpret them. A tab becomes
/// one column.
std::string sanitized(std::string_view text) {
  std::string out(text);
  const auto odd = std::ranges::find_if(out, [](unsigned char c) { return c < 0x20 || c >= 0x7f; });
  for (auto i = static_cast<std::size_t>(odd - out.begin()); i < out.size();) {
    const auto c = static_cast<unsigned char>(out[i]);
    const std::size_t length = c < 0x80 ? 1 : manifest::utf8_length(std::string_view(out).substr(i));
    if (c == '\t') out[i] = ' ';
    if ((c < 0x20 && c != '\t') || c == 0x7f || length == 0) out[i] = '.';
    i += std::max<std::size_t>(length, 1);
  }
  return out;
}

/// Returns the number of bytes of the first `columns` characters. The continuation bytes of UTF-8 are not counted as
/// columns.
std::size_t bytes_of_columns(std::string_view text, std::size_t columns) {
  std::size_t at = 0;
  while (at < text.size() && columns > 0) {
    ++at;
    while (at < text.size() && (text[at] & 0xc0) == 0x80) ++at;
    --columns;
  }
  return at;
}

std::string excerpt(const Finding& finding, const Places& places, const Colors& colors) {
  const std::string number = std::to_string(places.begin.line);
  const std::string margin(number.size(), ' ');
  const std::string_view line = finding.file->lines().line(places.begin.line);
  const std::size_t length =
      static_cast<std::size_t>(std::ranges::count_if(line, [](char c) { return (c & 0xc0) != 0x80; }));
  const std::size_t first = places.begin.column - 1;
  const std::size_t from = first < kShownColumns - 40 ? 0 : first - 40;
  const std::size_t shown = std::min(length, from + kShownColumns);
  std::size_t last = places.end.line == places.begin.line ? places.end.column - 1 : length;
  last = std::max(std::min(last, shown), first + 1);
  const std::size_t begin = bytes_of_columns(line, from);
  const std::string_view part = line.substr(begin, bytes_of_columns(line.substr(begin), shown - std::min(shown, from)));
  const std::string carets(last - first, '^');
  return fmt::format("{3}{0} |{4}\n{3}{1} |{4} {2}\n{3}{0} |{4} {5}{6}{7}{4}\n", margin, number, sanitized(part),
                     colors.dim, colors.off, std::string(first - from, ' '),
                     colors.severity[static_cast<std::size_t>(finding.severity)], carets);
}

std::string finding_text(const Finding& finding, const Colors& colors) {
  const Places places = places_of(finding);
  const std::string margin(std::to_string(places.begin.line).size(), ' ');
  std::string out = fmt::format("{}{}[{}]{}{}: {}{}\n", colors.severity[static_cast<std::size_t>(finding.severity)],
                                name_of(finding.severity), finding.rule->id, colors.off, colors.bold,
                                sanitized(finding.message), colors.off);
  out += fmt::format("{}{}-->{} {}:{}:{}\n", margin, colors.dim, colors.off, sanitized(finding.file->path),
                     places.begin.line, places.begin.column);
  out += excerpt(finding, places, colors);
  if (finding.object != nullptr) {
    out += fmt::format("{}{} ={} in {}\n", margin, colors.dim, colors.off, sanitized(finding.object->title()));
  }
  const auto add = [&](std::string_view label, std::string_view text) {
    if (!text.empty()) out += fmt::format("{}{} ={} {}: {}\n", margin, colors.dim, colors.off, label, sanitized(text));
  };
  const std::string_view option = option_for(finding.safety());
  add(option.empty() ? "fix" : fmt::format("fix ({})", option), finding.fix_text());
  if (!option.empty()) add("caution", finding.fix.caution);
  return out;
}

std::string counted(std::size_t count, std::string_view singular, std::string_view plural) {
  return count_text(static_cast<std::int64_t>(count), singular, plural);
}

}  // namespace

std::size_t count_fixes(const Report& report, FixSafety safety) {
  return static_cast<std::size_t>(
      std::ranges::count_if(report.findings, [&](const Finding& finding) { return finding.safety() == safety; }));
}

namespace {

/// Returns "2 kinds not read (Foo, Bar)". It lists at most three kinds.
std::string not_read_text(const Summary& sum) {
  constexpr std::size_t kNamed = 3;
  std::string names;
  std::size_t named = 0;
  for (const auto& [kind, count] : sum.kinds_not_read) {
    if (named++ == kNamed) break;
    names += (names.empty() ? "" : ", ") + kind;
  }
  const std::size_t kinds = sum.kinds_not_read.size();
  if (kinds > kNamed) names += fmt::format(" and {} more", kinds - kNamed);
  return fmt::format("{} not read ({})", counted(kinds, "kind", "kinds"), sanitized(names));
}

}  // namespace

std::string summary_text(const Report& report) {
  std::array<std::size_t, 4> counts{};
  for (const Finding& finding : report.findings) ++counts[static_cast<std::size_t>(finding.severity)];
  std::string text;
  const auto add = [&](std::string part) { text += (text.empty() ? "" : ", ") + part; };
  if (counts[3] > 0) add(counted(counts[3], "error", "errors"));
  if (counts[2] > 0) add(counted(counts[2], "warning", "warnings"));
  if (counts[1] > 0) add(counted(counts[1], "piece of advice", "pieces of advice"));
  const Summary& sum = report.summary;
  if (text.empty() && sum.files == 0) {
    text = "no file was read";
  } else {
    if (text.empty()) text = "no finding";
    text += fmt::format(" in {} ({})", counted(sum.files, "file", "files"), counted(sum.objects, "object", "objects"));
  }
  std::string fixes;
  for (const FixSafety safety : {FixSafety::safe, FixSafety::unsafe}) {
    const std::size_t count = count_fixes(report, safety);
    if (count == 0) continue;
    const std::string_view noun = safety == FixSafety::safe ? "safe fix" : "unsafe fix";
    fixes += fmt::format("{}{} ({})", fixes.empty() ? "; " : " and ", counted(count, noun, std::string(noun) + "es"),
                         option_for(safety));
  }
  text += fixes;
  if (sum.hidden_advice > 0) {
    text += fmt::format("; {} hidden (--advice)", counted(sum.hidden_advice, "piece of advice", "pieces of advice"));
  }
  if (sum.templates > 0) text += fmt::format("; skipped: {}", counted(sum.templates, "template", "templates"));
  if (sum.patches > 0) {
    text += fmt::format("{}{}", sum.templates > 0 ? ", " : "; skipped: ", counted(sum.patches, "patch", "patches"));
  }
  if (!sum.kinds_not_read.empty()) text += "; " + not_read_text(sum);
  if (sum.suppressed > 0) text += fmt::format("; {} accepted with a reason", sum.suppressed);
  if (sum.in_baseline > 0) text += fmt::format("; {} in the baseline", sum.in_baseline);
  return text;
}

std::string to_text(const Report& report, bool color) {
  const Colors& colors = color ? kColored : kPlain;
  std::string out;
  for (const Finding& finding : report.findings) out += finding_text(finding, colors) + "\n";
  out += summary_text(report) + "\n";
  // The last line suggests to read about one rule: the rule of the first finding with the highest severity.
  const auto gravest = std::ranges::max_element(report.findings, {}, &Finding::severity);
  if (gravest != report.findings.end()) out += fmt::format("why: capstan lint --explain {}\n", gravest->rule->id);
  return out;
}

std::string to_concise(const Report& report) {
  std::string out;
  for (const Finding& finding : report.findings) {
    const auto place = places_of(finding).begin;
    out += fmt::format("{}:{}:{}: {}: {} [{}]\n", sanitized(finding.file->path), place.line, place.column,
                       name_of(finding.severity), sanitized(finding.message), finding.rule->id);
  }
  return out;
}

std::string to_statistics(const Report& report) {
  struct Count {
    std::size_t findings = 0;
    std::size_t safe_fixes = 0;
    std::size_t unsafe_fixes = 0;
    Severity severity{};

    std::string fixes() const {
      std::string text;
      if (safe_fixes > 0) text += fmt::format("  ({} by --fix)", safe_fixes);
      if (unsafe_fixes > 0) text += fmt::format("  ({} by --unsafe-fixes)", unsafe_fixes);
      return text;
    }
  };
  std::map<std::string_view, Count> counts;
  for (const Finding& finding : report.findings) {
    Count& count = counts[finding.rule->id];
    ++count.findings;
    count.severity = std::max(count.severity, finding.severity);
    if (finding.safety() == FixSafety::safe) ++count.safe_fixes;
    if (finding.safety() == FixSafety::unsafe) ++count.unsafe_fixes;
  }
  std::vector<std::pair<std::string_view, Count>> rows(counts.begin(), counts.end());
  std::ranges::stable_sort(rows, [](const auto& a, const auto& b) { return a.second.findings > b.second.findings; });
  std::string out;
  for (const auto& [rule, count] : rows) {
    out += fmt::format("{:>7}  {:<8} {}{}\n", count.findings, name_of(count.severity), rule, count.fixes());
  }
  return out + summary_text(report) + "\n";
}

}  // namespace capstan::lint
