#include "cli/screen.h"

#include <poll.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <utility>

#include "base/assertion_message.h"
#include "cli/terminal.h"

namespace capstan::cli {
namespace {

// `kBegin` switches to the alternate screen, hides the cursor and turns line breaks at the last column off. `kEnd`
// undoes these changes in reverse order.
constexpr std::string_view kBegin = "\x1b[?1049h\x1b[?25l\x1b[?7l\x1b[2J";
constexpr std::string_view kEnd = "\x1b[?7h\x1b[?25h\x1b[?1049l";

volatile std::sig_atomic_t resized = 0;
volatile std::sig_atomic_t is_terminal_changed = 0;  ///< 1 from the change of the terminal until it is restored
volatile std::sig_atomic_t is_input_changed = 0;
termios input_before{};

/// Signals that end a program before its destructors run.
constexpr std::array kFatal = {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGQUIT, SIGHUP};

void on_resize(int) { resized = 1; }

bool write_all(std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(STDOUT_FILENO, text.data(), text.size());
    if (written < 0 && errno != EINTR && errno != EAGAIN) return false;
    if (written > 0) text.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

/// Restores the terminal, once. A signal handler may call it.
void restore_terminal() {
  if (is_terminal_changed == 0) return;
  is_terminal_changed = 0;
  write_all(kEnd);
  if (is_input_changed != 0) tcsetattr(STDIN_FILENO, TCSAFLUSH, &input_before);
}

void on_fatal(int signal) {
  restore_terminal();
  raise(signal);  // ends the program when this handler returns, because SA_RESETHAND has restored the default
}

constexpr std::pair<std::string_view, Key> kKeys[] = {{"q", Key::quit},
                                                      {"Q", Key::quit},
                                                      {"p", Key::pause},
                                                      {" ", Key::page_down},
                                                      {"P", Key::pause},
                                                      {"s", Key::sort},
                                                      {"S", Key::sort},
                                                      {"k", Key::up},
                                                      {"j", Key::down},
                                                      {"g", Key::home},
                                                      {"G", Key::end},
                                                      {"\x1b[A", Key::up},
                                                      {"\x1b[B", Key::down},
                                                      {"\x1bOA", Key::up},
                                                      {"\x1bOB", Key::down},
                                                      {"\x1b[5~", Key::page_up},
                                                      {"\x1b[6~", Key::page_down},
                                                      {"\x1b[H", Key::home},
                                                      {"\x1b[F", Key::end},
                                                      {"\x1bOH", Key::home},
                                                      {"\x1bOF", Key::end},
                                                      {"\x1b[1~", Key::home},
                                                      {"\x1b[4~", Key::end},
                                                      {"\x03", Key::quit}};

/// Returns the length of the key at the start of the input; 0 if it is not complete.
std::size_t key_length(std::string_view input) {
  if (input.front() != '\x1b') return 1;
  if (input.size() < 2) return 0;
  if (input[1] == 'O') return input.size() < 3 ? 0 : 3;
  if (input[1] != '[') return 1;  // the key Escape, followed by another key
  for (std::size_t i = 2; i < input.size(); ++i) {
    if (input[i] >= 0x40 && input[i] <= 0x7e) return i + 1;
  }
  constexpr std::size_t kLongest = 16;
  return input.size() < kLongest ? 0 : input.size();
}

}  // namespace

std::vector<Key> take_keys(std::string& input) {
  std::vector<Key> keys;
  while (!input.empty()) {
    const std::size_t length = key_length(input);
    if (length == 0) break;
    for (const auto& [bytes, key] : kKeys) {
      if (std::string_view(input).substr(0, length) == bytes) keys.push_back(key);
    }
    input.erase(0, length);
  }
  return keys;
}

std::string drawing(std::string_view lines) {
  // The first and the last sequence begin and end a synchronized update (mode 2026): a terminal that supports it shows
  // all changes in between at once.
  std::string out = "\x1b[?2026h\x1b[H";
  if (lines.ends_with('\n')) lines.remove_suffix(1);
  for (const char c : lines) {
    if (c == '\n') out += "\x1b[K\r";
    out += c;
  }
  return out + "\x1b[K\x1b[J\x1b[?2026l";
}

bool Screen::is_available() {
  const char* term = std::getenv("TERM");
  return output_is_terminal() && term != nullptr && *term != '\0' && std::string_view(term) != "dumb";
}

Screen::Screen() {
  struct sigaction action{};
  action.sa_handler = on_resize;  // without SA_RESTART, so that a change interrupts a wait
  sigaction(SIGWINCH, &action, nullptr);
  if (isatty(STDIN_FILENO) == 1 && tcgetattr(STDIN_FILENO, &input_before) == 0) {
    has_keys_ = true;
    is_input_changed = 1;
    termios raw = input_before;
    raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
    raw.c_cc[VMIN] = 0;
    raw.c_cc[VTIME] = 0;
    // Ctrl-Z and Ctrl-\ send no signal, because they would leave the terminal in this state. Ctrl-C still ends the
    // command.
    raw.c_cc[VSUSP] = raw.c_cc[VQUIT] = _POSIX_VDISABLE;
    tcsetattr(STDIN_FILENO, TCSAFLUSH, &raw);
  }
  is_terminal_changed = 1;
  set_assertion_hook(restore_terminal);
  for (const int signal : kFatal) {
    struct sigaction before{};
    sigaction(signal, nullptr, &before);
    if (before.sa_handler != SIG_DFL) continue;  // a sanitizer handles this signal
    struct sigaction fatal{};
    fatal.sa_handler = on_fatal;
    fatal.sa_flags = static_cast<int>(SA_RESETHAND);
    sigaction(signal, &fatal, nullptr);
  }
  write_all(kBegin);
}

Screen::~Screen() {
  restore_terminal();
  set_assertion_hook(nullptr);
}

bool Screen::draw(std::string_view lines) { return write_all(drawing(lines)); }

int Screen::poll_fd() const { return has_keys_ ? STDIN_FILENO : -1; }

std::vector<Key> Screen::keys() {
  pollfd descriptor{poll_fd(), POLLIN, 0};
  if (poll(&descriptor, 1, 0) != 1) return {};
  std::array<char, 256> bytes{};
  const ssize_t got = read(STDIN_FILENO, bytes.data(), bytes.size());
  if (got == 0) has_keys_ = false;  // the end of the input
  if (got > 0) input_.append(bytes.data(), static_cast<std::size_t>(got));
  return take_keys(input_);
}

bool Screen::was_resized() { return std::exchange(resized, 0) != 0; }

}  // namespace capstan::cli
