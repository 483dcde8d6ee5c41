#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "manifest/document.h"

namespace capstan::lint {

using manifest::Span;
using manifest::Value;

/// The first word of a comment that accepts a finding: `# capstan:ignore RULE REASON`.
inline constexpr std::string_view kAcceptance = "capstan:ignore";

/// A text that holds manifests: a file, standard input, or fenced blocks in Markdown. The values of its documents point
/// into the text, so a File cannot be copied or moved.
struct File {
  File(std::string path_in, std::string text_in);
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  std::string path;                      ///< name of the file in findings
  std::string text;                      ///< whole content
  std::string yaml;                      ///< for Markdown: `text` with everything except fenced YAML blanked, in the
                                         ///< same length; empty for other files
  std::string scope;                     ///< folder of the file or of its kustomization, or the path of a Markdown
                                         ///< file; all objects of a scope are assumed to be in one cluster
  std::set<std::string> patched_kinds;   ///< kinds of its objects that kustomizations change; `*` for any kind
  std::vector<std::uint32_t> deployers;  ///< ids of the kustomizations and charts that deploy it, sorted
  bool has_acceptances;                  ///< true if the text contains `kAcceptance`
  bool is_not_applied;                   ///< true if the comment at its head says not to apply the file
  manifest::Documents documents;

  /// Returns the line table. It is built at the first call, because most files have no finding.
  const manifest::LineTable& lines() const;
  /// Returns true for fenced YAML in Markdown. An excerpt may be shortened, so a missing value is no defect.
  bool is_excerpt() const { return !yaml.empty(); }
  /// Returns true if kustomizations change objects of this kind. They may add the values that the objects lack.
  bool is_patched(std::string_view kind) const {
    return patched_kinds.contains("*") || patched_kinds.contains(std::string(kind));
  }
  std::string_view parsed() const { return yaml.empty() ? std::string_view(text) : std::string_view(yaml); }

 private:
  mutable std::once_flag lines_made_;
  mutable std::optional<manifest::LineTable> lines_;
};

/// Returns the place of a part of a scalar's decoded text: `size` bytes from `offset`. Returns the whole value if the
/// part cannot be located, as in a folded text.
Span part_of(const File& file, const Value& value, std::size_t offset, std::size_t size);

/// Returns the bytes of an entry of a mapping: its key and its value.
Span entry_of(const Value& value);

}  // namespace capstan::lint
