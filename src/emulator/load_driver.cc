#include "emulator/load_driver.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/assert.h"
#include "base/hash.h"

namespace capstan::emulator {
namespace {

constexpr std::uint64_t kVocabulary = 32'000;  // not larger than the vocabulary of any model that is served today

std::vector<net::Header> with_content_type(std::vector<net::Header> headers) {
  headers.insert(headers.begin(), {"Content-Type", "application/json"});
  return headers;
}

}  // namespace

std::string completions_url(std::string_view base) {
  while (base.ends_with('/')) base.remove_suffix(1);
  return std::string(base) + (base.ends_with("/v1") ? "/completions" : "/v1/completions");
}

/// A request in flight.
struct LoadDriver::InFlightRequest {
  std::string endpoint;
  net::RequestId id = 0;
  Instant due;
  Tokens input_tokens = 0;
  Tokens output_tokens = 0;
  StreamReader stream;
  std::optional<Instant> first;
  Instant last;
};

LoadDriver::LoadDriver(LoadSettings settings, workload::Source& source, net::Transport& transport, net::Clock clock)
    : settings_(std::move(settings)),
      source_(source),
      transport_(transport),
      clock_(std::move(clock)),
      started_(clock_()) {
  advance_source();
}

LoadDriver::~LoadDriver() { stop(); }

void LoadDriver::stop() {
  next_.reset();
  for (const auto& [number, flight] : in_flight_) transport_.cancel(flight->id);
  in_flight_.clear();
}

void LoadDriver::set_endpoints(std::vector<std::string> endpoints) { settings_.endpoints = std::move(endpoints); }

void LoadDriver::advance_source() {
  workload::Request request;
  next_.reset();
  if (report_.sent < settings_.limit && source_.next(request)) next_ = request;
}

Instant LoadDriver::next_event() const { return next_ ? started_ + next_->arrival.since_start : Instant::never(); }

void LoadDriver::run() {
  while (next_event() <= clock_()) {
    const workload::Request request = *next_;
    send(request);
    advance_source();
  }
  report_.in_flight = static_cast<RequestCount>(in_flight_.size());
}

std::size_t LoadDriver::pick_endpoint() {
  const std::vector<std::string>& endpoints = settings_.endpoints;
  std::size_t best = turn_++ % endpoints.size();
  if (settings_.route == LoadRoute::round_robin) return best;
  for (std::size_t i = 1; i < endpoints.size(); ++i) {
    const std::size_t candidate = (best + 1) % endpoints.size();
    if (loads_[endpoints[candidate]] < loads_[endpoints[best]]) best = candidate;
  }
  return best;
}

void LoadDriver::send(const workload::Request& request) {
  ++report_.sent;
  const Instant due = next_event();
  report_.send_delay.add(clock_() - due);
  if (settings_.endpoints.empty()) {
    ++report_.errors["no_endpoint"];
    return;
  }
  if (std::cmp_greater_equal(in_flight_.size(), settings_.in_flight_max)) {
    ++report_.errors["driver_full"];
    return;
  }
  const std::uint64_t number = sent_++;
  InFlightRequest& flight = *(in_flight_[number] = std::make_unique<InFlightRequest>());
  flight.endpoint = settings_.endpoints[pick_endpoint()];
  flight.due = due;
  flight.input_tokens = request.input_tokens;
  flight.output_tokens = request.output_tokens;
  ++loads_[flight.endpoint];
  net::Limits limits;
  limits.total = settings_.timeout;
  flight.id = transport_.start({.method = "POST",
                                .url = completions_url(flight.endpoint),
                                .headers = with_content_type(settings_.headers),
                                .body = body(request),
                                .tls = settings_.tls,
                                .proxy = {},
                                .limits = limits},
                               {.on_headers = {},
                                .on_body = [this, &flight](std::string_view bytes) { on_bytes(flight, bytes); },
                                .on_done = [this, number](net::Exchange e) { on_end(number, e); }});
}

std::string LoadDriver::body(const workload::Request& request) const {
  const std::string model =
      settings_.model.empty() ? "" : fmt::format(R"("model":{},)", nlohmann::json(settings_.model).dump());
  return fmt::format(R"({{{}"prompt":{},"max_tokens":{},"ignore_eos":true,"stream":true,)"
                     R"("stream_options":{{"include_usage":true}}}})",
                     model, prompt_token_ids(request, sent_), request.output_tokens);
}

void LoadDriver::on_bytes(InFlightRequest& flight, std::string_view bytes) {
  if (flight.stream.feed(bytes) == 0) return;
  flight.last = clock_();
  if (!flight.first) flight.first = flight.last;
}

void LoadDriver::on_end(std::uint64_t number, const net::Exchange& exchange) {
  const auto found = in_flight_.find(number);
  if (found == in_flight_.end()) return;
  const InFlightRequest& flight = *found->second;
  report_.elapsed = clock_() - started_;
  const std::string error = error_kind(flight, exchange);
  if (error.empty()) {
    ++report_.completed;
    report_.input_tokens += flight.input_tokens;
    report_.output_tokens += flight.stream.tokens();
    report_.ttft.add(*flight.first - flight.due);
    report_.e2e.add(flight.last - flight.due);
    if (flight.stream.tokens() > 1) report_.tpot.add((flight.last - *flight.first) / (flight.stream.tokens() - 1));
  } else {
    ++report_.errors[error];
    if (!exchange.message.empty()) report_.messages.try_emplace(error, exchange.message);
  }
  --loads_[flight.endpoint];
  in_flight_.erase(found);
  report_.in_flight = static_cast<RequestCount>(in_flight_.size());
}

/// Returns the kind of error with which a request ended; empty if it completed.
std::string LoadDriver::error_kind(const InFlightRequest& flight, const net::Exchange& exchange) const {
  if (!exchange.ok()) return std::string(net::name_of(exchange.failure));
  if (exchange.response.status != 200) return fmt::format("http_{}", exchange.response.status);
  if (flight.stream.failed()) return "stream_error";
  return flight.stream.done() && flight.first ? "" : "cut_short";
}

std::string prompt_token_ids(const workload::Request& request, std::uint64_t number) {
  std::string text = "[";
  text.reserve(static_cast<std::size_t>(request.input_tokens) * 6 + 2);
  std::uint64_t block = mix64(number + 1);
  for (std::int32_t i = 0; i < request.input_tokens; ++i) {
    const auto group = static_cast<std::size_t>(i / workload::kPrefixBlockTokens);
    if (group < request.prefix_hashes.size()) block = request.block(group);
    if (i > 0) text += ',';
    fmt::format_to(std::back_inserter(text), "{}", mix64(block + static_cast<std::uint64_t>(i)) % kVocabulary);
  }
  return text + "]";
}

}  // namespace capstan::emulator
