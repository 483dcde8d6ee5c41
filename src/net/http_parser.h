#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "net/http_request.h"

namespace capstan::net {

/// What a request may be at most.
struct HttpLimits {
  std::size_t head_bytes = 32'768;  ///< request line and headers
  std::size_t headers = 100;
  std::size_t body_bytes = 1'048'576;
};

/// Reads HTTP/1.1 and 1.0 requests (RFC 9112) from bytes as they come, cut anywhere. A pure state machine; strict where
/// laxity lets two readers see two requests in the same bytes: a length and chunks together, two lengths, a bare line
/// feed, a folded header, white space before the colon are errors, not guesses.
class HttpParser {
 public:
  enum class State : std::uint8_t {
    head,    ///< needs more of the request line and headers
    body,    ///< needs more of the body
    done,    ///< take() it; nothing more is consumed until then
    failed,  ///< `status` and `reason` say why; the connection cannot be used again
  };

  explicit HttpParser(const HttpLimits& limits) : limits_(limits) {}

  /// Consumes from the front of `bytes` up to the end of the request; returns how many.
  std::size_t feed(std::string_view bytes);

  State state() const { return state_; }
  bool began() const { return state_ != State::head || !head_.empty(); }  ///< some of a request is here
  int status() const { return status_; }                                  ///< failed: the status code to reply with
  std::string_view reason() const { return reason_; }                     ///< failed: what is wrong, what was expected

  /// The client holds its body back until it hears "100 Continue"; true once for such a request.
  bool take_continue();

  /// The request that is done; the parser is then ready for the next.
  HttpRequest take();

 private:
  enum class Chunk : std::uint8_t { none, size, data, data_end, trailer };

  std::size_t feed_head(std::string_view bytes);
  std::size_t feed_body(std::string_view bytes);
  std::size_t feed_line(std::string_view bytes, std::size_t most);
  void end_line();
  bool parse_head();
  bool parse_request_line(std::string_view line);
  bool parse_header(std::string_view line);
  bool parse_framing();
  bool parse_chunk_size(std::string_view line);
  std::string_view value_of(std::string_view name) const;
  bool fail(int status, std::string_view reason);

  HttpLimits limits_;
  State state_ = State::head;
  Chunk chunk_ = Chunk::none;
  bool continue_ = false;
  std::string head_;
  std::string line_;      ///< of the chunked coding
  std::size_t left_ = 0;  ///< bytes of the body, or of the chunk, that are still to come
  std::size_t trailer_bytes_ = 0;
  HttpRequest request_;
  int status_ = 0;
  std::string_view reason_;
};

}  // namespace capstan::net
