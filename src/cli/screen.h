#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "top/watched_view.h"

// The whole terminal, for a command that draws again and again.
namespace capstan::cli {

using capstan::top::Key;

/// Removes all complete keys from the start of the input, and returns the keys that `Key` lists. Other keys are
/// dropped. The bytes of an incomplete key stay in the input.
std::vector<Key> take_keys(std::string& input);

/// Returns the bytes that make a terminal replace the lines on its screen by `lines`. They overwrite each line and
/// never clear the whole screen, so nothing flickers.
std::string drawing(std::string_view lines);

/// Uses the terminal of standard output: the alternate screen without a cursor, and keys without Enter. The destructor
/// restores the terminal. The caller destroys the object on SIGINT and SIGTERM (cli/stop_signal.h). SIGHUP, SIGQUIT and
/// the signals of a crash, such as SIGABRT after a broken invariant, restore the terminal and then end the program. At
/// most one object of this class exists at a time.
class Screen {
 public:
  /// Returns true if standard output is a terminal that can move its cursor.
  static bool is_available();

  Screen();
  ~Screen();
  Screen(const Screen&) = delete;
  Screen& operator=(const Screen&) = delete;

  /// Returns false if the terminal is gone.
  bool draw(std::string_view lines);
  /// Returns the keys that were pressed since the last call.
  std::vector<Key> keys();
  /// Returns a descriptor that is readable if there are keys; -1 if standard input is no terminal.
  int poll_fd() const;
  /// Returns true if the size of the terminal has changed since the last call. Such a change interrupts a wait.
  bool was_resized();

 private:
  bool has_keys_ = false;
  std::string input_;
};

}  // namespace capstan::cli
