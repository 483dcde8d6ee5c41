#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "lint/run.h"

namespace capstan::lint {

/// A server of the Language Server Protocol. It answers messages with diagnostics of open files, the page of a rule on
/// hover, and fixes as code actions. It reads no files and no clock.
class LanguageServer {
 public:
  explicit LanguageServer(Options options);
  ~LanguageServer();

  /// Handles one message (JSON) and returns the messages to send, in order.
  std::vector<std::string> take(std::string_view message);

  bool ended() const { return ended_; }          ///< true after `exit`
  bool shut_down() const { return shut_down_; }  ///< true after `shutdown`, which must precede `exit`

 private:
  struct OpenFile;
  struct Message;

  void open(const std::string& uri, std::string text, std::vector<std::string>& out);
  void close(const std::string& uri, std::vector<std::string>& out);
  void notify(const Message& message, std::vector<std::string>& out);
  std::string answer(const Message& message) const;

  Options options_;
  std::map<std::string, std::unique_ptr<OpenFile>> open_;
  bool shut_down_ = false;
  bool ended_ = false;
};

/// Reads the frames of a stream. A frame is a header with a length, then the message. The bytes may come in any pieces.
class FrameReader {
 public:
  static constexpr std::size_t kMaxBytes = 64u << 20;

  /// Appends the messages that are complete. Returns false if the stream breaks the protocol.
  bool take(std::string_view bytes, std::vector<std::string>& messages);

 private:
  std::string pending_;
};

std::string frame(const std::string& message);

}  // namespace capstan::lint
