#include "cli/screen.h"

#include <gtest/gtest.h>
#include <poll.h>
#include <pty.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <string>
#include <string_view>
#include <utility>

#include "base/assert.h"
#include "cli/stop_signal.h"

namespace capstan::cli {
namespace {

TEST(Screen, KeysMayArriveInParts) {
  std::string input = "xs\x1b[";
  EXPECT_EQ(take_keys(input), std::vector<Key>{Key::sort});
  EXPECT_EQ(input, "\x1b[");
  input += "A\x1bOB\x1b[6~pq";
  EXPECT_EQ(take_keys(input), (std::vector<Key>{Key::up, Key::down, Key::page_down, Key::pause, Key::quit}));
  EXPECT_EQ(input, "");
}

TEST(Screen, OtherSequencesAreDroppedWhole) {
  // The mouse report ends with `s`, which is a key of its own. The whole report is dropped, and so is the function key
  // F5. The key Escape is dropped, too, but the `q` after it counts.
  std::string input = "\x1b[<0;10;5s\x1b[15~\x1bq";
  EXPECT_EQ(take_keys(input), std::vector<Key>{Key::quit});
  EXPECT_EQ(input, "");
  input = "\x1b[0000000000000000000000";
  EXPECT_TRUE(take_keys(input).empty());
  EXPECT_EQ(input, "");
}

TEST(Screen, DrawsOverTheLinesBefore) {
  EXPECT_EQ(drawing("one\ntwo\n"), "\x1b[?2026h\x1b[Hone\x1b[K\r\ntwo\x1b[K\x1b[J\x1b[?2026l");
}

/// A terminal and a program that uses it.
class Terminal {
 public:
  /// Runs `program` in a child process, with the terminal as its input and output.
  explicit Terminal(void (*program)()) {
    child_ = forkpty(&master_, nullptr, nullptr, nullptr);
    if (child_ != 0) return;
    const rlimit no_core{0, 0};
    setrlimit(RLIMIT_CORE, &no_core);
    program();
    _exit(0);
  }
  ~Terminal() { close(master_); }
  Terminal(const Terminal&) = delete;

  tcflag_t modes() const {
    termios now{};
    EXPECT_EQ(tcgetattr(master_, &now), 0);
    return now.c_lflag & (ICANON | ECHO);
  }
  /// Reads until the output has this part.
  void wait_for(std::string_view part) {
    while (output_.find(part) == output_.npos && read_some()) {
    }
    EXPECT_NE(output_.find(part), output_.npos) << output_;
  }
  void signal(int number) const { kill(child_, number); }
  /// Waits for the end of the program. Returns what it wrote, and the status of its end.
  std::pair<std::string, int> end() {
    while (read_some()) {
    }
    int status = 0;
    waitpid(child_, &status, 0);
    return {output_, status};
  }

 private:
  bool read_some() {
    std::array<char, 4096> bytes{};
    const ssize_t got = read(master_, bytes.data(), bytes.size());  // fails at the end of the program
    if (got > 0) output_.append(bytes.data(), static_cast<std::size_t>(got));
    return got > 0;
  }

  int master_ = -1;
  pid_t child_ = -1;
  std::string output_;
};

constexpr std::string_view kRestored = "\x1b[?7h\x1b[?25h\x1b[?1049l";

void draw_until_a_signal() {
  catch_stop_signals();
  Screen screen;
  screen.draw("drawn\n");
  while (stop_signals() == 0) poll(nullptr, 0, 1000);
}

TEST(Screen, EverySignalThatEndsTheProgramRestoresTheTerminal) {
  for (const int number : {SIGTERM, SIGINT, SIGHUP, SIGQUIT, SIGABRT}) {
    Terminal terminal(draw_until_a_signal);
    terminal.wait_for("drawn");
    EXPECT_EQ(terminal.modes(), 0U);
    terminal.signal(number);
    const auto [output, status] = terminal.end();
    EXPECT_TRUE(output.ends_with(kRestored)) << number << ": " << output;
    EXPECT_EQ(output.find(kRestored), output.rfind(kRestored)) << number;
    const bool is_caught = number == SIGTERM || number == SIGINT;
    EXPECT_EQ(WIFEXITED(status), is_caught) << number;
    EXPECT_EQ(WIFSIGNALED(status) ? WTERMSIG(status) : 0, is_caught ? 0 : number);
    EXPECT_EQ(terminal.modes(), static_cast<tcflag_t>(ICANON | ECHO)) << number;
  }
}

TEST(Screen, TheMessageOfABrokenInvariantIsPrintedOnTheRestoredTerminal) {
  Terminal terminal([] {
    Screen screen;
    screen.draw("drawn\n");
    CAPSTAN_ASSERT(stop_signals() == -1);
  });
  const auto [output, status] = terminal.end();
  EXPECT_EQ(WTERMSIG(status), SIGABRT);
  const std::size_t restored = output.find(kRestored);
  ASSERT_NE(restored, output.npos);
  EXPECT_GT(output.find("broken invariant: stop_signals() == -1"), restored);
  EXPECT_NE(output.find("broken invariant"), output.npos);
  EXPECT_EQ(restored, output.rfind(kRestored)) << "it is restored once";
}

}  // namespace
}  // namespace capstan::cli
