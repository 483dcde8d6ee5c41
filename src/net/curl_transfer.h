#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include "net/http.h"

struct curl_slist;

namespace capstan::net {

/// One exchange in libcurl: the handle with its options, and the callbacks that fill a `Response`. It is a part of
/// `HttpClient`. This header does not include headers of libcurl.
class CurlTransfer {
 public:
  /// @param now  time of the loop, which outlives the transfer
  CurlTransfer(RequestId id, Request request, Handler handler, const Instant& now);
  ~CurlTransfer();
  CurlTransfer(const CurlTransfer&) = delete;

  RequestId id() const { return id_; }
  void* easy() const { return easy_; }
  const std::string& origin() const { return origin_; }  ///< "https://host:port"

  /// Sets the options of the handle. Returns false if the request cannot be sent; `refusal` has the reason.
  /// @param idle_max  longest idle time of a connection that may be reused; 0: a new connection is required
  bool set_up(Duration keepalive, Duration idle_max);
  void refuse(std::string why) { refusal_ = std::move(why); }
  const std::string& refusal() const { return refusal_; }

  /// Returns the time at which this exchange exceeds a limit if nothing arrives until then.
  Instant next_deadline() const;
  /// Returns the failure for the exceeded time limit, or `none`.
  Failure expired(Instant now) const;
  std::string timeout_message(Failure failure) const;

  Failure failure_of(int curl_code) const;
  std::string message_of(int curl_code) const;

  void forget() { forgotten_ = true; }  ///< stops all callbacks; a running callback may finish
  void finish(Failure failure, std::string message);

  Instant deadline = Instant::never();  ///< deadline that the loop watches: not later than `next_deadline`

 private:
  static std::size_t on_header(char* bytes, std::size_t size, std::size_t count, void* self);
  static std::size_t on_body(char* bytes, std::size_t size, std::size_t count, void* self);
  static int on_connected(void* self, char*, char*, int, int);

  void set_address();
  void set_method();
  void set_headers();
  void set_tls();
  void set_callbacks();
  bool take_header(std::string_view line);
  bool take_body(std::string_view bytes);

  RequestId id_;
  Request request_;
  Handler handler_;
  std::string origin_;
  std::string refusal_;
  void* easy_ = nullptr;
  curl_slist* header_list_ = nullptr;
  curl_slist* connect_to_ = nullptr;
  const Instant& now_;
  Instant started_at_;
  Instant active_at_;  // time of the connection or of the last data received
  bool forgotten_ = false;
  bool connected_ = false;
  bool headers_complete_ = false;
  bool too_large_ = false;
  std::array<char, 256> error_{};  // error text of libcurl; CURL_ERROR_SIZE bytes
  std::size_t header_bytes_ = 0;
  std::size_t body_bytes_ = 0;
  Response response_;
};

}  // namespace capstan::net
