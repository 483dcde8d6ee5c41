#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "lint/file.h"

// Edits of a file that keep its quotes, comments, indentation and line endings, and keep JSON valid. A function returns
// no edit if it cannot keep them.
namespace capstan::lint {

/// One replacement of bytes in a file.
struct Edit {
  Span span;
  std::string text;

  bool operator==(const Edit&) const = default;
};

/// Returns the edit that replaces a scalar's text and keeps its quotes.
std::optional<Edit> value_edit(const File& file, const Value& value, std::string_view text);

/// Returns the edit that removes the quotes of a scalar, for a number that was written as a string.
std::optional<Edit> unquoting_edit(const Value& value, std::string text);

/// Returns the edit that replaces a key and keeps its quotes.
std::optional<Edit> key_edit(const File& file, const Value& entry, std::string_view key);

/// Returns the edit that removes a scalar entry from its mapping. In block style it removes the whole line, in flow
/// style and in JSON the entry and its comma. A comment on the line stays, on a line of its own.
std::optional<Edit> removal_edit(const File& file, const Value& mapping, const Value& entry);

/// Returns the edit that adds an entry to a mapping after the entry `after`. The new key and value are quoted if the
/// key of `after` is quoted, but a number stays plain.
std::optional<Edit> insertion_edit(const File& file, const Value& mapping, const Value& after, std::string_view key,
                                   std::string_view value);

}  // namespace capstan::lint
