#include "tree/source.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace capstan::tree {
namespace {

constexpr std::string_view kFolders[] = {".ci",    "bench",   "cmake", "deploy", "docs",    "scenarios",
                                         "schema", "scripts", "src",   "tests",  "web/src", "web/test"};
constexpr std::string_view kEndings[] = {".cc", ".h", ".inc", ".md", ".cmake", ".txt", ".yaml", ".json", ".ts", ".tsx"};

/// The state of the scanner between two characters.
enum class State { code, block_comment, string, character, raw_string };

bool starts_identifier(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// Blanks lines one by one. The state carries over to the next line, because block comments and raw strings span lines.
class Blanker {
 public:
  std::string line(std::string_view text) {
    if (state_ == State::code && text.find_first_not_of(" \t") != text.npos &&
        text.substr(text.find_first_not_of(" \t")).starts_with("#include")) {
      return std::string(text);
    }
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
      const std::string_view rest = text.substr(i);
      if (state_ == State::code && rest.starts_with("//")) break;
      i += step(rest, out);
    }
    if (state_ == State::string || state_ == State::character) state_ = State::code;  // a literal ends with its line
    return out;
  }

 private:
  /// Consumes the first character of `rest`, and further ones that belong to the same token. Returns the number of
  /// these further characters.
  std::size_t step(std::string_view rest, std::string& out) {
    switch (state_) {
      case State::code:
        return step_code(rest, out);
      case State::block_comment:
        out += ' ';
        if (!rest.starts_with("*/")) return 0;
        state_ = State::code;
        return 1;
      case State::raw_string:
        if (!rest.starts_with(raw_end_)) return 0;
        state_ = State::code;
        out += '"';
        return raw_end_.size() - 1;
      case State::string:
      case State::character:
        break;
    }
    if (rest[0] == '\\') return 1;
    const char quote = state_ == State::string ? '"' : '\'';
    if (rest[0] != quote) return 0;
    out += quote;
    state_ = State::code;
    return 0;
  }

  std::size_t step_code(std::string_view rest, std::string& out) {
    if (rest.starts_with("/*")) {
      state_ = State::block_comment;
      return 1;
    }
    if (rest.starts_with("R\"") && (out.empty() || !starts_identifier(out.back()))) {
      const std::size_t open = rest.find('(');
      if (open != rest.npos) {
        raw_end_ = ")" + std::string(rest.substr(2, open - 2)) + "\"";
        state_ = State::raw_string;
        out += '"';
        return open;
      }
    }
    if (rest[0] == '"') state_ = State::string;
    // 1'000'000 is a number, not a character.
    if (rest[0] == '\'' && (out.empty() || !starts_identifier(out.back()))) state_ = State::character;
    out += rest[0];
    return 0;
  }

  State state_ = State::code;
  std::string raw_end_;
};

bool looked_at(const std::filesystem::path& file) {
  if (file.filename() == ".git") return false;  // in a git work tree, .git is a file with local paths
  const std::string ending = file.extension().string();
  return ending.empty() || std::ranges::find(kEndings, ending) != std::end(kEndings);
}

Source read(const std::filesystem::path& file, const std::filesystem::path& root) {
  std::ifstream in(file, std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  return make_source(file.lexically_relative(root).generic_string(), text);
}

}  // namespace

std::string_view Source::room() const {
  const std::string_view all = path;
  if (!all.starts_with("src/")) return {};
  const std::size_t slash = all.find('/', 4);
  return slash == all.npos ? std::string_view() : all.substr(4, slash - 4);
}

bool Source::is_header() const { return path.ends_with(".h"); }
bool Source::is_cpp() const { return is_header() || path.ends_with(".cc"); }
bool Source::is_page_script() const { return path.ends_with(".ts") || path.ends_with(".tsx"); }
bool Source::is_test() const { return path.ends_with("_test.cc") || path.starts_with("tests/"); }

Source make_source(std::string path, std::string_view text) {
  Source source{.path = std::move(path), .lines = {}, .code = {}};
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    source.lines.emplace_back(text.substr(0, end));
    text.remove_prefix(end == text.npos ? text.size() : end + 1);
  }
  if (source.is_cpp() || source.is_page_script()) source.code = code_only(source.lines);
  return source;
}

std::vector<std::string> code_only(const std::vector<std::string>& lines) {
  Blanker blanker;
  std::vector<std::string> code;
  for (const std::string& line : lines) code.push_back(blanker.line(line));
  return code;
}

std::vector<Source> read_tree(const std::string& root) {
  namespace fs = std::filesystem;
  std::vector<Source> sources;
  for (const std::string_view folder : kFolders) {
    if (!fs::is_directory(fs::path(root) / folder)) continue;
    fs::recursive_directory_iterator at(fs::path(root) / folder);
    for (; at != fs::end(at); ++at) {
      if (at->is_directory() && at->path().filename() == "node_modules") at.disable_recursion_pending();
      if (at->is_regular_file() && looked_at(at->path())) sources.push_back(read(at->path(), root));
    }
  }
  for (const fs::directory_entry& entry : fs::directory_iterator(root)) {
    if (entry.is_regular_file() && looked_at(entry.path())) sources.push_back(read(entry.path(), root));
  }
  std::ranges::sort(sources, {}, &Source::path);
  return sources;
}

}  // namespace capstan::tree
