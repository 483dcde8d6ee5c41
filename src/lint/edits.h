#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "lint/file.h"

// Changes of a file's bytes that leave everything else as it stands: quotes, comments, indentation, line endings, and
// JSON that stays JSON. An edit that cannot be made so is not made: the result is empty.
namespace capstan::lint {

/// One change of a file's bytes.
struct Edit {
  Span span;
  std::string text;

  bool operator==(const Edit&) const = default;
};

/// Writes a scalar's new text inside the quotes that the value has.
std::optional<Edit> value_edit(const File& file, const Value& value, std::string_view text);

/// Writes a scalar that stands in quotes without them: a number that was written as a string.
std::optional<Edit> unquoting_edit(const Value& value, std::string text);

/// Writes another key, inside the quotes that the key has.
std::optional<Edit> key_edit(const File& file, const Value& entry, std::string_view key);

/// Takes a scalar entry out of its mapping: with its line in block style, with its comma in flow style and JSON.
/// Comments on the line stay, on a line of their own.
std::optional<Edit> removal_edit(const File& file, const Value& mapping, const Value& entry);

/// Adds an entry to a mapping behind one of its entries, in quotes where that one's key has them; numbers are plain.
std::optional<Edit> insertion_edit(const File& file, const Value& mapping, const Value& after, std::string_view key,
                                   std::string_view value);

}  // namespace capstan::lint
