#include "signals/prometheus_api.h"

#include <simdjson.h>

#include <optional>

#include "signals/number.h"

namespace capstan::signals {
namespace {

using simdjson::dom::array;
using simdjson::dom::element;
using simdjson::dom::object;

/// Largest distance of a timestamp from 1970, in seconds (until 2096). The time between two such timestamps fits into a
/// Duration.
constexpr double kMaxSeconds = 4e9;

/// Parses one point: [ 1700000000.123, "4.2" ].
std::optional<ApiPoint> point_of(element pair) {
  array parts;
  double seconds = 0;
  std::string_view written;
  if (pair.get(parts) != simdjson::SUCCESS || parts.size() != 2) return std::nullopt;
  if (parts.at(0).get(seconds) != simdjson::SUCCESS || parts.at(1).get(written) != simdjson::SUCCESS)
    return std::nullopt;
  const std::optional<double> value = parse_number(written);
  if (!value || !(seconds >= -kMaxSeconds && seconds <= kMaxSeconds)) return std::nullopt;
  return ApiPoint{static_cast<std::int64_t>(seconds * 1000 + (seconds < 0 ? -0.5 : 0.5)), *value};
}

bool read_labels(object metric, ApiSeries& series) {
  for (const auto [name, value] : metric) {
    std::string_view text;
    if (value.get(text) != simdjson::SUCCESS) return false;
    series.labels.emplace_back(name, text);
  }
  return true;
}

/// Parses one element of a vector ("value") or a matrix ("values"). Returns false if it is neither, if its points are
/// not in ascending order of time, or if the answer has more than `kMaxApiPoints` points.
bool read_series(element one, ApiAnswer::Kind kind, std::size_t& points, ApiSeries& series) {
  object metric;
  if (one["metric"].get(metric) != simdjson::SUCCESS || !read_labels(metric, series)) return false;
  const auto add = [&](element pair) {
    const std::optional<ApiPoint> point = point_of(pair);
    const bool ascends = point && (series.points.empty() || series.points.back().unix_ms < point->unix_ms);
    if (!ascends || ++points > kMaxApiPoints) return false;
    series.points.push_back(*point);
    return true;
  };
  element value;
  if (kind == ApiAnswer::Kind::vector) return one["value"].get(value) == simdjson::SUCCESS && add(value);
  array values;
  if (one["values"].get(values) != simdjson::SUCCESS) return false;
  for (const element pair : values) {
    if (!add(pair)) return false;
  }
  return true;
}

void read_texts(element answer, const char* key, std::vector<std::string>& out) {
  array texts;
  if (answer[key].get(texts) != simdjson::SUCCESS) return;
  for (const element text : texts) {
    std::string_view words;
    if (text.get(words) == simdjson::SUCCESS && out.size() < 100) out.emplace_back(words);
  }
}

std::optional<ApiAnswer::Kind> kind_named(std::string_view name) {
  if (name == "vector") return ApiAnswer::Kind::vector;
  if (name == "matrix") return ApiAnswer::Kind::matrix;
  if (name == "scalar") return ApiAnswer::Kind::scalar;
  if (name == "string") return ApiAnswer::Kind::string;
  return std::nullopt;
}

}  // namespace

std::string_view ApiSeries::label(std::string_view name) const {
  for (const auto& [key, value] : labels) {
    if (key == name) return value;
  }
  return {};
}

Result<ApiAnswer> parse_api_answer(std::string_view json, const std::string& source) {
  const auto failure = [&](std::string message) {
    return std::unexpected(Error{.file = source, .message = std::move(message)});
  };
  simdjson::dom::parser parser;
  element root;
  if (const auto code = parser.parse(json.empty() ? "" : json.data(), json.size()).get(root);
      code != simdjson::SUCCESS) {
    return failure(std::string("not JSON (") + simdjson::error_message(code) +
                   "), expected an answer of the Prometheus API");
  }
  std::string_view status;
  if (root["status"].get(status) != simdjson::SUCCESS) {
    return failure("no field status, expected an answer of the Prometheus API");
  }
  if (status != "success") {
    std::string_view type = "error";
    std::string_view message = "no error message";
    if (root["errorType"].get(type) != simdjson::SUCCESS) type = "error";
    if (root["error"].get(message) != simdjson::SUCCESS) message = "no error message";
    return failure(std::string(type) + ": " + std::string(message));
  }
  ApiAnswer answer;
  read_texts(root, "warnings", answer.warnings);
  read_texts(root, "infos", answer.infos);
  std::string_view type;
  element result;
  if (root["data"]["resultType"].get(type) != simdjson::SUCCESS ||
      root["data"]["result"].get(result) != simdjson::SUCCESS) {
    return failure("data.resultType or data.result is missing, expected both");
  }
  const std::optional<ApiAnswer::Kind> kind = kind_named(type);
  if (!kind)
    return failure("data.resultType is '" + std::string(type) + "', expected vector, matrix, scalar or string");
  answer.kind = *kind;
  if (*kind == ApiAnswer::Kind::scalar) {
    const std::optional<ApiPoint> point = point_of(result);
    if (!point) return failure("data.result is not a scalar, expected [time, \"value\"]");
    answer.series.push_back({.labels = {}, .points = {*point}});
    return answer;
  }
  if (*kind == ApiAnswer::Kind::string) {
    std::string_view text;
    if (result.at(1).get(text) != simdjson::SUCCESS)
      return failure("data.result is not a string, expected [time, \"text\"]");
    answer.text = text;
    return answer;
  }
  array all;
  if (result.get(all) != simdjson::SUCCESS) return failure("data.result is not a list, expected a list of series");
  std::size_t points = 0;
  for (const element one : all) {
    if (answer.series.size() == kMaxApiSeries)
      return failure("more than " + std::to_string(kMaxApiSeries) + " series, expected a narrower query");
    ApiSeries series;
    if (!read_series(one, *kind, points, series)) {
      return failure("data.result[" + std::to_string(answer.series.size()) +
                     "] is not a series, expected metric and value (vector) or values (matrix), ascending in time");
    }
    answer.series.push_back(std::move(series));
  }
  return answer;
}

std::string promql(const Matcher& matcher) {
  constexpr std::string_view kOps[] = {"=", "!=", "=~", "!~"};
  std::string text = matcher.label + std::string(kOps[static_cast<std::size_t>(matcher.op)]) + '"';
  for (const char c : matcher.value) {
    if (c == '\\' || c == '"') text += '\\';
    if (c == '\n') {
      text += "\\n";
    } else {
      text += c;
    }
  }
  return text + '"';
}

std::string form_encoded(const std::vector<std::pair<std::string, std::string>>& fields) {
  constexpr std::string_view kHex = "0123456789ABCDEF";
  std::string text;
  const auto append = [&](std::string_view part) {
    for (const char c : part) {
      const auto byte = static_cast<unsigned char>(c);
      const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' ||
                         c == '.' || c == '_' || c == '~';
      if (plain) {
        text += c;
      } else {
        text += '%';
        text += kHex[byte >> 4];
        text += kHex[byte & 15];
      }
    }
  };
  for (const auto& [name, value] : fields) {
    if (!text.empty()) text += '&';
    append(name);
    text += '=';
    append(value);
  }
  return text;
}

}  // namespace capstan::signals
