#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"

namespace capstan::signals {

struct ApiPoint {
  std::int64_t unix_ms = 0;
  double value = 0;
  friend bool operator==(const ApiPoint&, const ApiPoint&) = default;
};

struct ApiSeries {
  std::vector<std::pair<std::string, std::string>> labels;  ///< name and value, in the order of the server
  std::vector<ApiPoint> points;                             ///< ascending in time

  /// Returns the value of a label. Like Prometheus, it treats a missing label as an empty one.
  std::string_view label(std::string_view name) const;
};

/// Answer of a server with Prometheus' HTTP API to a query.
struct ApiAnswer {
  enum class Kind : std::uint8_t { scalar, string, vector, matrix };
  Kind kind = Kind::vector;
  std::vector<ApiSeries> series;  ///< series of the answer; a scalar is one series without labels
  std::string text;               ///< value of a string answer
  /// Warnings of the server. With a warning, the series in the answer are right, but others may be left out. Thanos and
  /// Mimir warn if a store is unreachable.
  std::vector<std::string> warnings;
  std::vector<std::string> infos;
};

/// Largest number of series in an accepted answer.
inline constexpr std::size_t kMaxApiSeries = 200'000;
inline constexpr std::size_t kMaxApiPoints = 5'000'000;

/// Parses the JSON of /api/v1/query and /api/v1/query_range. An error in the answer becomes "TYPE: MESSAGE", for
/// example "bad_data: ...".
Result<ApiAnswer> parse_api_answer(std::string_view json, const std::string& source);

/// A label matcher of a selector.
struct Matcher {
  enum class Op : std::uint8_t { equal, not_equal, matches, not_matches };
  std::string label;
  Op op = Op::equal;
  std::string value;
};

/// Returns the matcher in PromQL, for example `label="value"`, with the value escaped.
std::string promql(const Matcher& matcher);

/// Returns the body of an HTML form: "query=up&time=1.5".
std::string form_encoded(const std::vector<std::pair<std::string, std::string>>& fields);

}  // namespace capstan::signals
