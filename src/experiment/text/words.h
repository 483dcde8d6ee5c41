#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/quantity.h"
#include "base/time.h"
#include "model/catalog.h"

// Numbers and sentences for people. They are computed with integers only, so that every machine writes the same text.
namespace capstan::experiment {

/// Returns number / unit with one decimal, rounded half up: tenths(993'000, 10'000) is "99.3".
std::string tenths(std::int64_t number, std::int64_t unit);
/// Returns a share with one decimal: "99.3 %". A share below 1 is at most "99.9 %", and one above 0 at least "0.1 %",
/// so that "100.0 %" means all and "0.0 %" none. The page writes shares by the same rule (web/src/format.ts).
std::string share_text(std::int64_t ppm);
/// Returns microseconds as seconds with three digits: "1.62 s", "14.8 s", "148 s".
std::string seconds(std::int64_t microseconds);
/// Returns microseconds as milliseconds: "48.2 ms".
std::string milliseconds(std::int64_t microseconds);
/// Returns USD with cents and separators: "1,043.90".
std::string usd(std::int64_t micro_usd);
/// Returns GPU time in hours with one decimal and separators.
std::string gpu_hours(GpuNanoseconds time);
/// Returns a time of the run: "00:17:20".
std::string clock(Instant at);
/// Returns the name of a service's variant, such as "h100", if several variants serve together; otherwise empty.
std::string variant_name(const model::Catalog& catalog, const model::Service& service);

/// Returns a word as an argument of a shell command, in quotes if it needs them.
std::string shell_word(const std::string& word);

}  // namespace capstan::experiment
