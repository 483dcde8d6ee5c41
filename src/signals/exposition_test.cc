// Checks both page readers on literal pages, and compares them with the twin (the simple reader) on pages that are
// almost valid.
#include "signals/exposition.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <bit>
#include <fstream>
#include <sstream>
#include <vector>

#include "signals/exposition_twin.h"

namespace capstan::signals {
namespace {

PlainPage::Labels copy(std::span<const Label> labels) {
  PlainPage::Labels all;
  for (const Label& label : labels) all.emplace_back(label.name, label.value);
  return all;
}

/// Reads a page with `Reader` and returns the contents in the twin's form.
template <typename Reader>
PlainPage read_with(std::string_view page, Exposition format, const ExpositionLimits& limits = {}) {
  Reader reader(page, format, "page", limits);
  PlainPage out;
  for (;;) {
    const typename Reader::Entry entry = reader.next();
    if (entry == Reader::Entry::end) break;
    if (entry == Reader::Entry::error) {
      EXPECT_EQ(reader.next(), Reader::Entry::error) << "an error is final";
      out.error = reader.error();
      break;
    }
    if (entry == Reader::Entry::metadata) {
      out.metadata.emplace_back(reader.metadata().name, reader.metadata().text);
      continue;
    }
    const Sample& sample = reader.sample();
    PlainPage::Sample row{.name = std::string(sample.name),
                          .labels = copy(sample.labels),
                          .value = sample.value,
                          .timestamp_ms = sample.timestamp_ms,
                          .exemplar_labels = std::nullopt,
                          .exemplar_value = 0,
                          .exemplar_timestamp_ms = std::nullopt};
    if (sample.exemplar) {
      row.exemplar_labels = copy(sample.exemplar->labels);
      row.exemplar_value = sample.exemplar->value;
      row.exemplar_timestamp_ms = sample.exemplar->timestamp_ms;
    }
    out.samples.push_back(std::move(row));
  }
  return out;
}

std::string text_of(double value) {
  if (value != value) return "NaN";
  std::ostringstream out;
  out.precision(17);
  out << value << (std::signbit(value) && value == 0 ? " (minus)" : "");
  return out.str();
}

std::string text_of(const PlainPage::Labels& labels) {
  std::string text = "{";
  for (const auto& [name, value] : labels) text += (text.size() > 1 ? "," : "") + name + "=\"" + value + '"';
  return text + "}";
}

/// Returns the contents of a page as one text, which makes a difference easy to see.
std::string text_of(const PlainPage& page) {
  std::string text;
  for (const auto& [family, words] : page.metadata) text += "# " + family + " " + words + "\n";
  for (const PlainPage::Sample& sample : page.samples) {
    text += sample.name + (sample.labels.empty() ? "" : text_of(sample.labels)) + " " + text_of(sample.value);
    if (sample.timestamp_ms) text += " @" + std::to_string(*sample.timestamp_ms);
    if (sample.exemplar_labels) text += " # " + text_of(*sample.exemplar_labels) + " " + text_of(sample.exemplar_value);
    if (sample.exemplar_timestamp_ms) text += " @" + std::to_string(*sample.exemplar_timestamp_ms);
    text += "\n";
  }
  if (page.error) text += "! " + page.error->text() + "\n";
  return text;
}

/// Reads a page with all three readers, expects equal results, and returns the result.
std::string read_all(std::string_view page, Exposition format, const ExpositionLimits& limits = {}) {
  const std::string simd = text_of(read_with<ExpositionReader>(page, format, limits));
  EXPECT_EQ(simd, text_of(read_with<BasicExpositionReader<PortableScan>>(page, format, limits)));
  EXPECT_EQ(simd, text_of(read_plainly(page, format, "page", limits)));
  return simd;
}

/// A row of bench/prometheus_parser/rows.txt, which lists pages that Prometheus' own parser accepts or refuses. A row
/// has "T" or "O" (text or OpenMetrics), "+" or "-" (accepted or refused), and the page, with \n for a line feed (also
/// \\, \r, \t, \0 and \xNN).
struct Row {
  Exposition format;
  bool accepted;
  std::string page;
  std::string line;
};

std::string decode(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\') {
      out += text[i];
      continue;
    }
    const char c = text[++i];
    if (c == 'x') {
      out += static_cast<char>(std::stoi(std::string(text.substr(i + 1, 2)), nullptr, 16));
      i += 2;
    } else {
      out += c == 'n' ? '\n' : c == 'r' ? '\r' : c == 't' ? '\t' : c == '0' ? '\0' : c;
    }
  }
  return out;
}

std::vector<Row> rows() {
  std::ifstream file(std::string(CAPSTAN_SOURCE_DIR) + "/bench/prometheus_parser/rows.txt");
  std::vector<Row> all;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line.starts_with("//")) continue;
    all.push_back({line[0] == 'O' ? Exposition::open_metrics : Exposition::text, line[1] == '+',
                   decode(std::string_view(line).substr(3)), line});
  }
  return all;
}

TEST(Exposition, AcceptsAndRefusesTheSamePagesAsPrometheus) {
  const std::vector<Row> all = rows();
  ASSERT_GT(all.size(), 100u);
  for (const Row& row : all) {
    const std::string read = read_all(row.page, row.format);
    EXPECT_EQ(read.find('!') == std::string::npos, row.accepted) << row.line << "\n" << read;
  }
}

struct Golden {
  const char* page;
  const char* read;
};

TEST(Exposition, ReadsTheTextFormat) {
  const Golden golden[] = {
      {"up 1\n", "up 1\n"},
      {"up 1", "up 1\n"},
      {"", ""},
      {"\n \t\n# a comment\n#another\n# HELP\n", ""},
      {"# HELP up Is it\\nup?\n# TYPE up gauge\nup{} 0 1700000000123\n",
       "# up Is it\\nup?\n# up gauge\nup 0 @1700000000123\n"},
      {"vllm:num_requests_waiting{engine=\"0\",model_name=\"a/b\"} 3.0\n",
       "vllm:num_requests_waiting{engine=\"0\",model_name=\"a/b\"} 3\n"},
      {"a { b = \"c\" , d=\"e\", } \t+Inf  \n", "a{b=\"c\",d=\"e\"} inf\n"},
      {"a{b=\"c\"d=\"e\"}-1.5e-3 7\n", "a{b=\"c\",d=\"e\"} -0.0015 @7\n"},
      {"a{b=\"quote \\\" slash \\\\ feed \\n other \\q\"} NaN\n",
       "a{b=\"quote \\\" slash \\\\ feed \\n other \\q\"} NaN\n"},
      {"{\"dots.in.name\",\"label.dots\"=\"x\"} 2\n", "dots.in.name{label.dots=\"x\"} 2\n"},
      {"a 1\na 1\n", "a 1\na 1\n"},
      {"a -0\na 1e-999\na 4.9e-324\na 123456789012345678901234567890\n",
       "a -0 (minus)\na 0\na 4.9406564584124654e-324\na 1.2345678901234568e+29\n"},
  };
  for (const Golden& row : golden) EXPECT_EQ(read_all(row.page, Exposition::text), row.read) << row.page;
}

TEST(Exposition, ReadsOpenMetrics) {
  const Golden golden[] = {
      {"# EOF", ""},
      {"# EOF\n", ""},
      {"# TYPE a_seconds histogram\n# UNIT a_seconds seconds\n# HELP a_seconds Time.\n"
       "a_seconds_bucket{le=\"0.1\"} 8 # {trace_id=\"KOO5\"} 0.067 1520879607.789\n"
       "a_seconds_bucket{le=\"+Inf\"} 9 1520879607.5 # {} 3\n# EOF\n",
       "# a_seconds histogram\n# a_seconds seconds\n# a_seconds Time.\n"
       "a_seconds_bucket{le=\"0.1\"} 8 # {trace_id=\"KOO5\"} 0.067000000000000004 @1520879607789\n"
       "a_seconds_bucket{le=\"+Inf\"} 9 @1520879607500 # {} 3\n"},
  };
  for (const Golden& row : golden) EXPECT_EQ(read_all(row.page, Exposition::open_metrics), row.read) << row.page;
}

TEST(Exposition, ErrorsNameThePlaceAndTheProblem) {
  const Golden text[] = {
      {"a 1\nb\n", "a 1\n! page:2:2: not a value, expected a number such as 1, 2.5e3, NaN or +Inf\n"},
      {"a{b=\"c} 1\n", "! page:1:10: the line ends inside double quotes, expected '\"'\n"},
      {"a{b=\"c\",b=\"d\"} 1\n",
       "! page:1:9: a label name that this sample already has, expected every label name once\n"},
      {"a{1=\"c\"} 1\n", "! page:1:3: expected a label name or '}'\n"},
      {"a{b:\"c\"} 1\n", "! page:1:4: expected '=' after the label name\n"},
      {"a{b=c} 1\n", "! page:1:5: expected a label value in double quotes\n"},
      {"a{b=\"\xff\"} 1\n", "! page:1:6: invalid UTF-8, expected UTF-8 text\n"},
      {"a 1 x\n", "! page:1:5: not a timestamp, expected whole milliseconds since 1970\n"},
      {"a 1 2 3\n", "! page:1:7: text after the sample, expected the end of the line\n"},
      {"a 1\r\n", "! page:1:3: not a value, expected a number such as 1, 2.5e3, NaN or +Inf\n"},
      {"{a=\"b\"} 1\n", "! page:1:1: no metric name, expected one before the braces or a quoted one inside them\n"},
      {"a{\"b\"} 1\n", "! page:1:3: a second metric name, expected label=\"value\"\n"},
      {"[{\"iterLatencyMS\": 3}]\n", "! page:1:1: expected a metric name, '{', '#' or an empty line\n"},
      {"# TYPE a counterr\n",
       "! page:1:10: not a type of this format, expected one such as counter, gauge or histogram\n"},
  };
  for (const Golden& row : text) EXPECT_EQ(read_all(row.page, Exposition::text), row.read) << row.page;
  const Golden open[] = {
      {"a 1\n", "a 1\n! page:2:1: the page ends without \"# EOF\", expected it as the last line\n"},
      {"a 1", "! page:1:4: the page ends without \"# EOF\", expected it as the last line\n"},
      {"# EOF\na 1\n", "! page:2:1: text after \"# EOF\", expected the end of the page\n"},
      {"\n# EOF\n", "! page:1:1: expected a metric name, '{' or \"# \"\n"},
      {"# UNIT a seconds\n# EOF\n", "! page:1:10: the family's name does not end with this unit, expected name_unit\n"},
  };
  for (const Golden& row : open) EXPECT_EQ(read_all(row.page, Exposition::open_metrics), row.read) << row.page;
}

TEST(Exposition, RefusesPagesBeyondTheLimits) {
  const std::string value(200, '9');
  EXPECT_EQ(read_all("a 1\nb " + value + "\n", Exposition::text, {.body_bytes = 1000, .line_bytes = 100}),
            "a 1\n! page:2:101: the line is longer than the length limit, expected a shorter one\n");
  EXPECT_EQ(read_all(value, Exposition::text, {.body_bytes = 199, .line_bytes = 100}),
            "! page: the page is larger than the size limit, expected a smaller one\n");
  std::string labels;
  for (int i = 0; i < 65; ++i) labels += "l" + std::to_string(i) + "=\"\",";
  EXPECT_NE(read_all("a{" + labels + "} 1\n", Exposition::text).find("too many labels"), std::string::npos);
}

TEST(Exposition, ResolvesEscapesOnDemand) {
  ExpositionReader reader("a{b=\"x\\\"y\\\\z\\nw\\q\\\\\"} 1\n", Exposition::text, "page");
  ASSERT_EQ(reader.next_sample(), ExpositionReader::Entry::sample);
  EXPECT_TRUE(reader.sample().has_escapes);
  EXPECT_EQ(unescape(reader.sample().label("b").value()), "x\"y\\z\nw\\q\\");
  EXPECT_FALSE(reader.sample().label("c").has_value());
}

TEST(Exposition, TakesTheFormatFromTheContentType) {
  EXPECT_EQ(exposition_of("application/openmetrics-text; version=1.0.0; charset=utf-8"), Exposition::open_metrics);
  EXPECT_EQ(exposition_of("text/plain; version=0.0.4"), Exposition::text);
  EXPECT_EQ(exposition_of(""), Exposition::text);
}

/// Generates an almost valid page from pieces of valid and invalid ones.
rc::Gen<std::string> nearly_a_page() {
  const auto piece = rc::gen::element<std::string>(
      "vllm:num_requests_running", "a", "_b:c", "{", "}", "le=\"0.5\"",
      "model_name=\"meta-llama/Llama-3.1-8B-Instruct\"", "engine=\"0\"", "\"quoted.name\"", ",", ",", "=", "\"", "\\",
      "\\\"", " ", " ", "\t", "\n", "\n", "\n", "1", "12.5", "1e3", "1.23456789012345678901e-5", "+Inf", "NaN", "-nan",
      "0x1p3", "1_0", "1e999", "1e-999", ".", "5.", ".5e+1", "1700000000123", "9223372036854775808", "# HELP a b\n",
      "# TYPE a gauge\n", "# UNIT a_s s\n", "# EOF\n", "# ", "#", " # {t=\"1\"} 3 4.5\n", "\r", std::string(1, '\0'),
      "\xc3\xa9", "\xff", "a{b=\"c\"} 1\n", "{\"n\"} 2 3\n", "x{a=\"b\",c=\"d\"} 4.25 1.5\n", "y 0.1\n");
  return rc::gen::map(rc::gen::container<std::vector<std::string>>(piece), [](const std::vector<std::string>& pieces) {
    std::string page;
    for (const std::string& piece : pieces) page += piece;
    return page;
  });
}

RC_GTEST_PROP(Exposition, EqualsItsTwin, ()) {
  const std::string page = *nearly_a_page();
  const Exposition format = *rc::gen::element(Exposition::text, Exposition::open_metrics);
  const ExpositionLimits limits{.body_bytes = 4096, .line_bytes = *rc::gen::element<std::size_t>(20, 200)};
  const std::string twin = text_of(read_plainly(page, format, "page", limits));
  RC_ASSERT(text_of(read_with<ExpositionReader>(page, format, limits)) == twin);
  RC_ASSERT(text_of(read_with<BasicExpositionReader<PortableScan>>(page, format, limits)) == twin);
}

}  // namespace
}  // namespace capstan::signals
