#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <string_view>

#include "net/http.h"

struct curl_slist;

namespace capstan::net {

/// One exchange as libcurl sees it: the handle with its options, and the callbacks that fill a `Response`. Belongs to
/// `HttpClient`; its header knows no header of libcurl.
class CurlTransfer {
 public:
  /// @param now  the loop's time, read whenever something happens
  CurlTransfer(RequestId id, Request request, Handler handler, const Instant& now);
  ~CurlTransfer();
  CurlTransfer(const CurlTransfer&) = delete;

  RequestId id() const { return id_; }
  void* easy() const { return easy_; }
  const std::string& origin() const { return origin_; }  ///< "https://host:port"

  /// Sets the handle's options. False where the request cannot be sent; `refusal` says why.
  /// @param idle_max  how long a connection may have been idle to be used; zero: a new one it must be
  bool set_up(Duration keepalive, Duration idle_max);
  void refuse(std::string why) { refusal_ = std::move(why); }
  const std::string& refusal() const { return refusal_; }

  /// The moment at which this exchange has run out of one of its times, if nothing arrives until then.
  Instant next_deadline() const;
  /// Which of its times it has run out of, or none.
  Failure expired(Instant now) const;
  std::string timeout_message(Failure failure) const;

  Failure failure_of(int curl_code) const;
  std::string message_of(int curl_code) const;

  void forget() { forgotten_ = true; }  ///< no callback any more; the one that runs may end
  void finish(Failure failure, std::string message);

  Instant deadline = Instant::never();  ///< the one that the loop watches: not later than `next_deadline`

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
  Instant active_at_;  // connected, or received something
  bool forgotten_ = false;
  bool connected_ = false;
  bool headers_complete_ = false;
  bool too_large_ = false;
  std::array<char, 256> error_{};  // CURL_ERROR_SIZE
  std::size_t header_bytes_ = 0;
  std::size_t body_bytes_ = 0;
  Response response_;
};

}  // namespace capstan::net
