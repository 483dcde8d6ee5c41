#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "signals/exposition.h"

namespace capstan::signals {

/// Contents of a page as read by the twin: a second, simple reader that copies everything and goes byte by byte. Tests
/// and the fuzzer compare ExpositionReader with the twin. A new rule of the formats goes into the twin first.
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
  std::vector<Sample> samples;                                ///< up to the error, if there is one
  std::vector<std::pair<std::string, std::string>> metadata;  ///< family and text
  std::optional<Error> error;
};

/// Reads a page with the simple reader.
PlainPage read_plainly(std::string_view page, Exposition format, std::string_view source,
                       const ExpositionLimits& limits = {});

}  // namespace capstan::signals
