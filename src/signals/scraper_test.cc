#include "signals/scraper.h"

#include <gtest/gtest.h>

#include <array>

#include "net/http_client.h"
#include "net/http_server.h"
#include "signals/testing/fake_transport.h"

namespace capstan::signals {
namespace {

using namespace std::chrono_literals;

struct ScraperTest : testing::Test {
  Instant now{1000s};
  FakeTransport network;

  Scraper make(ScraperOptions options = {}) {
    return Scraper(network, [this] { return now; }, options);
  }

  /// Advances the clock to the next scrape and starts it.
  void next(Scraper& scraper) {
    ASSERT_FALSE(scraper.next_due().is_never());
    now = std::max(now, scraper.next_due());
    scraper.tick();
  }
};

ScrapeTarget target(std::string url) { return {.url = std::move(url), .headers = {}, .tls = nullptr, .reader = {}}; }

TEST_F(ScraperTest, FetchesATargetOnceAnInterval) {
  Scraper scraper = make();
  const ScrapeId id = scraper.add(target("http://10.0.0.1:8000/metrics"));
  EXPECT_EQ(scraper.readings(id).page, MissingReason::never_scraped);
  next(scraper);
  ASSERT_EQ(network.started.size(), 1u);
  const net::Request& request = network.started.at(1).request;
  EXPECT_EQ(request.url, "http://10.0.0.1:8000/metrics");
  EXPECT_EQ(request.limits.total, 900ms);
  EXPECT_EQ(request.limits.body_bytes, 4u << 20);
  const Instant asked_at = now;
  now = now + 300ms;
  network.answer(1, 200, "vllm:num_requests_running{model_name=\"m\"} 3\n");
  EXPECT_EQ(scraper.readings(id).single()[SignalName::running].signal, model::Signal::measured(3, 300ms))
      << "a value is as old as its request";
  next(scraper);
  EXPECT_EQ(now, asked_at + 1s);
}

TEST_F(ScraperTest, SpreadsTargetsOverTheInterval) {
  Scraper scraper = make({.interval = 1s, .timeout = 500ms, .body_bytes = 1000, .in_flight_max = 1000});
  for (int i = 0; i < 200; ++i) scraper.add(target("http://10.0.0." + std::to_string(i) + ":8000/metrics"));
  std::array<int, 10> tenths{};
  const Instant start = now;
  while (!scraper.next_due().is_never()) {
    const std::size_t before = network.started.size();
    next(scraper);
    tenths.at(static_cast<std::size_t>((now - start) / 100ms)) += static_cast<int>(network.started.size() - before);
  }
  for (const int count : tenths) {
    EXPECT_GT(count, 5);
    EXPECT_LT(count, 40);
  }
}

TEST_F(ScraperTest, BoundsTheScrapesInFlight) {
  Scraper scraper = make({.interval = 1s, .timeout = 900ms, .body_bytes = 1000, .in_flight_max = 2});
  for (int i = 0; i < 5; ++i) scraper.add(target("http://t" + std::to_string(i)));
  now = now + 1s;
  scraper.tick();
  EXPECT_EQ(network.started.size(), 2u);
  EXPECT_TRUE(scraper.next_due().is_never()) << "there is nothing to do until a scrape ends";
  for (net::RequestId id = 1; id <= 5; ++id) {
    ASSERT_TRUE(network.started.contains(id)) << "the next scrape starts without a tick";
    EXPECT_LE(network.started.size(), 2u);
    network.answer(id, 200, "tgi_queue_size 1\n");
  }
  EXPECT_EQ(scraper.counts().started, 5u);
}

TEST_F(ScraperTest, ReportsWhyAScrapeGaveNothing) {
  Scraper scraper = make();
  const ScrapeId id = scraper.add(target("http://t"));
  const auto outcome = [&](auto end) {
    next(scraper);
    end(network.last);
    const TargetReadings readings = scraper.readings(id);
    return std::string(info(readings.page).code) + (readings.error ? " " + readings.error->text() : "");
  };
  EXPECT_EQ(outcome([&](auto request) { network.fail(request, net::Failure::total_timeout, "900 ms are over"); }),
            "scrape_failed http://t: the scrape failed (" + std::string(net::name_of(net::Failure::total_timeout)) +
                "): 900 ms are over");
  EXPECT_EQ(outcome([&](auto request) { network.answer(request, 503, ""); }),
            "scrape_failed http://t: HTTP status 503, expected 200");
  EXPECT_EQ(outcome([&](auto request) { network.answer(request, 200, "a\n"); }).substr(0, 21), "bad_page http://t:1:2");
  EXPECT_EQ(outcome([&](auto request) { network.answer(request, 200, "go_goroutines 3\n"); }), "unknown_engine");
  EXPECT_EQ(outcome([&](auto request) {
              network.answer(request, 200, "tgi_queue_size 1\n", "application/openmetrics-text; version=1.0.0");
            }).substr(0, 21),
            "bad_page http://t:2:1");
  EXPECT_EQ(outcome([&](auto request) { network.answer(request, 200, "tgi_queue_size 1\n"); }), "none");
  EXPECT_EQ(scraper.counts().failed, 2u);
  EXPECT_EQ(scraper.counts().refused, 3u);
}

TEST_F(ScraperTest, RemovesATargetAndItsScrape) {
  Scraper scraper = make();
  const ScrapeId first = scraper.add(target("http://a"));
  next(scraper);
  EXPECT_EQ(scraper.in_flight(), 1u);
  scraper.remove(first);
  EXPECT_EQ(network.cancelled, 1);
  EXPECT_EQ(scraper.in_flight(), 0u);
  const ScrapeId second = scraper.add(target("http://b"));
  scraper.remove(second);
  scraper.remove(second);
  EXPECT_EQ(scraper.targets(), 0u);
  EXPECT_TRUE(scraper.next_due().is_never());
}

TEST_F(ScraperTest, CancelsItsScrapesWhenDestroyed) {
  {
    Scraper scraper = make();
    scraper.add(target("http://a"));
    next(scraper);
  }
  EXPECT_EQ(network.cancelled, 1);
}

TEST_F(ScraperTest, CountsSkippedIntervals) {
  Scraper scraper = make();
  scraper.add(target("http://a"));
  now = scraper.next_due() + 3500ms;
  scraper.tick();
  EXPECT_EQ(scraper.counts().skipped, 3u);
}

/// Serves a metrics page over real sockets.
class Pages : public net::HttpHandler {
 public:
  net::HttpServer* server = nullptr;
  void on_request(net::ExchangeId exchange, net::ListenerId, const net::HttpRequest&) override {
    server->reply(exchange, {.status = 200,
                             .content_type = "text/plain; version=0.0.4",
                             .body = "sglang:num_queue_reqs{model_name=\"m\"} 4\n",
                             .headers = {}});
  }
  void on_gone(net::ExchangeId) override {}
};

TEST(Scraper, FetchesOverSockets) {
  Pages pages;
  const net::Clock clock = net::machine_clock();
  net::HttpServer server(clock, {}, pages);
  pages.server = &server;
  const Result<net::ListenerId> listener = server.listen({"127.0.0.1", 0});
  ASSERT_TRUE(listener.has_value()) << listener.error().text();
  net::HttpClient client(clock);
  Scraper scraper(client, clock, {.interval = 200ms, .timeout = 150ms, .body_bytes = 1000, .in_flight_max = 4});
  const ScrapeId id = scraper.add(target("http://" + server.address(*listener).text() + "/metrics"));
  const Instant deadline = clock() + 20s;
  while (scraper.readings(id).page != MissingReason::none && clock() < deadline) {
    scraper.tick();
    client.run_once(1ms);
    server.run_once(0ms);
  }
  EXPECT_EQ(scraper.readings(id).engine, "sglang");
}

}  // namespace
}  // namespace capstan::signals
