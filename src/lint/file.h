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

/// Begins what a comment accepts: `# capstan:ignore RULE REASON`.
inline constexpr std::string_view kAcceptance = "capstan:ignore";

/// A text that holds manifests, read: a file, standard input, or what is fenced in Markdown. Values of its documents
/// point into its text, so it stays where it is.
struct File {
  File(std::string path_in, std::string text_in);
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  std::string path;                  ///< as findings name it
  std::string text;                  ///< all of it; what is not YAML, in Markdown, is blanked out in `yaml`
  std::string yaml;                  ///< what is parsed where that differs from `text`, of the same length; else empty
  std::string scope;                 ///< its folder: objects of one scope are taken to live in one cluster
  std::set<std::string> patched;     ///< kinds of its objects that kustomizations change; `*`: any
  std::vector<std::uint32_t> units;  ///< the kustomizations and charts that deploy it, in order
  bool accepts;                      ///< holds the word of comments that accept a finding
  manifest::Documents documents;

  /// Made when first asked for: most files have nothing to point at.
  const manifest::LineTable& lines() const;
  /// Fenced in prose, which leaves out what its reader can think of: what is not there means nothing.
  bool is_excerpt() const { return !yaml.empty(); }
  /// Returns true if kustomizations change its objects of this kind, and so may add what is missing in them.
  bool is_patched(std::string_view kind) const { return patched.contains("*") || patched.contains(std::string(kind)); }
  std::string_view parsed() const { return yaml.empty() ? std::string_view(text) : std::string_view(yaml); }

 private:
  mutable std::once_flag lines_made_;
  mutable std::optional<manifest::LineTable> lines_;
};

/// The bytes of a part of a scalar's decoded text, `size` bytes from `offset`. All of the value where they cannot be
/// told apart, as in a folded text.
Span part_of(const File& file, const Value& value, std::size_t offset, std::size_t size);

/// A value's bytes, with its key: all that an entry of a mapping is.
Span entry_of(const Value& value);

}  // namespace capstan::lint
