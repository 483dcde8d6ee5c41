#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "signals/exposition.h"

namespace capstan::signals {

/// What a page says, as plainly as it can be read: copies, one byte after the other. The oracle of ExpositionReader in
/// tests and under the fuzzer; a rule of the formats is written here first.
struct PlainPage {
  using Labels = std::vector<std::pair<std::string, std::string>>;
  struct Sample {
    std::string name;
    Labels labels;
    double value = 0;
    std::optional<std::int64_t> timestamp_ms;
    std::optional<Labels> exemplar_labels;
    double exemplar_value = 0;
    std::optional<std::int64_t> exemplar_timestamp_ms;
  };
  std::vector<Sample> samples;                                ///< those before the error, where there is one
  std::vector<std::pair<std::string, std::string>> metadata;  ///< family and text
  std::optional<Error> error;
};

PlainPage read_plainly(std::string_view page, Exposition format, std::string_view source,
                       const ExpositionLimits& limits = {});

}  // namespace capstan::signals
