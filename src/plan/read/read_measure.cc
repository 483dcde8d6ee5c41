#include <fmt/format.h>

#include <algorithm>

#include "plan/read/read_parts.h"

namespace capstan::plan {

namespace {

using manifest::ErrorList;
using manifest::Fields;
using manifest::Node;
using namespace std::chrono_literals;

constexpr Duration kShortestHistory = 5min;
constexpr Duration kLongestHistory = 24h * 60;
constexpr Duration kShortestStep = 5s;
constexpr Duration kLongestStep = 1h;
constexpr std::int64_t kMaxPoints = 11'000;  // Prometheus refuses a range query with more points in a series
constexpr Duration kLongestTimeout = 10min;

bool is_label_name(std::string_view name) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  return !name.empty() && is_letter(name.front()) &&
         std::ranges::all_of(name, [&](char c) { return is_letter(c) || (c >= '0' && c <= '9'); });
}

bool is_printable(std::string_view text) {
  return std::ranges::all_of(text, [](unsigned char c) { return c >= 0x20 && c < 0x7f; });
}

/// Returns true if an address has a user before its host: "https://user:password@host".
bool has_user(std::string_view url) {
  const std::size_t host = url.find("://");
  return host != url.npos && url.substr(host + 3, url.find('/', host + 3) - host - 3).find('@') != url.npos;
}

/// Reads a mapping whose keys are names that the user chooses and whose values are texts, such as labels.
/// @param is_name  returns true if a name is valid
/// @param names    valid key in words, for messages: "the name of a label"
template <typename IsName>
void read_pairs(Fields& fields, std::string_view key, IsName is_name, std::string_view names,
                std::vector<std::pair<std::string, std::string>>& out, ErrorList& errors) {
  const Node* node = fields.take(key);
  if (node == nullptr) return;
  const std::string what = fmt::format("{}.{}", fields.what(), key);
  if (node->kind != Node::Kind::mapping) {
    return errors.fail(node->place, fmt::format("{} is {}, expected a mapping", what, node->words()));
  }
  for (const Node::Entry& entry : node->entries) {
    if (!is_name(entry.key)) {
      errors.fail(entry.value.place, fmt::format("{}: found the key \"{}\", expected {}", what, entry.key, names));
    } else if (entry.value.kind != Node::Kind::scalar || !is_printable(entry.value.text)) {
      errors.fail(entry.value.place, fmt::format("{}.{}: expected a printable text", what, entry.key));
    } else {
      out.emplace_back(entry.key, entry.value.text);
    }
  }
}

void read_file_of(Fields& fields, std::string_view key, std::string& out, const PlanSpec& spec) {
  if (fields.text(key, out)) out = spec_relative(spec, out);
}

}  // namespace

void read_spec_measure(const Node& node, const std::string& owner, MeasureSpec& measure, PlanSpec& spec,
                       ErrorList& errors) {
  Fields fields(node, owner, errors);
  DefaultList defaults(spec.defaults);
  if (fields.take_required("url") != nullptr && fields.text("url", measure.url) &&
      !measure.url.starts_with("http://") && !measure.url.starts_with("https://")) {
    errors.fail(fields.place_for_error({"url"}),
                fmt::format("{}.url is \"{}\", expected http:// or https:// and a host", owner, measure.url));
  } else if (has_user(measure.url)) {
    // The page and error messages show the address, so it must hold no password. This message does not repeat it.
    errors.fail(fields.place_for_error({"url"}), fmt::format("{}.url has a user or a password in the address, expected "
                                                             "bearer_token_file or headers for credentials",
                                                             owner));
  }
  fields.duration("over", measure.history_length, kShortestHistory, kLongestHistory);
  defaults.note(fields, "over", "7 d", "a week has working days and a weekend");
  fields.duration("step", measure.step, kShortestStep, kLongestStep);
  defaults.note(fields, "step", "1 min", "bursts of a minute are seen");
  if (fields.ok() && measure.history_length / measure.step > kMaxPoints) {
    const auto least = std::chrono::ceil<std::chrono::seconds>(measure.history_length / kMaxPoints);
    errors.fail(
        fields.place_for_error({"step", "over"}),
        fmt::format("{}: {} with a point every {} are {} points, {} more than Prometheus answers in one query "
                    "({}), expected a step of at least {}",
                    owner, manifest::duration_text(measure.history_length), manifest::duration_text(measure.step),
                    measure.history_length / measure.step, measure.history_length / measure.step - kMaxPoints,
                    kMaxPoints, manifest::duration_text(least)));
  }
  fields.duration("timeout", measure.timeout, 1s, kLongestTimeout);
  defaults.note(fields, "timeout", "30 s", "of each query");
  read_pairs(fields, "labels", is_label_name, "the name of a label", measure.labels, errors);
  const std::string all = fmt::format("namespace=\"{}\"", spec.namespace_);
  if (node.find("labels") == nullptr) measure.labels.emplace_back("namespace", spec.namespace_);
  defaults.note(fields, "labels", all, "series of the namespace of the plan");
  const auto is_header = [](std::string_view name) {
    return !name.empty() && is_printable(name) && name.find_first_of(" :") == std::string_view::npos;
  };
  read_pairs(fields, "headers", is_header, "the name of an HTTP header", measure.headers, errors);
  read_file_of(fields, "bearer_token_file", measure.bearer_token_file, spec);
  read_file_of(fields, "ca_file", measure.ca_file, spec);
  read_file_of(fields, "certificate_file", measure.certificate_file, spec);
  read_file_of(fields, "key_file", measure.key_file, spec);
  fields.finish();
  if (fields.ok() && measure.certificate_file.empty() != measure.key_file.empty()) {
    errors.fail(fields.place_for_error({"certificate_file", "key_file"}),
                fmt::format("{} states only one of certificate_file and key_file, expected both", owner));
  }
}

}  // namespace capstan::plan
