#include "net/curl_transfer.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>
#include <optional>

#include <curl/curl.h>

#include "base/assert.h"
#include "base/trimmed.h"

namespace capstan::net {
namespace {

static_assert(CURL_ERROR_SIZE == 256);

bool printable(std::string_view text) {
  return std::ranges::all_of(text, [](unsigned char c) { return c >= 0x20 && c != 0x7f; });
}

/// Returns the fault of a request, or "". A line break in a header is a fault, because it would add another header.
std::string fault_of(const Request& request) {
  if (!printable(request.url) || request.url.contains(' '))
    return "the URL has a space or a control character, expected a percent-encoded URL";
  if (!request.url.starts_with("http://") && !request.url.starts_with("https://")) {
    return "the URL is neither http nor https, expected one of them";
  }
  for (const Header& header : request.headers) {
    const bool is_name = !header.name.empty() && header.name.find_first_of(" :") == header.name.npos;
    if (!is_name || !printable(header.name)) return "the name of a header is invalid";
    if (!printable(header.value)) return "header " + header.name + " has a control character";
  }
  return {};
}

std::string origin_of(const std::string& url) { return url.substr(0, url.find('/', url.find("://") + 3)); }

/// Sets up a new socket: child processes do not inherit it, and the connection ends if sent bytes are not acknowledged
/// in time.
int on_new_socket(void* keepalive_ms, curl_socket_t socket, curlsocktype) {
  const unsigned timeout_ms = static_cast<unsigned>(reinterpret_cast<std::uintptr_t>(keepalive_ms));
  setsockopt(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, &timeout_ms, sizeof timeout_ms);
  return fcntl(socket, F_SETFD, FD_CLOEXEC) < 0 ? CURL_SOCKOPT_ERROR : CURL_SOCKOPT_OK;
}

std::string_view trim(std::string_view text) { return trimmed(text, " \t\r\n"); }

/// Returns the status in a line such as "HTTP/1.1 404 Not Found".
int status_of(std::string_view line) {
  const std::size_t space = line.find(' ');
  int status = 0;
  for (std::size_t i = space + 1; space != line.npos && i < line.size() && i < space + 4; ++i) {
    if (line[i] < '0' || line[i] > '9') return 0;
    status = status * 10 + (line[i] - '0');
  }
  return status;
}

void set_blob(CURL* easy, CURLoption option, const std::string& bytes) {
  curl_blob blob{.data = const_cast<char*>(bytes.data()), .len = bytes.size(), .flags = CURL_BLOB_COPY};
  curl_easy_setopt(easy, option, &blob);
}

}  // namespace

CurlTransfer::CurlTransfer(RequestId id, Request request, Handler handler, const Instant& now)
    : id_(id),
      request_(std::move(request)),
      handler_(std::move(handler)),
      origin_(origin_of(request_.url)),
      refusal_(fault_of(request_)),
      now_(now),
      started_at_(now),
      active_at_(now) {}

CurlTransfer::~CurlTransfer() {
  curl_easy_cleanup(easy_);
  curl_slist_free_all(header_list_);
  curl_slist_free_all(connect_to_);
}

bool CurlTransfer::set_up(Duration keepalive, Duration idle_max) {
  if (!refusal_.empty()) return false;
  easy_ = curl_easy_init();
  CAPSTAN_ASSERT(easy_ != nullptr);
  set_callbacks();
  set_method();
  set_headers();
  set_tls();
  set_address();
  curl_easy_setopt(easy_, CURLOPT_FRESH_CONNECT, idle_max > Duration::zero() ? 0L : 1L);
  curl_easy_setopt(easy_, CURLOPT_MAXAGE_CONN, static_cast<long>(whole_seconds(idle_max)));
  const auto keepalive_s = std::chrono::ceil<std::chrono::seconds>(keepalive).count();
  curl_easy_setopt(easy_, CURLOPT_TCP_KEEPALIVE, 1L);
  curl_easy_setopt(easy_, CURLOPT_TCP_KEEPIDLE, static_cast<long>(keepalive_s));
  curl_easy_setopt(easy_, CURLOPT_TCP_KEEPINTVL, 5L);
  curl_easy_setopt(easy_, CURLOPT_SOCKOPTFUNCTION, on_new_socket);
  curl_easy_setopt(easy_, CURLOPT_SOCKOPTDATA,
                   reinterpret_cast<void*>(static_cast<std::uintptr_t>(keepalive_s * 1000)));
  return refusal_.empty();
}

void CurlTransfer::set_callbacks() {
  curl_easy_setopt(easy_, CURLOPT_PRIVATE, this);
  curl_easy_setopt(easy_, CURLOPT_ERRORBUFFER, error_.data());
  curl_easy_setopt(easy_, CURLOPT_NOSIGNAL, 1L);
  curl_easy_setopt(easy_, CURLOPT_HEADERFUNCTION, on_header);
  curl_easy_setopt(easy_, CURLOPT_HEADERDATA, this);
  curl_easy_setopt(easy_, CURLOPT_WRITEFUNCTION, on_body);
  curl_easy_setopt(easy_, CURLOPT_WRITEDATA, this);
  curl_easy_setopt(easy_, CURLOPT_PREREQFUNCTION, on_connected);
  curl_easy_setopt(easy_, CURLOPT_PREREQDATA, this);
}

void CurlTransfer::set_method() {
  if (request_.method == "HEAD") {
    curl_easy_setopt(easy_, CURLOPT_NOBODY, 1L);
    return;
  }
  if (!request_.body.empty() || request_.method == "POST") {
    curl_easy_setopt(easy_, CURLOPT_POSTFIELDSIZE_LARGE, static_cast<curl_off_t>(request_.body.size()));
    curl_easy_setopt(easy_, CURLOPT_POSTFIELDS,
                     request_.body.data());  // not copied, because the request lives as long as the transfer
  }
  curl_easy_setopt(easy_, CURLOPT_CUSTOMREQUEST, request_.method.c_str());
}

void CurlTransfer::set_headers() {
  // libcurl adds these headers to a request with a body; an empty value removes them.
  for (const char* name : {"Expect", "Content-Type"}) {
    if (!find_header(request_.headers, name)) {
      header_list_ = curl_slist_append(header_list_, (std::string(name) + ":").c_str());
    }
  }
  for (const Header& header : request_.headers) {
    const std::string line = header.value.empty() ? header.name + ";" : header.name + ": " + header.value;
    header_list_ = curl_slist_append(header_list_, line.c_str());
  }
  curl_easy_setopt(easy_, CURLOPT_HTTPHEADER, header_list_);
  curl_easy_setopt(easy_, CURLOPT_USERAGENT, "capstan/" CAPSTAN_VERSION);
}

void CurlTransfer::set_tls() {
  curl_easy_setopt(easy_, CURLOPT_HTTP_VERSION, static_cast<long>(CURL_HTTP_VERSION_2TLS));
  curl_easy_setopt(easy_, CURLOPT_SSLVERSION, static_cast<long>(CURL_SSLVERSION_TLSv1_2));
  if (origin_.starts_with("https")) curl_easy_setopt(easy_, CURLOPT_PIPEWAIT, 1L);  // prefer to share a connection
  if (!request_.tls) return;
  const Tls& tls = *request_.tls;
  if (!tls.ca.empty()) set_blob(easy_, CURLOPT_CAINFO_BLOB, tls.ca);
  if (!tls.certificate.empty()) set_blob(easy_, CURLOPT_SSLCERT_BLOB, tls.certificate);
  if (!tls.key.empty()) set_blob(easy_, CURLOPT_SSLKEY_BLOB, tls.key);
  curl_easy_setopt(easy_, CURLOPT_SSL_VERIFYPEER, tls.verify ? 1L : 0L);
  curl_easy_setopt(easy_, CURLOPT_SSL_VERIFYHOST, tls.verify ? 2L : 0L);
}

/// Sets the URL. If the server has to be verified under another name, the URL gets that name, but the connection still
/// goes to the original address.
void CurlTransfer::set_address() {
  CURLU* url = curl_url();
  char* host = nullptr;
  char* port = nullptr;
  char* full_url = nullptr;
  const bool parsed = curl_url_set(url, CURLUPART_URL, request_.url.c_str(), 0) == CURLUE_OK &&
                      curl_url_get(url, CURLUPART_HOST, &host, 0) == CURLUE_OK &&
                      curl_url_get(url, CURLUPART_PORT, &port, CURLU_DEFAULT_PORT) == CURLUE_OK;
  if (!parsed) refuse("the URL is invalid");
  if (parsed && request_.tls && !request_.tls->server_name.empty()) {
    connect_to_ = curl_slist_append(nullptr, ("::" + std::string(host) + ":" + port).c_str());
    curl_easy_setopt(easy_, CURLOPT_CONNECT_TO, connect_to_);
    if (curl_url_set(url, CURLUPART_HOST, request_.tls->server_name.c_str(), 0) != CURLUE_OK) {
      refuse("the server name is not a host name");
    }
  }
  if (parsed && curl_url_get(url, CURLUPART_URL, &full_url, 0) == CURLUE_OK)
    curl_easy_setopt(easy_, CURLOPT_URL, full_url);
  for (char* part : {host, port, full_url}) curl_free(part);
  curl_url_cleanup(url);
  curl_easy_setopt(easy_, CURLOPT_PROXY, request_.proxy.c_str());
  curl_easy_setopt(easy_, CURLOPT_PROTOCOLS_STR, "http,https");
}

Instant CurlTransfer::next_deadline() const {
  const Limits& limits = request_.limits;
  Instant next = Instant::never();
  const auto bound = [&](Instant from, Duration limit) {
    if (limit > Duration::zero()) next = std::min(next, from + limit);
  };
  bound(started_at_, limits.total);
  if (!connected_) bound(started_at_, limits.connect);
  bound(connected_ ? active_at_ : now_, limits.idle);  // the idle time starts when the connection is ready
  return next;
}

Failure CurlTransfer::expired(Instant now) const {
  const Limits& limits = request_.limits;
  const auto over = [&](Instant from, Duration limit) { return limit > Duration::zero() && now >= from + limit; };
  if (!connected_ && over(started_at_, limits.connect)) return Failure::connect_timeout;
  if (over(started_at_, limits.total)) return Failure::total_timeout;
  if (connected_ && over(active_at_, limits.idle)) return Failure::idle_timeout;
  return Failure::none;
}

std::string CurlTransfer::timeout_message(Failure failure) const {
  const auto text = [](Duration d) {
    const auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(d).count();
    return ms % 1000 == 0 ? std::to_string(ms / 1000) + " s" : std::to_string(ms) + " ms";
  };
  const Limits& limits = request_.limits;
  if (failure == Failure::connect_timeout) return "no connection to " + origin_ + " within " + text(limits.connect);
  if (failure == Failure::idle_timeout) return "no data from " + origin_ + " for " + text(limits.idle);
  return "no complete answer from " + origin_ + " within " + text(limits.total);
}

Failure CurlTransfer::failure_of(int curl_code) const {
  if (too_large_) return Failure::too_large;
  switch (curl_code) {
    case CURLE_OK:
      return headers_complete_ ? Failure::none : Failure::lost;
    case CURLE_URL_MALFORMAT:
      return Failure::refused;
    case CURLE_UNSUPPORTED_PROTOCOL:  // libcurl treats an answer that is not HTTP as HTTP/0.9
      return connected_ ? Failure::protocol : Failure::refused;
    case CURLE_COULDNT_RESOLVE_HOST:
    case CURLE_COULDNT_RESOLVE_PROXY:
      return Failure::resolve;
    case CURLE_COULDNT_CONNECT:
    case CURLE_PROXY:
      return Failure::connect;
    case CURLE_SSL_CONNECT_ERROR:
    case CURLE_SSL_CERTPROBLEM:
    case CURLE_SSL_CIPHER:
    case CURLE_SSL_CACERT_BADFILE:
    case CURLE_SSL_ISSUER_ERROR:
    case CURLE_PEER_FAILED_VERIFICATION:
      return Failure::tls;
    case CURLE_OPERATION_TIMEDOUT:
      return connected_ ? Failure::total_timeout : Failure::connect_timeout;
    case CURLE_WEIRD_SERVER_REPLY:
    case CURLE_BAD_CONTENT_ENCODING:
      return Failure::protocol;
    default:
      return connected_ ? Failure::lost : Failure::connect;
  }
}

std::string CurlTransfer::message_of(int curl_code) const {
  if (curl_code == CURLE_OK)
    return headers_complete_ ? "" : origin_ + ": the connection ended within the headers of the answer";
  if (too_large_) return "the answer of " + origin_ + " is larger than the limit";
  const std::string_view detail = error_.data();
  return origin_ + ": " +
         (detail.empty() ? std::string(curl_easy_strerror(static_cast<CURLcode>(curl_code))) : std::string(detail));
}

void CurlTransfer::finish(Failure failure, std::string message) {
  if (forgotten_ || !handler_.on_done) return;
  handler_.on_done(
      {.failure = failure, .message = std::move(message), .sent = connected_, .response = std::move(response_)});
}

std::size_t CurlTransfer::on_header(char* bytes, std::size_t size, std::size_t count, void* self) {
  return static_cast<CurlTransfer*>(self)->take_header({bytes, size * count}) ? size * count : 0;
}

std::size_t CurlTransfer::on_body(char* bytes, std::size_t size, std::size_t count, void* self) {
  // A return value other than the number of bytes ends the transfer.
  return static_cast<CurlTransfer*>(self)->take_body({bytes, size * count}) ? size * count : size * count + 1;
}

int CurlTransfer::on_connected(void* self, char*, char*, int, int) {
  auto& transfer = *static_cast<CurlTransfer*>(self);
  transfer.connected_ = true;
  transfer.active_at_ = transfer.now_;
  return CURL_PREREQFUNC_OK;
}

/// Takes a line of the header, including the status line and the empty line at the end.
bool CurlTransfer::take_header(std::string_view line) {
  if (forgotten_) return false;
  active_at_ = now_;
  header_bytes_ += line.size();
  if (header_bytes_ > request_.limits.header_bytes) {
    too_large_ = true;
    return false;
  }
  if (headers_complete_) return true;  // trailers are ignored
  if (line.starts_with("HTTP/")) {
    response_.status = status_of(line);
    response_.headers.clear();
    return true;
  }
  const std::string_view text = trim(line);
  if (text.empty()) {
    headers_complete_ = response_.status >= 200;  // after a status below 200 another header follows
    if (headers_complete_ && handler_.on_headers) handler_.on_headers(response_);
    return !forgotten_;
  }
  if (const std::size_t colon = text.find(':'); colon != text.npos) {
    response_.headers.push_back({std::string(trim(text.substr(0, colon))), std::string(trim(text.substr(colon + 1)))});
  }
  return true;
}

bool CurlTransfer::take_body(std::string_view bytes) {
  if (forgotten_) return false;
  active_at_ = now_;
  body_bytes_ += bytes.size();
  if (request_.limits.body_bytes > 0 && body_bytes_ > request_.limits.body_bytes) {
    too_large_ = true;
    return false;
  }
  if (handler_.on_body) {
    handler_.on_body(bytes);
  } else {
    response_.body.append(bytes);
  }
  return !forgotten_;
}

}  // namespace capstan::net
