#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "lint/run.h"

namespace capstan::lint {

/// What an editor talks to: messages of the Language Server Protocol in, messages out. Diagnostics of what is open,
/// the rule's page on hover, fixes as code actions. It reads no files and keeps no clock.
class LanguageServer {
 public:
  explicit LanguageServer(Options options);
  ~LanguageServer();

  /// Takes one message (JSON) and gives what is to be sent for it, in order.
  std::vector<std::string> take(std::string_view message);

  bool ended() const { return ended_; }          ///< `exit` has come
  bool shut_down() const { return shut_down_; }  ///< ... after `shutdown`, as it should

 private:
  struct Open;
  struct Message;

  void open(const std::string& uri, std::string text, std::vector<std::string>& out);
  void close(const std::string& uri, std::vector<std::string>& out);
  void notify(const Message& message, std::vector<std::string>& out);
  std::string answer(const Message& message) const;

  Options options_;
  std::map<std::string, std::unique_ptr<Open>> open_;
  bool shut_down_ = false;
  bool ended_ = false;
};

/// Frames of a stream: a header with the length, then the message. Bytes come in any pieces.
class FrameReader {
 public:
  static constexpr std::size_t kMostBytes = 64u << 20;

  /// Takes bytes and gives the messages that are whole now. False where the stream is none of the protocol's.
  bool take(std::string_view bytes, std::vector<std::string>& messages);

 private:
  std::string pending_;
};

std::string frame(const std::string& message);

}  // namespace capstan::lint
