#include "serve/dashboard.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

#include <nlohmann/json.hpp>

#include "serve/page.h"

namespace capstan::serve {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kJson = "application/json";
constexpr std::string_view kNoContent = "default-src 'none'; frame-ancestors 'none'";

/// The event that makes a page load again, because the server now has other data than the page.
constexpr std::string_view kReload = "event: reload\ndata: {\"format_version\":1}\n\n";

std::string dump(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

/// Returns what the page needs to know about its server.
std::string description(const Content& content) {
  Json json = {{"format_version", 1}, {"source", content.source}, {"what_if", nullptr}, {"live_speed", nullptr}};
  json["is_controller"] = content.is_controller;
  if (content.live_speed > 0 || content.receives_states) json["live_speed"] = content.live_speed;
  if (content.what_if) {
    const WhatIfLimits& limits = *content.what_if;
    json["what_if"] = {{"factor_min", kMinFactor},
                       {"factor_max", kMaxFactor},
                       {"has_spot", limits.has_spot},
                       {"spot_interruptions_percent_per_hour", limits.spot_interruptions_percent_per_hour},
                       {"spot_interruptions_max_percent_per_hour", kMaxSpotPercent},
                       {"has_minimum", limits.has_minimum},
                       {"min_replicas", limits.min_replicas},
                       {"max_replicas", limits.max_replicas}};
  }
  return dump(json);
}

std::string notice_event(std::string_view notice) {
  return "event: notice\ndata: " + dump({{"format_version", 1}, {"error", notice}}) + "\n\n";
}

/// Returns the whole number that a text states; nothing if it is not a whole number.
std::optional<std::int64_t> number_of(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

/// Returns the value of the only key of a query; nothing if the query has another key.
/// @param key  with "=" at its end
std::optional<std::string_view> value_of(std::string_view query, std::string_view key) {
  if (!query.starts_with(key)) return std::nullopt;
  return query.substr(key.size());
}

}  // namespace

std::string error_json(std::string_view why) { return dump({{"format_version", 1}, {"error", why}}) + "\n"; }

net::HttpServerLimits dashboard_limits() {
  net::HttpServerLimits limits;
  limits.request = {.head_bytes = 16'384, .headers = 64, .body_bytes = 4096};
  limits.connections = 64;
  limits.output_bytes = std::size_t{256} << 20;
  limits.request_time = std::chrono::seconds(10);
  return limits;
}

void Dashboard::show(Content content, Simulate simulate) {
  content_ = std::move(content);
  simulate_ = std::move(simulate);
  first_event_ = content_.first_event;
  make_page();
}

void Dashboard::replace(Content content) {
  events_.clear();
  event_bytes_ = 0;
  show(std::move(content));
  for (const net::ExchangeId exchange : std::exchange(streams_, {})) {
    server_->write(exchange, kReload);
    server_->end(exchange);
  }
}

void Dashboard::set_notice(std::string notice) {
  notice_ = std::move(notice);
  for (const net::ExchangeId exchange : streams_) server_->write(exchange, notice_event(notice_));
}

void Dashboard::show_result(std::string result) {
  content_.result = std::move(result);
  content_.live_speed = 0;
  make_page();
}

void Dashboard::make_page() {
  page_ = served_page(content_.result, description(content_));
  page_policy_ = std::string(content_policy(page_)) + "; frame-ancestors 'none'";
}

void Dashboard::send(net::ExchangeId exchange, int status, std::string_view type, std::string_view body,
                     std::string_view policy, std::vector<net::Header> further) {
  std::vector<net::Header> headers = {
      {"Content-Security-Policy", std::string(policy.empty() ? kNoContent : policy)},
      {"X-Content-Type-Options", "nosniff"},
      {"Referrer-Policy", "no-referrer"},
      {"Cross-Origin-Resource-Policy", "same-origin"},
      {"Cross-Origin-Opener-Policy", "same-origin"},
      {"Cache-Control", "no-store"},
  };
  headers.insert(headers.end(), further.begin(), further.end());
  server_->reply(exchange, {.status = status, .content_type = type, .body = body, .headers = std::move(headers)});
}

void Dashboard::send_error(net::ExchangeId exchange, int status, std::string_view why,
                           std::vector<net::Header> further) {
  send(exchange, status, kJson, error_json(why), {}, std::move(further));
}

void Dashboard::on_request(net::ExchangeId exchange, net::ListenerId, const net::HttpRequest& request) {
  if (const std::optional<Refusal> refused = refusal(request, access_)) {
    return send_error(exchange, refused->status, refused->why);
  }
  answer(exchange, request);
}

void Dashboard::answer(net::ExchangeId exchange, const net::HttpRequest& request) {
  const bool reads = request.method != "POST";
  if (request.path == "/api/what-if") {
    if (reads) return send_error(exchange, 405, "expected the method POST", {{"Allow", "POST"}});
    return answer_what_if(exchange, request);
  }
  constexpr std::array<std::string_view, 6> kPaths = {"/",           "/api/result",  "/api/decision",
                                                      "/api/events", "/api/history", "/favicon.ico"};
  const auto path = std::ranges::find(kPaths, std::string_view(request.path));
  if (path == kPaths.end()) return send_error(exchange, 404, "there is nothing at this path");
  if (!reads) return send_error(exchange, 405, "expected the method GET", {{"Allow", "GET, HEAD"}});
  switch (path - kPaths.begin()) {
    case 0:
      return send(exchange, 200, "text/html; charset=utf-8", page_, page_policy_);
    case 1:
      return send(exchange, 200, kJson, content_.result);
    case 2:
      return answer_decision(exchange, request.query);
    case 3:
      return answer_events(exchange, request);
    case 4:
      return answer_history(exchange, request.query);
    default:
      return send(exchange, 204, "image/x-icon", "");
  }
}

void Dashboard::answer_events(net::ExchangeId exchange, const net::HttpRequest& request) {
  if (!has_stream()) return send_error(exchange, 404, "nothing runs here");
  if (request.method == "HEAD") return send(exchange, 200, "text/event-stream", "");
  // A browser sends Last-Event-ID only if it reconnects by itself. A page that was asleep opens a new connection, whose
  // query states its last event.
  std::optional<std::string_view> seen = value_of(request.query, "last=");
  if (const std::string* header = net::find_header(request.headers, "Last-Event-ID")) seen = *header;
  const std::optional<std::int64_t> next = next_event(seen);
  server_->begin(exchange, 200, "text/event-stream");
  if (!next) {
    server_->write(exchange, kReload);
    return server_->end(exchange);
  }
  // The id lets a page that loses its connection before the first event say which events it has.
  server_->write(exchange, fmt::format("retry: 2000\nid: {}/{}\n\n", content_.epoch, *next - 1));
  for (auto i = static_cast<std::size_t>(*next - first_event_); i < events_.size(); ++i) {
    server_->write(exchange, events_[i]);
  }
  if (!notice_.empty()) server_->write(exchange, notice_event(notice_));
  streams_.insert(exchange);
}

std::optional<std::int64_t> Dashboard::next_event(std::optional<std::string_view> last_seen) const {
  // A new page has the states of the content and needs all kept events.
  if (!last_seen) return first_event_;
  const std::string_view text = *last_seen;
  const std::size_t slash = text.find('/');
  if (slash == text.npos || number_of(text.substr(0, slash)) != content_.epoch) return std::nullopt;
  const std::optional<std::int64_t> seen = number_of(text.substr(slash + 1));
  const std::int64_t end = first_event_ + static_cast<std::int64_t>(events_.size());
  if (!seen || *seen < content_.first_event - 1 || *seen >= end) return std::nullopt;
  // A page that was asleep gets the events that it lacks, as far as they are kept.
  return std::max(first_event_, *seen + 1);
}

void Dashboard::add_event(std::string_view type, std::string_view data, std::string decisions) {
  const std::int64_t number = first_event_ + static_cast<std::int64_t>(events_.size());
  while (data.ends_with('\n')) data.remove_suffix(1);
  events_.push_back(fmt::format("id: {}/{}\nevent: {}\ndata: {}\n\n", content_.epoch, number, type, data));
  event_bytes_ += events_.back().size() + decisions.size();
  if (!decisions.empty()) content_.decisions.emplace(number, std::move(decisions));
  for (const net::ExchangeId exchange : streams_) server_->write(exchange, events_.back());
  while (events_.size() > limits_.count || event_bytes_ > limits_.bytes) {
    event_bytes_ -= events_.front().size();
    events_.pop_front();
    if (const auto found = content_.decisions.find(first_event_++); found != content_.decisions.end()) {
      event_bytes_ -= found->second.size();
      content_.decisions.erase(found);
    }
  }
}

void Dashboard::finish() {
  is_ending_ = true;
  for (const net::ExchangeId exchange : std::exchange(streams_, {})) server_->end(exchange);
  for (const auto& [job, exchange] : waiting_) worker_.cancel(job);
}

void Dashboard::answer_decision(net::ExchangeId exchange, std::string_view query) {
  const auto found = content_.decisions.find(number_of(value_of(query, "state=").value_or("")).value_or(-1));
  if (found == content_.decisions.end()) {
    return send_error(exchange, 404, "no decision of this state is known, expected ?state=N of an action");
  }
  send(exchange, 200, kJson, found->second);
}

void Dashboard::answer_history(net::ExchangeId exchange, std::string_view query) {
  if (!content_.history) return send_error(exchange, 404, "a result has its history in itself");
  send(exchange, 200, kJson, content_.history(value_of(query, "after=").value_or("")));
}

void Dashboard::answer_what_if(net::ExchangeId exchange, const net::HttpRequest& request) {
  if (!content_.what_if || !simulate_)
    return send_error(exchange, 404, "only a served scenario can be simulated again");
  const Result<WhatIf> change = parse_what_if(request.body, *content_.what_if);
  if (!change) return send_error(exchange, 400, change.error().text());
  const Worker::JobId job = worker_.start(
      [simulate = simulate_, change = *change](const std::stop_token& stop) { return simulate(change, stop); });
  waiting_.emplace(job, exchange);
}

void Dashboard::on_gone(net::ExchangeId exchange) {
  streams_.erase(exchange);
  const auto found = std::ranges::find(waiting_, exchange, [](const auto& entry) { return entry.second; });
  if (found != waiting_.end()) worker_.cancel(found->first);
}

void Dashboard::run_once() {
  for (const Worker::FinishedJob& done : worker_.take_finished()) {
    const auto found = waiting_.find(done.id);
    const net::ExchangeId exchange = found->second;
    waiting_.erase(found);
    if (done.stopped && is_ending_) {
      send_error(exchange, 503, "the server ends");
    } else if (done.stopped) {
      send_error(exchange, 409, "a newer request replaced this one");
    } else if (!done.result) {
      send_error(exchange, 422, done.result.error().text());
    } else {
      send(exchange, 200, kJson, *done.result);
    }
  }
}

}  // namespace capstan::serve
