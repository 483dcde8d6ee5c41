// Measures the cost of scraping 1,000 targets once a second in one thread. Each target has its own loopback address and
// a page like vLLM's. A second process serves the pages.
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>
#include <vector>

#include "exposition_page.h"
#include "net/http_client.h"
#include "net/http_server.h"
#include "net/monotonic.h"
#include "signals/scraper.h"

namespace capstan {
namespace {

using namespace std::chrono_literals;

constexpr int kTargets = 1000;
constexpr Duration kWarmUp = 3s;
constexpr Duration kMeasured = 10s;

class Pages : public net::HttpHandler {
 public:
  void on_request(net::ExchangeId exchange, net::ListenerId, const net::HttpRequest&) override {
    server->reply(exchange, {.status = 200, .content_type = "text/plain; version=0.0.4", .body = page, .headers = {}});
  }
  void on_gone(net::ExchangeId) override {}

  net::HttpServer* server = nullptr;
  std::string page = bench::vllm_page();
};

/// Serves until the process is killed. First writes its addresses to `out`, one per line.
[[noreturn]] void serve(int out) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  Pages pages;
  net::HttpServerLimits limits;
  limits.connections = 2 * kTargets;
  net::HttpServer server(net::machine_clock(), limits, pages);
  pages.server = &server;
  std::string addresses;
  for (int i = 0; i < kTargets; ++i) {
    const std::string host = "127.17." + std::to_string(i / 250) + "." + std::to_string(1 + i % 250);
    const Result<net::ListenerId> listener = server.listen({host, 0});
    if (!listener) _exit(1);
    addresses += server.address(*listener).text() + "\n";
  }
  if (write(out, addresses.data(), addresses.size()) != static_cast<ssize_t>(addresses.size())) _exit(1);
  close(out);
  for (;;) server.run_once(1s);
}

std::vector<std::string> lines_of(int in) {
  std::string text;
  char bytes[4096];
  for (ssize_t n = 0; (n = read(in, bytes, sizeof bytes)) > 0;) text.append(bytes, static_cast<std::size_t>(n));
  std::vector<std::string> lines;
  for (std::size_t at = 0, end = 0; (end = text.find('\n', at)) != std::string::npos; at = end + 1) {
    lines.push_back(text.substr(at, end - at));
  }
  return lines;
}

double cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

int run() {
  rlimit files{};  // the server needs a file for every listener and connection
  getrlimit(RLIMIT_NOFILE, &files);
  files.rlim_cur = files.rlim_max;
  setrlimit(RLIMIT_NOFILE, &files);
  int ends[2];
  if (pipe(ends) != 0) return 1;
  const pid_t server = fork();
  if (server == 0) serve(ends[1]);
  close(ends[1]);
  const std::vector<std::string> addresses = lines_of(ends[0]);
  const net::Clock clock = net::machine_clock();
  net::HttpClient client(clock);
  signals::Scraper scraper(client, clock, {});
  std::vector<signals::ScrapeId> ids;
  for (const std::string& address : addresses) {
    ids.push_back(scraper.add({.url = "http://" + address + "/metrics", .headers = {}, .tls = nullptr, .reader = {}}));
  }
  const auto loop_for = [&](Duration time) {
    const Instant end = clock() + time;
    while (clock() < end) {
      scraper.tick();
      client.run_once(std::min<Duration>(100ms, std::max<Duration>(0ms, scraper.next_due() - clock())));
    }
  };
  loop_for(kWarmUp);
  const double cpu = cpu_seconds();
  const Instant start = clock();
  const signals::ScraperCounts before = scraper.counts();
  loop_for(kMeasured);
  const double wall = static_cast<double>((clock() - start).count()) / 1e9;
  const double used = cpu_seconds() - cpu;
  const signals::ScraperCounts after = scraper.counts();
  const auto scrapes = static_cast<double>(after.started - before.started);
  int fresh = 0;
  for (const signals::ScrapeId id : ids) {
    fresh += scraper.readings(id).single()[signals::SignalName::running].signal.usable() ? 1 : 0;
  }
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  std::printf(
      "%zu targets, pages of %zu bytes: %.0f scrapes/s, %.1f %% of a core (%.0f us per scrape), %ld MiB; %llu failed, "
      "%llu skipped, %d fresh   bound 50 %%\n",
      ids.size(), bench::vllm_page().size(), scrapes / wall, 100 * used / wall, 1e6 * used / scrapes,
      usage.ru_maxrss / 1024, static_cast<unsigned long long>(after.failed - before.failed),
      static_cast<unsigned long long>(after.skipped - before.skipped), fresh);
  kill(server, SIGKILL);
  waitpid(server, nullptr, 0);
  return 0;
}

}  // namespace
}  // namespace capstan

int main() { return capstan::run(); }
