#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace capstan::scenario {

/// A part of a page that a program keeps: everything between `<!-- KIND NAME -->` and `<!-- /KIND -->`, each on a line
/// of its own.
struct Block {
  std::string kind;
  std::string name;
  std::size_t from = 0;  ///< of its text in the page
  std::size_t to = 0;
};

/// The blocks of one kind in the order of the page.
std::vector<Block> blocks(std::string_view page, std::string_view kind);

/// A whole file, or nothing where it cannot be read.
std::optional<std::string> read_text(const std::string& path);

bool write_text(const std::string& path, const std::string& text);

}  // namespace capstan::scenario
