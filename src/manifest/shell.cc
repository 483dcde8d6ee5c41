#include "manifest/shell.h"

#include <utility>

namespace capstan::manifest {
namespace {

class Reader {
 public:
  explicit Reader(std::string_view script) : script_(script) {}

  std::vector<std::vector<ShellWord>> read() {
    while (at_ < script_.size()) step();
    end_command();
    return std::move(commands_);
  }

 private:
  void step() {
    const char c = script_[at_];
    if (c == ' ' || c == '\t' || c == '\r') {
      end_word();
      ++at_;
    } else if (c == '\n' || c == ';' || c == '|' || c == '&' || c == '(' || c == ')') {
      end_command();
      ++at_;
    } else if (c == '#' && !in_word_) {
      while (at_ < script_.size() && script_[at_] != '\n') ++at_;
    } else if (c == '\\') {
      backslash();
    } else if (c == '$' && at_ + 1 < script_.size() && (script_[at_ + 1] == '(' || script_[at_ + 1] == '{')) {
      substitution();
    } else if (c == '"' || c == '\'') {
      quoted(c);
    } else {
      begin_word();
      word_.text += c;
      ++at_;
    }
  }

  /// Reads a backslash, which joins lines or escapes the next character.
  void backslash() {
    std::size_t next = at_ + 1;
    while (next < script_.size() && (script_[next] == ' ' || script_[next] == '\r')) ++next;
    if (next >= script_.size() || script_[next] == '\n') {
      end_word();
      at_ = next + 1;
      return;
    }
    begin_word();
    word_.text += script_[at_ + 1];
    at_ += 2;
  }

  void quoted(char quote) {
    begin_word();
    ++at_;
    while (at_ < script_.size() && script_[at_] != quote) {
      if (quote == '"' && script_[at_] == '\\' && at_ + 1 < script_.size()) ++at_;
      word_.text += script_[at_++];
    }
    if (at_ < script_.size()) ++at_;
  }

  /// Reads `$(NAME)` (which Kubernetes replaces before the shell runs), `$(a command)` or `${NAME}` as written.
  void substitution() {
    begin_word();
    const char open = script_[at_ + 1];
    const char close = open == '(' ? ')' : '}';
    std::size_t depth = 0;
    for (std::size_t i = at_ + 1; i < script_.size(); ++i) {
      if (script_[i] == open) ++depth;
      if (script_[i] != close || --depth > 0) continue;
      word_.text += script_.substr(at_, i + 1 - at_);
      at_ = i + 1;
      return;
    }
    word_.text += script_[at_++];  // the substitution is never closed
  }

  void begin_word() {
    if (in_word_) return;
    in_word_ = true;
    word_ = {.text = {}, .offset = at_, .size = 0};
  }

  void end_word() {
    if (!in_word_) return;
    in_word_ = false;
    word_.size = std::min(at_, script_.size()) - word_.offset;
    command_.push_back(std::move(word_));
  }

  void end_command() {
    end_word();
    if (!command_.empty()) commands_.push_back(std::exchange(command_, {}));
  }

  std::string_view script_;
  std::size_t at_ = 0;
  bool in_word_ = false;
  ShellWord word_;
  std::vector<ShellWord> command_;
  std::vector<std::vector<ShellWord>> commands_;
};

}  // namespace

std::vector<std::vector<ShellWord>> shell_commands(std::string_view script) { return Reader(script).read(); }

}  // namespace capstan::manifest
