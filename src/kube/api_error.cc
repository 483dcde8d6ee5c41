#include "kube/api_error.h"

#include <algorithm>
#include <charconv>

namespace capstan::kube {
namespace {

/// Upper bound for the wait that a server may ask for, in seconds.
constexpr std::int64_t kRetryAfterMax_s = 60;

/// Bytes shown of a body that is not a Status object: enough to see which program sent it.
constexpr std::size_t kForeignBodyMax = 200;

Duration seconds(std::int64_t value) {
  return std::chrono::seconds(std::clamp<std::int64_t>(value, 0, kRetryAfterMax_s));
}

/// Returns the Retry-After header if it is in seconds. API servers never send a date, so a date counts as absent.
Duration retry_after_of(const net::Response& response) {
  const std::string* text = net::find_header(response.headers, "Retry-After");
  std::int64_t value = 0;
  if (text == nullptr) return {};
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
  return error == std::errc() && end == text->data() + text->size() ? seconds(value) : Duration{};
}

std::string one_line(std::string_view text) {
  std::string line(text.substr(0, kForeignBodyMax));
  std::ranges::replace_if(line, [](unsigned char c) { return c < 0x20 || c == 0x7f; }, ' ');
  return line;
}

}  // namespace

std::string ApiError::text() const {
  std::string text = code > 0 ? std::to_string(code) : std::string();
  if (!reason.empty()) text += (text.empty() ? "" : " ") + reason;
  text += (text.empty() ? "" : ": ") + message;
  for (const Cause& cause : causes) text += "; " + cause.field + ": " + cause.message;
  return text;
}

ApiError read_status(Json status) {
  ApiError error;
  error.code = static_cast<int>(std::clamp<std::int64_t>(status["code"].integer(), 0, 999));
  error.reason = status["reason"].text();
  error.message = status["message"].text();
  error.retry_after = seconds(status["details"]["retryAfterSeconds"].integer());
  status["details"]["causes"].for_each([&](Json cause) {
    error.causes.push_back({std::string(cause["field"].text()), std::string(cause["message"].text())});
  });
  return error;
}

ApiError error_of(const net::Response& response) {
  JsonDocument document;
  const Result<Json> body = document.parse(response.body);
  ApiError error;
  if (body && (*body)["kind"].text() == "Status") {
    error = read_status(*body);
  } else {
    error.message = response.body.empty() ? "no message" : one_line(response.body);
  }
  error.code = response.status;
  error.retry_after = std::max(error.retry_after, retry_after_of(response));
  return error;
}

}  // namespace capstan::kube
