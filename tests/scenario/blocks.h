#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace capstan::golden {

/// A generated part of a page: the lines between `<!-- KIND NAME -->` and `<!-- /KIND -->`.
struct Block {
  std::string kind;
  std::string name;
  std::size_t from = 0;  ///< start of the block's text in the page
  std::size_t to = 0;    ///< end of the block's text in the page
};

/// Returns the blocks of one kind in the order of the page.
std::vector<Block> blocks(std::string_view page, std::string_view kind);

/// Reads a whole file; returns nothing if it cannot be read.
std::optional<std::string> read_text(const std::string& path);

/// Replaces a file; returns false if it cannot be written.
bool write_text(const std::string& path, const std::string& text);

}  // namespace capstan::golden
