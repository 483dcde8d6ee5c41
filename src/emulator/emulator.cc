#include "emulator/emulator.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "base/random.h"
#include "emulator/exposition.h"

namespace capstan::emulator {
namespace {

constexpr std::string_view kMetricsType = "text/plain; version=0.0.4; charset=utf-8";

/// Returns the length of an answer that the model ends by itself. It is drawn from the prompt, so that equal prompts
/// always get answers of equal length.
std::int64_t own_length(const Prompt& prompt, std::int64_t mean, std::uint64_t seed) {
  const std::uint64_t content = prompt.prefix_hashes.empty() ? 0 : prompt.prefix_hashes.back();
  RandomStream random(seed, "emulator.answer", mix64(content + static_cast<std::uint64_t>(prompt.tokens)));
  return 1 + static_cast<std::int64_t>(random.exponential() * static_cast<double>(mean - 1) + 0.5);
}

/// Returns vLLM's error for a request whose prompt and answer do not fit the model's context; none if they do.
std::optional<ApiError> length_error(const CompletionRequest& request, std::int64_t context) {
  const std::int64_t prompt = request.prompt.tokens, output = request.max_tokens.value_or(0);
  if (output > context) {
    return ApiError{400,
                    fmt::format("max_tokens={0} cannot be greater than max_model_len={1}. Please request fewer output "
                                "tokens. (parameter=max_tokens, value={0})",
                                output, context),
                    "max_tokens"};
  }
  if (prompt > context - output) {
    return ApiError{400,
                    fmt::format("This model's maximum context length is {0} tokens. However, you requested {1} output "
                                "tokens and your prompt contains at least {2} input tokens, for a total of at least "
                                "{3} tokens. Please reduce the length of the input prompt or the number of requested "
                                "output tokens. (parameter=input_tokens, value={2})",
                                context, output, prompt, prompt + output),
                    "input_tokens"};
  }
  const std::int64_t max_tokens = request.max_tokens.value_or(context - prompt);
  if (max_tokens < 1) {
    return ApiError{
        400, fmt::format("max_tokens must be at least 1, got {0}. (parameter=max_tokens, value={0})", max_tokens),
        "max_tokens"};
  }
  if (request.min_tokens > max_tokens) {
    return ApiError{400, fmt::format("min_tokens must be less than or equal to max_tokens={}, got {}.", max_tokens,
                                     request.min_tokens)};
  }
  return std::nullopt;
}

ApiError refusal(Refusal reason) {
  switch (reason) {
    case Refusal::not_ready:
      return {503, "the engine is loading its model, expected a request after /health returns 200", {}};
    case Refusal::queue_full:
      return {503, "the engine's waiting queue is full, expected fewer concurrent requests", {}};
    case Refusal::too_long:
      return {400, "prompt and answer do not fit into the engine's KV memory, expected fewer tokens", {}};
  }
  CAPSTAN_ASSERT(false);
}

}  // namespace

net::HttpServerLimits emulator_limits() {
  net::HttpServerLimits limits;
  limits.request.body_bytes = 8 << 20;
  limits.connections = 16'384;
  return limits;
}

Emulator::Emulator(EmulatorSettings settings, net::Clock engine_clock, net::Clock real_clock)
    : settings_(std::move(settings)),
      clock_(std::move(engine_clock)),
      writer_(settings_.model_name),
      now_(clock_()),
      server_(std::move(real_clock), settings_.http, *this) {}

// --- engines ---

Result<net::SocketAddress> Emulator::add(const net::SocketAddress& address) {
  const Result<net::ListenerId> listener = server_.bind(address);
  if (!listener) return std::unexpected(listener.error());
  const net::SocketAddress& bound = server_.address(*listener);
  now_ = std::max(now_, clock_());
  CAPSTAN_ASSERT(listener->value == endpoints_.size());
  auto endpoint = std::make_unique<Endpoint>(settings_.engine, now_);
  endpoint->started = now_;
  if (settings_.engine.refusing == Duration{}) {
    if (const Result<void> opened = server_.open(*listener); !opened) {
      server_.close(*listener, net::HttpServer::Connections::cut);
      endpoints_.push_back(nullptr);
      return std::unexpected(opened.error());
    }
    endpoint->open = true;
  }
  endpoints_.push_back(std::move(endpoint));
  by_address_[bound] = listener->value;
  schedule(listener->value);
  return bound;
}

bool Emulator::remove(const net::SocketAddress& address) {
  const auto found = by_address_.find(address);
  if (found == by_address_.end()) return false;
  const std::uint32_t index = found->second;
  by_address_.erase(found);
  server_.close({index}, net::HttpServer::Connections::cut);
  wake_at(index, Instant::never());
  endpoints_[index].reset();
  return true;
}

void Emulator::schedule(std::uint32_t index) {
  const Endpoint& endpoint = *endpoints_[index];
  wake_at(index, endpoint.open ? endpoint.engine.next_event() : endpoint.engine.accepts_from());
}

void Emulator::wake_at(std::uint32_t index, Instant at) {
  const Instant before = std::exchange(endpoints_[index]->wake, at);
  if (before == at) return;
  if (!before.is_never()) wakes_.erase({before, index});
  if (!at.is_never()) wakes_.insert({at, index});
}

// --- time ---

bool Emulator::run_once(Duration max_wait) {
  advance(clock_());
  const bool served = server_.run_once(max_wait);
  advance(clock_());
  return served;
}

void Emulator::advance(Instant now) {
  now_ = std::max(now_, now);
  while (next_event() <= now_) advance_endpoint(wakes_.begin()->second, now_);
}

void Emulator::advance_endpoint(std::uint32_t index, Instant now) {
  Endpoint& endpoint = *endpoints_[index];
  if (!endpoint.open && endpoint.engine.accepts_from() <= now) {
    // Another process may have taken the address in the meantime. Then this engine never becomes ready.
    if (!server_.open({index})) return wake_at(index, Instant::never());
    endpoint.open = true;
  }
  progress_.clear();
  endpoint.engine.advance(now, progress_);
  for (const Progress& progress : progress_) send_progress(endpoint, progress);
  schedule(index);
}

/// Sends the client the tokens that its engine has generated.
void Emulator::send_progress(Endpoint& endpoint, const Progress& progress) {
  const auto found = endpoint.pending.find(progress.id);
  if (found == endpoint.pending.end()) return;
  PendingRequest& pending = found->second;
  if (pending.stream) {
    const std::int32_t from = std::exchange(pending.sent_tokens, progress.tokens);
    server_.write(pending.exchange, writer_.piece(pending.answer, from, progress.tokens, progress.finished));
  }
  if (!progress.finished) return;
  if (pending.stream) {
    if (pending.include_usage) server_.write(pending.exchange, writer_.usage(pending.answer, progress.tokens));
    server_.write(pending.exchange, ReplyWriter::done());
    server_.end(pending.exchange);
  } else {
    server_.reply(pending.exchange, {.body = writer_.whole(pending.answer, progress.tokens)});
  }
  exchanges_.erase(pending.exchange);
  endpoint.pending.erase(found);
}

// --- requests ---

void Emulator::on_request(net::ExchangeId exchange, net::ListenerId listener, const net::HttpRequest& request) {
  advance(clock_());
  const std::uint32_t index = listener.value;
  if (index >= endpoints_.size() || !endpoints_[index]) return refuse(exchange, {503, "the engine has ended", {}});
  advance_endpoint(index, now_);
  route(exchange, index, request);
  if (endpoints_[index]) schedule(index);
}

void Emulator::on_gone(net::ExchangeId exchange) {
  const auto found = exchanges_.find(exchange);
  if (found == exchanges_.end()) return;
  const auto [index, id] = found->second;
  exchanges_.erase(found);
  if (!endpoints_[index]) return;
  advance(clock_());
  advance_endpoint(index, now_);
  endpoints_[index]->pending.erase(id);
  endpoints_[index]->engine.abort(id, now_);
  schedule(index);
}

void Emulator::refuse(net::ExchangeId exchange, const ApiError& error) {
  server_.reply(exchange, {.status = error.status, .body = ReplyWriter::error(error)});
}

void Emulator::route(net::ExchangeId exchange, std::uint32_t index, const net::HttpRequest& request) {
  const bool get = request.method == "GET" || request.method == "HEAD";
  const bool post = request.method == "POST";
  const auto allowed = [&](bool is_allowed) {
    if (!is_allowed) refuse(exchange, {405, "Method Not Allowed", {}, "Method Not Allowed"});
    return is_allowed;
  };
  Endpoint& endpoint = *endpoints_[index];
  if (request.path == "/v1/completions") {
    if (allowed(post)) complete(exchange, index, request, CompletionKind::text);
  } else if (request.path == "/v1/chat/completions") {
    if (allowed(post)) complete(exchange, index, request, CompletionKind::chat);
  } else if (request.path == "/health" || request.path == "/ping") {
    if (!allowed(get || post)) return;
    server_.reply(exchange, {.status = endpoint.engine.phase(now_) == Phase::ready ? 200 : 503, .body = {}});
  } else if (endpoint.engine.phase(now_) != Phase::ready) {
    refuse(exchange, refusal(Refusal::not_ready));
  } else if (request.path == "/v1/models") {
    if (!allowed(get)) return;
    server_.reply(exchange, {.body = writer_.models(unix_s(endpoint.started), settings_.max_model_tokens)});
  } else if (request.path == "/version") {
    if (allowed(get)) server_.reply(exchange, {.body = fmt::format(R"({{"version":"{}"}})", settings_.version)});
  } else if (request.path == "/metrics") {
    if (!allowed(get)) return;
    const sim::ReplicaSample sample = endpoint.engine.sample(now_);
    const std::string page = exposition({.dialect = settings_.engine.dialect,
                                         .model_name = settings_.model_name,
                                         .requests = endpoint.engine.metrics(),
                                         .engine = sample,
                                         .started_unix_s = unix_s(endpoint.started)});
    server_.reply(exchange, {.content_type = kMetricsType, .body = page});
  } else {
    refuse(exchange, {404, "Not Found", {}, "Not Found"});
  }
}

std::expected<Emulator::PlannedAnswer, ApiError> Emulator::plan(const CompletionRequest& request) const {
  if (!request.model.empty() && request.model != settings_.model_name) {
    return std::unexpected(ApiError{404, fmt::format("The model `{}` does not exist.", request.model), "model"});
  }
  if (std::optional<ApiError> error = length_error(request, settings_.max_model_tokens)) {
    return std::unexpected(std::move(*error));
  }
  const std::int64_t max_tokens = request.max_tokens.value_or(settings_.max_model_tokens - request.prompt.tokens);
  std::int64_t tokens = max_tokens;
  if (!request.ignore_eos) {
    const std::int64_t own_tokens = own_length(request.prompt, settings_.answer_tokens_mean, settings_.seed);
    tokens = std::min(max_tokens, std::max(request.min_tokens, own_tokens));
  }
  PlannedAnswer planned;
  planned.stop = find_stop(request.stop, request.min_tokens, tokens);
  planned.generation.stops = planned.stop || tokens < max_tokens;
  planned.generation.prompt = request.prompt;
  planned.generation.output_tokens = static_cast<std::int32_t>(planned.stop ? planned.stop->tokens : tokens);
  planned.generation.progress_every = request.stream ? settings_.stream_interval : 0;
  return planned;
}

void Emulator::complete(net::ExchangeId exchange, std::uint32_t index, const net::HttpRequest& request,
                        CompletionKind kind) {
  Endpoint& endpoint = *endpoints_[index];
  const std::expected<CompletionRequest, ApiError> completion = reader_.read(request.body, kind);
  if (!completion) return refuse(exchange, completion.error());
  std::expected<PlannedAnswer, ApiError> planned = plan(*completion);
  if (!planned) return refuse(exchange, planned.error());
  Answer answer{.number = mix64(settings_.seed + ++requests_),
                .kind = kind,
                .created_s = unix_s(now_),
                .prompt_tokens = completion->prompt.tokens,
                .stops = planned->generation.stops};
  answer.held_back = held_back_characters(completion->stop);
  if (planned->stop) {
    answer.stop_reason = completion->stop.strings[planned->stop->string];
    answer.characters = planned->stop->characters;
  }
  const std::expected<RequestId, Refusal> id = endpoint.engine.submit(std::move(planned->generation), now_);
  if (!id) return refuse(exchange, refusal(id.error()));
  endpoint.pending[*id] = {.exchange = exchange,
                           .answer = std::move(answer),
                           .stream = completion->stream,
                           .include_usage = completion->include_usage};
  exchanges_[exchange] = {index, *id};
  if (completion->stream) server_.begin(exchange, 200, "text/event-stream; charset=utf-8");
}

}  // namespace capstan::emulator
