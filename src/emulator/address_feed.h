#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "net/socket_address.h"

namespace capstan::emulator {

/// The addresses on which a server listens: the addresses of the command line and a list that may change while the
/// server runs. The list is a file, which is read again when it changes, or standard input. A line adds an address or a
/// range; with a leading minus it removes them. The text after '#' is a comment.
class AddressFeed {
 public:
  /// The difference between two polls.
  struct Change {
    std::vector<net::SocketAddress> added;
    std::vector<net::SocketAddress> removed;
  };

  /// Returns an error if an address of the command line is invalid.
  /// @param list  a path, "-" for standard input, or empty for none
  static Result<AddressFeed> open(const std::vector<std::string>& addresses, std::string list);

  /// Returns the changes since the previous call; never waits. If the file has an error, the addresses stay as they
  /// were, and the error names the line. On standard input only the invalid line is ignored; the others take effect in
  /// the next call.
  Result<Change> poll_changes();
  /// Returns true if poll_changes() was called exactly once so far.
  bool is_first_poll() const { return polls_ == 1; }

  /// Returns the addresses of a list with this text. `file` is its name in errors.
  static Result<std::set<net::SocketAddress>> parse(std::string_view text, const std::string& file);

 private:
  Result<void> read_file(std::set<net::SocketAddress>& wanted);
  Result<void> read_lines(std::set<net::SocketAddress>& wanted);

  std::set<net::SocketAddress> fixed_;
  std::set<net::SocketAddress> listed_;
  std::set<net::SocketAddress> current_;
  std::vector<net::SocketAddress> free_ports_;  ///< addresses with port 0, each for a listener on a free port
  std::string list_;
  std::string pending_;  ///< start of an unfinished line of standard input
  bool ended_ = false;   ///< standard input has ended
  int polls_ = 0;
  std::filesystem::file_time_type modified_{};  ///< time of the list file's last change when it was last read
};

}  // namespace capstan::emulator
