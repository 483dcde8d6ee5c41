#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "net/socket_address.h"

namespace capstan::cli {

/// Addresses that a server is to listen on: those of the command line, and those of a list that may change while it
/// runs. A list is a file, looked at again when it changes, or standard input, of which each line adds, or with a minus
/// in front takes away. Lines are addresses or ranges; what follows '#' is a comment.
class AddressFeed {
 public:
  struct Change {
    std::vector<net::SocketAddress> added;
    std::vector<net::SocketAddress> gone;
  };

  /// `list` is a path, "-" for standard input, or empty. Error: an address of the command line.
  static Result<AddressFeed> open(const std::vector<std::string>& addresses, std::string list);

  /// What changed since the last look; never waits. Error: what is wrong, with its line; then nothing changed.
  Result<Change> look();
  /// The last look was the first.
  bool first() const { return looks_ == 1; }

  /// The addresses of one list's text.
  static Result<std::set<net::SocketAddress>> parse(std::string_view text, const std::string& file);

 private:
  Result<void> read_file(std::set<net::SocketAddress>& wanted);
  Result<void> read_lines(std::set<net::SocketAddress>& wanted);

  std::set<net::SocketAddress> fixed_;
  std::set<net::SocketAddress> listed_;
  std::set<net::SocketAddress> current_;
  std::vector<net::SocketAddress> free_ports_;  ///< port 0: each is one of its own
  std::string list_;
  std::string pending_;  ///< of standard input: a line that has not ended
  bool ended_ = false;
  int looks_ = 0;
  std::filesystem::file_time_type changed_{};
};

}  // namespace capstan::cli
