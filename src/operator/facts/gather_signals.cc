#include "operator/facts/gather_signals.h"

#include <utility>

#include "base/file.h"
#include "net/monotonic.h"
#include "operator/facts/fetch_pages.h"
#include "operator/facts/signal_page.h"

namespace capstan::op {
namespace {

void add(explain::GatheredSignals& gathered, PageFacts facts, const SignalQuestion& question) {
  if (question.max_sequences > 0) facts.load.max_sequences = question.max_sequences;
  gathered.loads.push_back({facts.pod.name, facts.load});
  gathered.facts.pods.push_back(std::move(facts.pod));
  gathered.facts.unusable = std::move(facts.unusable);
}

}  // namespace

Result<explain::GatheredSignals> gather_from_page(const SignalQuestion& question) {
  explain::GatheredSignals gathered;
  gathered.facts.service = question.service;
  gathered.facts.model = question.model;
  ExpectedPage expected{.source = question.page, .model = question.model, .engine = question.engine, .pod = ""};
  if (!question.page.empty()) {
    constexpr std::size_t kMaxPage = 16u << 20;
    const std::expected<std::string, FileFault> text = read_file(question.page, kMaxPage);
    if (!text) {
      return std::unexpected(
          Error::about(question.page, "cannot be read, expected a page of metrics of at most 16 MiB"));
    }
    const MetricsPage page{.text = *text, .format = signals::Exposition::text, .at = {}};
    PageFacts facts = page_facts({&page, 1}, expected);
    facts.pod.url = question.page;
    add(gathered, std::move(facts), question);
    return gathered;
  }
  expected.source = question.url;
  net::HttpClient http(net::machine_clock());
  std::vector<FetchedPages> fetched = fetch_pages(http, net::machine_clock(), {question.url});
  add(gathered, facts_of(fetched.front(), expected), question);
  return gathered;
}

}  // namespace capstan::op
