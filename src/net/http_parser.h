#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "net/http_request.h"

namespace capstan::net {

/// Limits of a request.
struct HttpLimits {
  std::size_t head_bytes = 32'768;  ///< request line and headers
  std::size_t headers = 100;
  std::size_t body_bytes = 1'048'576;
};

/// Parses HTTP/1.1 and 1.0 requests (RFC 9112) from pieces of any size. A pure state machine. It refuses everything
/// that two parsers could read as different requests: a length together with chunks, two lengths, a bare line feed, a
/// folded header, and white space before the colon.
class HttpParser {
 public:
  enum class State : std::uint8_t {
    head,    ///< needs more of the request line and headers
    body,    ///< needs more of the body
    done,    ///< a request is complete; nothing more is consumed before take()
    failed,  ///< `status` and `reason` have the cause; the connection cannot be used again
  };

  explicit HttpParser(const HttpLimits& limits) : limits_(limits) {}

  /// Consumes `bytes` up to the end of the request and returns the number of consumed bytes.
  std::size_t feed(std::string_view bytes);

  State state() const { return state_; }
  bool began() const { return state_ != State::head || !head_.empty(); }  ///< a part of a request has arrived
  int status() const { return status_; }                                  ///< status code of the reply, if failed
  std::string_view reason() const { return reason_; }                     ///< error message, if failed

  /// Returns true once if the client waits for "100 Continue" before it sends the body.
  bool take_continue();

  /// Returns the complete request. The parser is then ready for the next one.
  HttpRequest take();

 private:
  enum class Chunk : std::uint8_t { none, size, data, data_end, trailer };

  std::size_t feed_head(std::string_view bytes);
  std::size_t feed_body(std::string_view bytes);
  std::size_t feed_line(std::string_view bytes, std::size_t max_bytes);
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
  std::string line_;      ///< unfinished line of the chunked coding
  std::size_t left_ = 0;  ///< bytes of the body or of the chunk that have not arrived
  std::size_t trailer_bytes_ = 0;
  HttpRequest request_;
  int status_ = 0;
  std::string_view reason_;
};

}  // namespace capstan::net
