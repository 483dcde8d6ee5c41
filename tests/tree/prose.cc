#include "tree/prose.h"

#include <algorithm>
#include <cctype>
#include <iterator>

namespace capstan::tree {
namespace {

/// Files that name the phrases in order to ban them.
constexpr std::string_view kNamesThePhrases[] = {"tests/tree/prose.cc", "tests/tree/prose_test.cc", "CONTRIBUTING.md"};

const std::vector<Habit> kHabits = {
    {"whoever", "name the component: the controller, the replica, the caller"},
    {"nobody", "name what does not do it, or write \"no\" with a noun"},
    {"somebody", "name the person or the component"},
    {"anybody", "name the person or the component"},
    {"those that", "use a noun: \"replicas that\", \"nodes that\""},
    {"those who", "use a noun: \"users who\", \"replicas that\""},
    {"by whom", "name the component"},
    {"he", "a component is \"it\", a person is \"they\""},
    {"him", "a component is \"it\", a person is \"they\""},
    {"his", "a component is \"it\", a person is \"they\""},
    {"all the same", "write \"nevertheless\", or \"despite\" with the reason"},
    {"for ever", "write \"permanently\", or say what ends it"},
    {"in hand", "write \"headroom\" or \"safety margin\""},
    {"dearest", "write \"most expensive\""},
    {"told apart", "write \"distinguished\""},
    {"tells apart", "write \"distinguishes\""},
    {"is not nothing", "say what a missing value means"},
    {"speaks for", "say what follows from it"},
    {"thousandths of", "convert in the message: 3.4 replicas, 0.25 GPUs"},
    {"per mille", "convert in the message: 8.5 %"},
    {"micro-usd", "convert in the message: 2.40 USD"},
};

/// A comment that begins with one of these words and a lower-case word is an incomplete sentence.
constexpr std::string_view kClauseWords[] = {"What", "Who", "That", "Of", "Whose", "Whom", "Whether"};

bool is_letter(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

std::string lower(std::string_view text) {
  std::string result(text);
  std::ranges::transform(result, result.begin(),
                         [](char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); });
  return result;
}

bool has_phrase(std::string_view line, std::string_view phrase) {
  for (std::size_t at = line.find(phrase); at != line.npos; at = line.find(phrase, at + 1)) {
    const std::size_t end = at + phrase.size();
    const bool begins = at == 0 || !is_letter(line[at - 1]);
    if (begins && (end == line.size() || !is_letter(line[end]))) return true;
  }
  return false;
}

/// Returns the text of a line's comment, or nothing. A `//` within a string literal does not begin a comment.
std::string_view comment_of(const Source& source, std::size_t i) {
  const std::string_view line = source.lines[i];
  std::size_t from = line.find("//");
  // `code` lacks comments and the insides of literals. A `//` that is left there belongs to the code.
  if (from == line.npos || source.code[i].find("//") != std::string::npos) return {};
  if (source.code[i].find('"') != std::string::npos) from = line.rfind("//");
  from = line.find_first_not_of("/<", from);
  if (from == line.npos) return {};
  const std::size_t text = line.find_first_not_of(' ', from);
  return text == line.npos ? std::string_view() : line.substr(text);
}

bool begins_with_clause(std::string_view comment) {
  const std::size_t space = comment.find(' ');
  if (space == comment.npos || space + 1 >= comment.size()) return false;
  const bool clause = std::ranges::find(kClauseWords, comment.substr(0, space)) != std::end(kClauseWords);
  return clause && std::islower(static_cast<unsigned char>(comment[space + 1])) != 0;
}

bool has_code(std::string_view code) { return code.find_first_not_of(" \t") != code.npos; }

/// Returns true if the comment of line `i` continues the comment of the line above.
bool continues(const Source& source, std::size_t i) {
  return i > 0 && !has_code(source.code[i]) && !comment_of(source, i - 1).empty();
}

}  // namespace

const std::vector<Habit>& habits() { return kHabits; }

std::vector<std::string> parse_unread(std::string_view text) {
  std::vector<std::string> unread;
  for (const std::string& line : make_source("unread.txt", text).lines) {
    if (line.empty() || line.starts_with('#')) continue;
    unread.push_back(line.substr(0, line.find(':')));
  }
  return unread;
}

bool is_unread(const Source& source, const std::vector<std::string>& unread) {
  return std::ranges::any_of(
      unread, [&](const std::string& entry) { return source.path == entry || source.path.starts_with(entry + "/"); });
}

std::vector<Finding> check_prose(const Source& source) {
  std::vector<Finding> findings;
  if (std::ranges::find(kNamesThePhrases, source.path) != std::end(kNamesThePhrases)) return findings;
  for (std::size_t i = 0; i < source.lines.size(); ++i) {
    const std::string line = lower(source.lines[i]);
    for (const Habit& habit : kHabits) {
      if (!has_phrase(line, habit.phrase)) continue;
      findings.push_back({source.path, i + 1, std::string("\"") + habit.phrase + "\": " + habit.instead});
    }
    if (source.code.empty() || continues(source, i)) continue;
    if (begins_with_clause(comment_of(source, i))) {
      findings.push_back(
          {source.path, i + 1, "a comment without a subject: begin with a verb (\"Returns\") or a noun"});
    }
  }
  return findings;
}

}  // namespace capstan::tree
