#include "tree/parameters.h"

#include <re2/re2.h>

#include <algorithm>
#include <string>
#include <string_view>

namespace capstan::tree {
namespace {

/// A list between parentheses that is being read. Commas inside deeper brackets belong to a part of it.
struct List {
  std::size_t line = 0;
  std::size_t depth = 0;   ///< open parentheses, brackets and braces around the list, itself included
  std::size_t angles = 0;  ///< open template brackets inside the current part
  std::vector<std::string> parts{1};
};

bool is_parameter(const std::string& part) {
  constexpr std::size_t kLongestDeclaration = 300;  // a longer part is an argument, such as a lambda
  static const RE2 declaration(R"(^\s*(const\s+)?[A-Za-z_][\w:]*(<.*>)?(\s+const)?(\s+|\s*[&*]+\s*)[A-Za-z_]\w*)"
                               R"((\s*=.*)?\s*$)");
  return part.size() <= kLongestDeclaration && RE2::FullMatch(part, declaration);
}

/// Returns true if a list of parameters is too long. Up to two of its parts need not look like a parameter, such as a
/// pointer to a function or a parameter without a name.
bool declares_too_many(const List& list) {
  if (list.parts.size() <= kMaxParameters) return false;
  return std::ranges::count_if(list.parts, is_parameter) + 2 >= std::ssize(list.parts);
}

}  // namespace

std::vector<Finding> check_parameters(const Source& source) {
  std::vector<Finding> findings;
  std::vector<List> open;
  std::size_t depth = 0;
  char last = ' ';  // the last character that is not a space
  for (std::size_t i = 0; i < source.code.size(); ++i) {
    if (source.code[i].starts_with('#')) continue;
    for (const char c : source.code[i] + ' ') {
      if ((c == ')' || c == ']' || c == '}') && depth > 0) {
        if (!open.empty() && open.back().depth == depth) {
          if (declares_too_many(open.back())) {
            findings.push_back({source.path, open.back().line,
                                "a function of " + std::to_string(open.back().parts.size()) +
                                    " parameters, expected at most 7: pass a struct with named fields"});
          }
          open.pop_back();
        }
        --depth;
      }
      for (List& list : open) {
        const bool own = list.depth == depth;
        if (own && c == '<' && last != '<') ++list.angles;
        if (own && c == '>' && last != '-' && list.angles > 0) --list.angles;
        if (own && c == ',' && list.angles == 0) {
          list.parts.emplace_back();
        } else {
          list.parts.back().push_back(c);
        }
      }
      if (c == '(' || c == '[' || c == '{') ++depth;
      if (c == '(') open.push_back({.line = i + 1, .depth = depth});
      if (c != ' ') last = c;
    }
  }
  return findings;
}

}  // namespace capstan::tree
