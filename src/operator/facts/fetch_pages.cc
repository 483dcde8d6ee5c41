#include "operator/facts/fetch_pages.h"

#include <algorithm>
#include <utility>

namespace capstan::op {
namespace {

constexpr Duration kPageMax = std::chrono::seconds(10);

/// Starts one request and counts it in `pending` until its answer is appended to `into`. `pending` and `into` must
/// outlive the request.
void start(net::HttpClient& http, const net::Clock& clock, FetchedPages& into, std::size_t& pending) {
  net::Request request;
  request.url = into.url;
  request.limits.total = kPageMax;
  net::Handler handler;
  handler.on_done = [&into, &clock, &pending](net::Exchange exchange) {
    FetchedPage page;
    page.at = clock();
    page.http_status = exchange.response.status;
    if (!exchange.ok())
      page.error = exchange.message.empty() ? std::string(net::name_of(exchange.failure)) : exchange.message;
    const std::string* type = net::find_header(exchange.response.headers, "Content-Type");
    page.format = signals::exposition_of(type == nullptr ? std::string_view() : std::string_view(*type));
    page.body = std::move(exchange.response.body);
    into.answers.push_back(std::move(page));
    --pending;
  };
  ++pending;
  http.start(std::move(request), std::move(handler));
}

/// Waits for the end of the counted requests only, because the client may have others in flight, such as watches.
void finish(net::HttpClient& http, const std::size_t& pending) {
  while (pending > 0) http.run_once(std::chrono::milliseconds(100));
}

/// Removes the leading "http://host:port: " from an error, because the output shows the address next to it.
std::string without_origin(const std::string& error, const std::string& url) {
  const std::size_t host = url.find("://");
  const std::size_t path = host == std::string::npos ? host : url.find('/', host + 3);
  const std::string origin = url.substr(0, path) + ": ";
  return error.starts_with(origin) ? error.substr(origin.size()) : error;
}

}  // namespace

std::vector<FetchedPages> fetch_pages(net::HttpClient& http, const net::Clock& clock,
                                      const std::vector<std::string>& urls) {
  std::vector<FetchedPages> fetched(urls.size());
  std::size_t pending = 0;
  for (std::size_t i = 0; i < urls.size(); ++i) {
    fetched[i].url = urls[i];
    start(http, clock, fetched[i], pending);
  }
  finish(http, pending);
  const auto answered = [](const FetchedPages& pages) {
    return pages.answers.size() == 1 && pages.answers.front().error.empty() && pages.answers.front().http_status == 200;
  };
  if (std::ranges::none_of(fetched, answered)) return fetched;
  for (const Instant next = clock() + kBetweenPages; clock() < next;) http.run_once(next - clock());
  for (FetchedPages& pages : fetched) {
    if (answered(pages)) start(http, clock, pages, pending);
  }
  finish(http, pending);
  return fetched;
}

PageFacts facts_of(const FetchedPages& fetched, const ExpectedPage& expected) {
  std::vector<MetricsPage> pages;
  for (const FetchedPage& answer : fetched.answers) {
    if (answer.error.empty() && answer.http_status == 200) pages.push_back({answer.body, answer.format, answer.at});
  }
  PageFacts facts = page_facts(pages, expected);
  facts.pod.url = fetched.url;
  if (!pages.empty() || fetched.answers.empty()) return facts;
  facts.pod.error = without_origin(fetched.answers.front().error, fetched.url);
  facts.pod.http_status = fetched.answers.front().http_status;
  return facts;
}

}  // namespace capstan::op
