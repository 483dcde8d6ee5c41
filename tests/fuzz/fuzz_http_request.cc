// Parses any bytes as HTTP requests, once in one piece and once in two. Both must give the same requests.
#include <vector>

#include "base/assert.h"
#include "net/http_parser.h"

namespace {

using capstan::net::HttpParser;

std::vector<capstan::net::HttpRequest> parse(HttpParser& parser, std::string_view bytes) {
  std::vector<capstan::net::HttpRequest> requests;
  while (!bytes.empty() && parser.state() != HttpParser::State::failed) {
    bytes.remove_prefix(parser.feed(bytes));
    if (parser.state() == HttpParser::State::done) requests.push_back(parser.take());
  }
  return requests;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr capstan::net::HttpLimits kLimits{.head_bytes = 512, .headers = 8, .body_bytes = 512};
  if (size == 0) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  HttpParser whole(kLimits);
  const auto requests = parse(whole, bytes);
  for (const auto& request : requests) CAPSTAN_ASSERT(request.body.size() <= kLimits.body_bytes);

  const std::size_t cut = std::min<std::size_t>(data[0], bytes.size());
  HttpParser halves(kLimits);
  auto both = parse(halves, bytes.substr(0, cut));
  const auto rest = parse(halves, bytes.substr(cut));
  both.insert(both.end(), rest.begin(), rest.end());
  CAPSTAN_ASSERT(both == requests);
  CAPSTAN_ASSERT(halves.state() == whole.state() && halves.status() == whole.status());
  return 0;
}
