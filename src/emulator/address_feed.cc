#include "emulator/address_feed.h"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <utility>

#include "base/trimmed.h"
#include "emulator/addresses.h"

namespace capstan::emulator {
namespace {

using Addresses = std::set<net::SocketAddress>;

constexpr std::string_view kBlanks = " \t\r";
constexpr std::size_t kMaxBytes = 16 << 20;

/// Adds the addresses of a line to `addresses`, or removes them if the line begins with a minus.
Result<void> apply(std::string_view line, Addresses& addresses) {
  line = trimmed(line.substr(0, line.find('#')), kBlanks);
  if (line.empty()) return {};
  const bool removes = line.front() == '-';
  const auto parsed = parse_addresses(trimmed(line.substr(removes ? 1 : 0), kBlanks));
  if (!parsed) return std::unexpected(parsed.error());
  for (const net::SocketAddress& address : *parsed) {
    if (removes) {
      addresses.erase(address);
    } else {
      addresses.insert(address);
    }
  }
  return {};
}

}  // namespace

Result<AddressFeed> AddressFeed::open(const std::vector<std::string>& addresses, std::string list) {
  AddressFeed feed;
  for (const std::string& text : addresses) {
    const auto parsed = parse_addresses(text);
    if (!parsed) return std::unexpected(parsed.error());
    for (const net::SocketAddress& address : *parsed) {
      if (address.port == 0) {
        feed.free_ports_.push_back(address);
      } else {
        feed.fixed_.insert(address);
      }
    }
  }
  feed.list_ = std::move(list);
  return feed;
}

Result<Addresses> AddressFeed::parse(std::string_view text, const std::string& file) {
  Addresses addresses;
  for (std::uint32_t number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    if (const Result<void> read = apply(text.substr(0, end), addresses); !read) {
      return std::unexpected(Error{.file = file, .line = number, .message = read.error().message});
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return addresses;
}

Result<AddressFeed::Change> AddressFeed::poll_changes() {
  ++polls_;
  if (list_ == "-") {
    if (const Result<void> read = read_lines(listed_); !read) return std::unexpected(read.error());
  } else if (!list_.empty()) {
    if (const Result<void> read = read_file(listed_); !read) return std::unexpected(read.error());
  }
  Addresses wanted = fixed_;
  wanted.insert(listed_.begin(), listed_.end());
  Change change;
  std::ranges::set_difference(wanted, current_, std::back_inserter(change.added));
  std::ranges::set_difference(current_, wanted, std::back_inserter(change.removed));
  current_ = std::move(wanted);
  for (const net::SocketAddress& address : std::exchange(free_ports_, {})) change.added.push_back(address);
  return change;
}

Result<void> AddressFeed::read_file(Addresses& wanted) {
  std::error_code error;
  const auto modified = std::filesystem::last_write_time(list_, error);
  if (!error && modified == modified_) return {};
  std::ifstream file(list_, std::ios::binary);
  if (error || !file) {
    if (polls_ > 1) return {};  // the file is being replaced; the next poll reads it
    return std::unexpected(Error{.file = list_, .message = "cannot be read, expected a list of addresses"});
  }
  modified_ = modified;
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  Result<Addresses> read = parse(text, list_);
  if (!read) return std::unexpected(read.error());
  wanted = std::move(*read);
  return {};
}

Result<void> AddressFeed::read_lines(Addresses& wanted) {
  pollfd input{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
  std::array<char, 65536> buffer;
  while (!ended_ && pending_.size() < kMaxBytes && poll(&input, 1, 0) > 0) {
    const ssize_t size = read(STDIN_FILENO, buffer.data(), buffer.size());
    if (size <= 0) ended_ = true;  // the addresses that were read stay
    if (size > 0) pending_.append(buffer.data(), static_cast<std::size_t>(size));
  }
  Result<void> outcome;
  for (std::size_t end = pending_.find('\n'); end != pending_.npos; end = pending_.find('\n')) {
    const Result<void> applied = apply(std::string_view(pending_).substr(0, end), wanted);
    if (!applied && outcome) {
      outcome = std::unexpected(Error{.file = "standard input", .message = applied.error().message});
    }
    pending_.erase(0, end + 1);
  }
  return outcome;
}

}  // namespace capstan::emulator
