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
  std::vector<std::pair<std::string, std::string>> labels;  ///< by name, as the server has them
  std::vector<ApiPoint> points;                             ///< ascending in time

  /// The value of a label, empty where it is not there: to Prometheus the same.
  std::string_view label(std::string_view name) const;
};

/// What a server that speaks Prometheus' HTTP API answers to a query.
struct ApiAnswer {
  enum class Kind : std::uint8_t { scalar, string, vector, matrix };
  Kind kind = Kind::vector;
  std::vector<ApiSeries> series;  ///< of a scalar one without labels; of a string none
  std::string text;               ///< of a string
  /// Where a server warns, it may have left series out (Thanos and Mimir answer so when a store is away): what is there
  /// is right, what is not there is unknown.
  std::vector<std::string> warnings;
  std::vector<std::string> infos;
};

/// Bounds of an answer that is believed.
inline constexpr std::size_t kMaxApiSeries = 200'000;
inline constexpr std::size_t kMaxApiPoints = 5'000'000;

/// Reads the JSON of /api/v1/query and /api/v1/query_range. An error that the server states becomes "bad_data: ...".
Result<ApiAnswer> parse_api_answer(std::string_view json, const std::string& source);

/// A label matcher of a selector.
struct Matcher {
  enum class Op : std::uint8_t { equal, not_equal, matches, not_matches };
  std::string label;
  Op op = Op::equal;
  std::string value;
};

/// `label="value"`, with what has to be escaped escaped.
std::string promql(const Matcher& matcher);

/// The body of a form: "query=up&time=1.5".
std::string form_encoded(const std::vector<std::pair<std::string, std::string>>& fields);

}  // namespace capstan::signals
