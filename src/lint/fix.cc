#include "lint/fix.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>
#include <span>
#include <system_error>
#include <utility>

namespace capstan::lint {
namespace {

bool overlaps(const Edit& a, const Edit& b) {
  if (a.span.begin == b.span.begin && a.span.size() == 0 && b.span.size() == 0) return true;
  return a.span.begin < b.span.end && b.span.begin < a.span.end;
}

bool touches(const Span& span, const std::vector<Edit>& edits) {
  return std::ranges::any_of(
      edits, [&](const Edit& edit) { return edit.span.begin <= span.end && span.begin <= edit.span.end; });
}

/// Returns true if the edits may change a value. An edit must touch the value itself. A value that comes from an alias
/// or a merge key may not change, because its text is elsewhere.
bool may_differ(const Value& value, const Span& span, const std::vector<Edit>& edits) {
  return !value.shared && touches(span, edits);
}

/// Returns the entry of a key. The search starts at `hint`, because both mappings have most keys in the same order.
const Value& entry_near(const Value& mapping, std::string_view key, std::uint32_t& hint) {
  for (std::uint32_t i = 0; i < mapping.count; ++i) {
    const std::uint32_t at = (hint + i) % mapping.count;
    if (mapping.first[at].key != key) continue;
    hint = at + 1;
    return mapping.first[at];
  }
  return Value::missing();
}

/// Returns true if two mappings differ only where the edits are. An entry may be removed if an edit touches it, and
/// added if an edit touches the mapping.
bool same_mappings(const Value& before, const Value& after, const std::vector<Edit>& edits) {
  std::uint32_t hint = 0;
  for (const Value& entry : before.children()) {
    const Value& other = entry_near(after, entry.key, hint);
    if (other.form == manifest::Form::missing) {
      if (!may_differ(entry, entry_of(entry), edits)) return false;
    } else if (!differ_only_at(entry, other, edits)) {
      return false;
    }
  }
  hint = 0;
  for (const Value& entry : after.children()) {
    const bool known = entry_near(before, entry.key, hint).form != manifest::Form::missing;
    if (!known && !may_differ(before, before.span, edits)) return false;
  }
  return true;
}

bool same_documents(const manifest::Documents& before, const manifest::Documents& after,
                    const std::vector<Edit>& edits) {
  if (before.all().size() != after.all().size()) return false;
  for (std::size_t i = 0; i < before.all().size(); ++i) {
    if (after.all()[i].faults.size() > before.all()[i].faults.size()) return false;
    if (!differ_only_at(before.all()[i].root, after.all()[i].root, edits)) return false;
  }
  return true;
}

/// Applies the edits of the findings of one file, except edits that overlap with others or change other values.
class FileFixer {
 public:
  explicit FileFixer(FixedFile& out) : out_(out), before_(out.file->parsed()) {}

  /// Applies all edits at once if the result is correct, otherwise each half separately. Parsing the file once per
  /// finding would take too long.
  void apply(std::span<const Finding* const> findings) {
    std::vector<Edit> edits = edits_;
    std::vector<const Finding*> added;
    for (const Finding* finding : findings) {
      if (!add(finding->fix.edits, edits)) {
        out_.overlapping.push_back(finding);
      } else {
        added.push_back(finding);
      }
    }
    if (added.empty()) return;
    // In Markdown, only fenced YAML is edited. There, the text and the parsed text have the same bytes.
    const std::string after = with_edits(before_, edits);
    if (same_documents(out_.file->documents, manifest::Documents::parse(after), edits)) {
      edits_ = std::move(edits);
      std::ranges::copy(added, std::back_inserter(out_.fixed));
    } else if (added.size() == 1) {
      out_.refused.push_back(added.front());
    } else {
      const std::span<const Finding* const> all(added);
      apply(all.first(all.size() / 2));
      apply(all.subspan(all.size() / 2));
    }
  }

  void finish() { out_.text = with_edits(out_.file->text, edits_); }

 private:
  /// Adds edits to `edits`. Returns false and adds nothing if one of them overlaps with another edit. Two findings may
  /// ask for the same edit, which is added once.
  static bool add(const std::vector<Edit>& added, std::vector<Edit>& edits) {
    const auto is_known = [&](const Edit& edit) { return std::ranges::find(edits, edit) != edits.end(); };
    const auto clashes = [&](const Edit& edit) {
      return !is_known(edit) && std::ranges::any_of(edits, [&](const Edit& other) { return overlaps(edit, other); });
    };
    if (std::ranges::any_of(added, clashes)) return false;
    std::ranges::copy_if(added, std::back_inserter(edits), [&](const Edit& edit) { return !is_known(edit); });
    return true;
  }

  FixedFile& out_;
  const std::string before_;
  std::vector<Edit> edits_;
};

/// Returns a name that is the same for all paths to a file: through a link, or from another folder.
std::string identity(const File& file) {
  std::error_code error;
  const std::filesystem::path real = std::filesystem::weakly_canonical(file.path, error);
  return error ? file.path : real.string();
}

/// Splits a text into lines with their line breaks. The last line may have none.
std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find('\n'), text.size() - 1) + 1;
    lines.push_back(text.substr(0, end));
    text.remove_prefix(end);
  }
  return lines;
}

/// A range of lines that differ: `before` lines of the old text, `after` lines of the new one.
struct Change {
  std::size_t at_before, before, at_after, after;
};

/// Returns the differences of two texts. Edits change few lines, so a difference ends at the next three lines that
/// agree.
std::vector<Change> changes_of(const std::vector<std::string_view>& a, const std::vector<std::string_view>& b) {
  std::vector<Change> changes;
  std::size_t i = 0, j = 0;
  const auto agree = [&](std::size_t x, std::size_t y) {
    for (std::size_t k = 0; k < 3; ++k) {
      if (x + k >= a.size() || y + k >= b.size()) return x + k >= a.size() && y + k >= b.size();
      if (a[x + k] != b[y + k]) return false;
    }
    return true;
  };
  constexpr std::size_t kFar = 200;
  while (i < a.size() || j < b.size()) {
    if (i < a.size() && j < b.size() && a[i] == b[j]) {
      ++i;
      ++j;
      continue;
    }
    Change change{i, a.size() - i, j, b.size() - j};
    for (std::size_t sum = 1; sum < kFar; ++sum) {
      bool found = false;
      for (std::size_t x = 0; x <= sum && !found; ++x) {
        if (i + x > a.size() || j + (sum - x) > b.size() || !agree(i + x, j + (sum - x))) continue;
        change = {i, x, j, sum - x};
        found = true;
      }
      if (found) break;
    }
    changes.push_back(change);
    i += change.before;
    j += change.after;
  }
  return changes;
}

std::string diff_line(char sign, std::string_view line) {
  return sign + std::string(line) + (line.ends_with('\n') ? "" : "\n\\ No newline at end of file\n");
}

}  // namespace

std::string with_edits(const std::string& text, std::vector<Edit> edits) {
  std::ranges::stable_sort(edits, {}, [](const Edit& edit) { return edit.span.begin; });
  std::string out;
  std::size_t at = 0;
  for (const Edit& edit : edits) {
    out += text.substr(at, edit.span.begin - at) + edit.text;
    at = edit.span.end;
  }
  return out + text.substr(at);
}

bool differ_only_at(const Value& before, const Value& after, const std::vector<Edit>& edits) {
  if (before.form != after.form) return may_differ(before, entry_of(before), edits);
  switch (before.form) {
    case manifest::Form::missing:
      return true;
    case manifest::Form::scalar:
      return before.text == after.text || may_differ(before, before.span, edits);
    case manifest::Form::mapping:
      return same_mappings(before, after, edits);
    case manifest::Form::sequence:
      break;
  }
  if (before.count != after.count) return false;
  for (std::uint32_t i = 0; i < before.count; ++i) {
    if (!differ_only_at(before[i], after[i], edits)) return false;
  }
  return true;
}

std::vector<FixedFile> apply_fixes(const Report& report, FixSafety up_to) {
  std::map<std::string, std::vector<const Finding*>> by_file;
  std::vector<const std::string*> order;
  for (const Finding& finding : report.findings) {
    if (finding.fix.edits.empty() || finding.safety() > up_to) continue;
    const auto [at, is_new] = by_file.try_emplace(identity(*finding.file));
    // A file with two names is read twice. If it changed in between, the edits of the second name do not fit.
    if (!is_new && at->second.front()->file->text != finding.file->text) continue;
    at->second.push_back(&finding);
    if (is_new) order.push_back(&at->first);
  }
  std::vector<FixedFile> out;
  for (const std::string* name : order) {
    std::vector<const Finding*>& findings = by_file[*name];
    std::ranges::stable_sort(findings, {}, [](const Finding* finding) { return finding->safety(); });
    FixedFile& fixed = out.emplace_back();
    fixed.file = findings.front()->file;
    FileFixer fixer(fixed);
    fixer.apply(findings);
    fixer.finish();
  }
  return out;
}

bool can_be_fixed(const Finding& finding) {
  if (finding.fix.edits.empty()) return false;
  FixedFile fixed;
  fixed.file = finding.file;
  const Finding* const findings[] = {&finding};
  FileFixer(fixed).apply(findings);
  return !fixed.fixed.empty();
}

std::string unified_diff(const std::string& path, const std::string& before, const std::string& after) {
  const std::vector<std::string_view> a = lines_of(before);
  const std::vector<std::string_view> b = lines_of(after);
  const std::vector<Change> changes = changes_of(a, b);
  if (changes.empty()) return "";
  constexpr std::size_t kContext = 3;
  std::string out = fmt::format("--- a/{}\n+++ b/{}\n", path, path);
  for (std::size_t first = 0; first < changes.size();) {
    std::size_t last = first;
    while (last + 1 < changes.size() &&
           changes[last + 1].at_before - (changes[last].at_before + changes[last].before) <= 2 * kContext) {
      ++last;
    }
    const std::size_t begin = changes[first].at_before - std::min(changes[first].at_before, kContext);
    const std::size_t begin_after = changes[first].at_after - (changes[first].at_before - begin);
    const std::size_t end = std::min(a.size(), changes[last].at_before + changes[last].before + kContext);
    std::string body;
    std::size_t at = begin, lines_after = 0;
    for (std::size_t c = first; c <= last; ++c) {
      for (; at < changes[c].at_before; ++at, ++lines_after) body += diff_line(' ', a[at]);
      for (std::size_t k = 0; k < changes[c].before; ++k) body += diff_line('-', a[at++]);
      for (std::size_t k = 0; k < changes[c].after; ++k, ++lines_after) {
        body += diff_line('+', b[changes[c].at_after + k]);
      }
    }
    for (; at < end; ++at, ++lines_after) body += diff_line(' ', a[at]);
    out += fmt::format("@@ -{},{} +{},{} @@\n{}", begin + 1, end - begin, begin_after + 1, lines_after, body);
    first = last + 1;
  }
  return out;
}

}  // namespace capstan::lint
