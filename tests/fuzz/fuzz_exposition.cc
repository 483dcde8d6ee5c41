// Reads any bytes as a page of metrics and compares the reader, with and without SIMD, with a simple reference reader.
// The first byte selects the format.
#include <cstdint>
#include <cstring>
#include <string_view>

#include "base/assert.h"
#include "signals/exposition.h"
#include "signals/exposition_twin.h"

namespace capstan::signals {
namespace {

constexpr ExpositionLimits kLimits{.body_bytes = 1u << 16, .line_bytes = 1u << 10};

bool same(double a, double b) { return std::memcmp(&a, &b, sizeof a) == 0 || (a != a && b != b); }

void check_labels(std::span<const Label> read, const PlainPage::Labels& plain) {
  CAPSTAN_ASSERT(read.size() == plain.size());
  for (std::size_t i = 0; i < read.size(); ++i) {
    CAPSTAN_ASSERT(read[i].name == plain[i].first && read[i].value == plain[i].second);
    CAPSTAN_ASSERT(unescape(read[i].value).size() <= read[i].value.size());
  }
}

void check_sample(const Sample& read, const PlainPage::Sample& plain) {
  CAPSTAN_ASSERT(read.name == plain.name && same(read.value, plain.value) && read.timestamp_ms == plain.timestamp_ms);
  check_labels(read.labels, plain.labels);
  CAPSTAN_ASSERT(read.exemplar.has_value() == plain.exemplar_labels.has_value());
  if (!read.exemplar) return;
  check_labels(read.exemplar->labels, *plain.exemplar_labels);
  CAPSTAN_ASSERT(same(read.exemplar->value, plain.exemplar_value));
  CAPSTAN_ASSERT(read.exemplar->timestamp_ms == plain.exemplar_timestamp_ms);
}

template <typename Reader>
void compare(std::string_view page, Exposition format, const PlainPage& plain) {
  Reader reader(page, format, "page", kLimits);
  std::size_t samples = 0;
  std::size_t metadata = 0;
  for (;;) {
    const typename Reader::Entry entry = reader.next();
    if (entry == Reader::Entry::sample) {
      CAPSTAN_ASSERT(samples < plain.samples.size());
      check_sample(reader.sample(), plain.samples[samples++]);
    } else if (entry == Reader::Entry::metadata) {
      CAPSTAN_ASSERT(metadata < plain.metadata.size());
      CAPSTAN_ASSERT(reader.metadata().name == plain.metadata[metadata++].first);
    } else {
      CAPSTAN_ASSERT(samples == plain.samples.size() && metadata == plain.metadata.size());
      CAPSTAN_ASSERT((entry == Reader::Entry::error) == plain.error.has_value());
      if (plain.error) CAPSTAN_ASSERT(reader.error().text() == plain.error->text());
      return;
    }
  }
}

}  // namespace
}  // namespace capstan::signals

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace capstan::signals;
  if (size == 0) return 0;
  const Exposition format = (data[0] & 1) != 0 ? Exposition::open_metrics : Exposition::text;
  const std::string_view page(reinterpret_cast<const char*>(data) + 1, size - 1);
  const PlainPage plain = read_plainly(page, format, "page", kLimits);
  compare<ExpositionReader>(page, format, plain);
  compare<BasicExpositionReader<PortableScan>>(page, format, plain);
  return 0;
}
