#include "tree/reasons.h"

#include <cctype>
#include <set>
#include <string>

namespace capstan::tree {
namespace {

constexpr std::string_view kTable = "src/model/reasons.inc";
constexpr std::string_view kRow = "CAPSTAN_REASON(";

bool in_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

void add_words(std::string_view line, std::set<std::string, std::less<>>& words) {
  for (std::size_t from = 0; from < line.size();) {
    std::size_t to = from;
    while (to < line.size() && in_word(line[to])) ++to;
    if (to > from) words.emplace(line.substr(from, to - from));
    from = to + 1;
  }
}

}  // namespace

std::vector<Finding> check_reasons(const std::vector<Source>& tree) {
  std::set<std::string, std::less<>> words;
  for (const Source& source : tree) {
    if (source.room().empty() || source.is_test()) continue;
    for (const std::string& line : source.code) add_words(line, words);
  }
  std::vector<Finding> findings;
  for (const Source& source : tree) {
    if (source.path != kTable) continue;
    for (std::size_t i = 0; i < source.lines.size(); ++i) {
      const std::string_view line = source.lines[i];
      if (!line.starts_with(kRow)) continue;
      const std::string code(line.substr(kRow.size(), line.find(',') - kRow.size()));
      if (!words.contains(code)) findings.push_back({source.path, i + 1, "no decision gives the reason " + code});
    }
  }
  return findings;
}

}  // namespace capstan::tree
