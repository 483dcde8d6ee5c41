#pragma once

#include <string>
#include <vector>

#include "base/time.h"
#include "net/http_client.h"
#include "net/monotonic.h"
#include "operator/facts/signal_page.h"

namespace capstan::op {

/// One answer from the address of a page.
struct FetchedPage {
  std::string error;  ///< error of the connection; empty: there is an answer
  int http_status = 0;
  std::string body;
  signals::Exposition format = signals::Exposition::text;
  Instant at;
};

/// The answers of one address: two answers, the second `kBetweenPages` after the first, or only a failed one.
struct FetchedPages {
  std::string url;
  std::vector<FetchedPage> answers;
};
inline constexpr Duration kBetweenPages = std::chrono::seconds(2);

/// Reads every address, and then a second time each address that answered. Returns the answers in the order of `urls`.
std::vector<FetchedPages> fetch_pages(net::HttpClient& http, const net::Clock& clock,
                                      const std::vector<std::string>& urls);

/// Reads the facts from the answers of one address.
PageFacts facts_of(const FetchedPages& fetched, const ExpectedPage& expected);

}  // namespace capstan::op
