#include "signals/scraper.h"

#include <algorithm>

#include "base/assert.h"
#include "base/hash.h"
#include "base/known_row.h"
#include "signals/exposition.h"

namespace capstan::signals {
namespace {

/// Accept header that prefers the text format, because it is shorter.
constexpr const char* kAccept = "text/plain;version=0.0.4,application/openmetrics-text;version=1.0.0;q=0.5,*/*;q=0.1";

}  // namespace

Scraper::Scraper(net::Transport& transport, net::Clock clock, ScraperOptions options)
    : transport_(transport), clock_(std::move(clock)), options_(options) {
  CAPSTAN_ASSERT(options_.interval > Duration::zero() && options_.timeout > Duration::zero());
  CAPSTAN_ASSERT(options_.timeout < options_.interval && options_.in_flight_max > 0);
}

Scraper::~Scraper() {
  for (const auto& [id, target] : targets_) {
    if (target.request != 0) transport_.cancel(target.request);
  }
}

ScrapeId Scraper::add(ScrapeTarget target) {
  const ScrapeId id{next_id_++};
  const auto span = static_cast<std::uint64_t>(options_.interval.count());
  const Duration phase(static_cast<std::int64_t>(hash_text(target.url) % span));
  TargetReader reader(target.reader);
  Target& added = targets_.emplace(id, Target{std::move(target), std::move(reader), phase, {}, {}, 0}).first->second;
  added.due = next_turn(added, clock_());
  waiting_.emplace(added.due, id);
  return id;
}

void Scraper::remove(ScrapeId id) {
  const auto found = targets_.find(id);
  if (found == targets_.end()) return;
  if (found->second.request != 0) {
    transport_.cancel(found->second.request);
    --in_flight_;
  } else {
    waiting_.erase({found->second.due, id});
  }
  targets_.erase(found);
}

/// Returns the first scrape time of the target at or after `after`.
Instant Scraper::next_turn(const Target& target, Instant after) const {
  const std::int64_t span = options_.interval.count();
  const std::int64_t since = (after.since_start - target.phase).count();
  const std::int64_t turn = since <= 0 ? 0 : (since + span - 1) / span;
  return {target.phase + options_.interval * turn};
}

Instant Scraper::next_due() const {
  return waiting_.empty() || in_flight_ >= options_.in_flight_max ? Instant::never() : waiting_.begin()->first;
}

void Scraper::tick() {
  const Instant now = clock_();
  while (in_flight_ < options_.in_flight_max && !waiting_.empty() && waiting_.begin()->first <= now) {
    const ScrapeId id = waiting_.begin()->second;
    waiting_.erase(waiting_.begin());
    start(id, known_row(targets_, id), now);
  }
}

void Scraper::start(ScrapeId id, Target& target, Instant now) {
  counts_.skipped += static_cast<std::uint64_t>((now - target.due) / options_.interval);
  net::Request request;
  request.url = target.target.url;
  request.headers = target.target.headers;
  request.headers.push_back({"Accept", kAccept});
  request.tls = target.target.tls;
  request.limits.connect = options_.timeout;
  request.limits.total = options_.timeout;
  request.limits.body_bytes = options_.body_bytes;
  net::Handler handler;
  handler.on_done = [this, id](net::Exchange exchange) { done(id, std::move(exchange)); };
  target.started = now;
  target.request = transport_.start(std::move(request), std::move(handler));
  ++in_flight_;
  ++counts_.started;
}

void Scraper::done(ScrapeId id, net::Exchange exchange) {
  Target& target = known_row(targets_, id);  // it exists: `remove` cancels the request
  target.request = 0;
  --in_flight_;
  take(target, exchange);
  target.due = next_turn(target, std::max(clock_(), target.started + Duration(1)));
  waiting_.emplace(target.due, id);
  tick();  // another target may wait for the free slot
}

void Scraper::take(Target& target, const net::Exchange& exchange) {
  const auto refuse = [&](std::string message) {
    ++counts_.failed;
    target.reader.failed(MissingReason::scrape_failed, Error{.file = target.target.url, .message = std::move(message)});
  };
  if (!exchange.ok()) {
    const std::string_view kind = net::name_of(exchange.failure);
    return refuse("the scrape failed (" + std::string(kind) + "): " + exchange.message);
  }
  if (exchange.response.status != 200) {
    return refuse("HTTP status " + std::to_string(exchange.response.status) + ", expected 200");
  }
  const std::string* type = net::find_header(exchange.response.headers, "Content-Type");
  // The values are from the time of the request, not of the answer.
  target.reader.read(exchange.response.body, exposition_of(type == nullptr ? "" : *type), target.target.url,
                     {target.started, 0});
  if (target.reader.page_failure() != MissingReason::none) ++counts_.refused;
}

TargetReadings Scraper::readings(ScrapeId id) const { return known_row(targets_, id).reader.readings(clock_()); }

}  // namespace capstan::signals
