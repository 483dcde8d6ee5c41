#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/error.h"
#include "signals/byte_scan.h"

namespace capstan::signals {

/// The two text formats in which engines answer a scrape.
enum class Exposition : std::uint8_t {
  text,          ///< Prometheus text format 0.0.4 or 1.0.0, each with the quoted names of 1.0.0
  open_metrics,  ///< OpenMetrics 1.0 text
};

/// Returns the format that a Content-Type header names, and `text` if it names none, as for most engines.
Exposition exposition_of(std::string_view content_type);

/// Largest accepted sizes. They bound the cost of a broken or hostile target.
struct ExpositionLimits {
  std::size_t body_bytes = 16u << 20;
  std::size_t line_bytes = 64u << 10;
};

/// Largest number of labels of one sample or exemplar. Engines use fewer than ten.
inline constexpr std::size_t kMaxLabels = 64;

/// A label as written: views into the page. Escapes are not resolved; `unescape` resolves them.
struct Label {
  std::string_view name;
  std::string_view value;
  friend bool operator==(const Label&, const Label&) = default;
};

/// An OpenMetrics exemplar: one example of the observations that a bucket or counter has counted.
struct Exemplar {
  std::span<const Label> labels;
  double value = 0;
  std::optional<std::int64_t> timestamp_ms;
};

/// One line with a value. The views are valid as long as the page, the spans until the next call of `next`.
struct Sample {
  std::string_view name;  ///< metric name as written, without quotes
  std::span<const Label> labels;
  double value = 0;
  std::optional<std::int64_t> timestamp_ms;  ///< milliseconds since 1970
  std::optional<Exemplar> exemplar;
  bool has_escapes = false;  ///< a label value or the quoted name contains a backslash

  /// Returns the value of a label as written, or nothing if the sample does not have it.
  std::optional<std::string_view> label(std::string_view label_name) const;
};

/// A line that starts with "# HELP", "# TYPE" or "# UNIT".
struct Metadata {
  enum class Kind : std::uint8_t { help, type, unit };
  Kind kind = Kind::help;
  std::string_view name;  ///< name of the metric family
  std::string_view text;  ///< help text as written, name of the type, or unit
};

/// Resolves the escapes \\, \" and \n of a label value or quoted name. Any other backslash stays, as in Prometheus.
std::string unescape(std::string_view written);

/// Reads a page line by line without copying it.
///
/// The reader accepts what Prometheus 3.x accepts (model/textparse). As in Prometheus, one bad line makes the whole
/// page an error. Otherwise series would be missing without any sign of it. The reader is stricter in four points: it
/// refuses a line feed inside quotes, names and help texts that are not UTF-8, a repeated label name (Prometheus
/// refuses it later, in its scrape loop), and pages beyond the limits.
///
///   ExpositionReader reader(body, Exposition::text, "10.0.0.7:8000");
///   while (reader.next_sample() == ExpositionReader::Entry::sample) use(reader.sample());
///
/// @tparam Scan  search functions: SimdScan or PortableScan; both give the same result for every page
template <typename Scan>
class BasicExpositionReader {
 public:
  enum class Entry : std::uint8_t { sample, metadata, end, error };

  /// @param page    must outlive the reader
  /// @param source  name of the page in errors
  BasicExpositionReader(std::string_view page, Exposition format, std::string_view source,
                        const ExpositionLimits& limits = {});

  /// Reads up to the next sample or metadata line and returns the kind of that line. After `end` or `error`, each
  /// further call returns the same value again.
  Entry next();
  /// Reads up to the next sample and skips metadata.
  Entry next_sample();

  const Sample& sample() const { return sample_; }
  const Metadata& metadata() const { return metadata_; }
  Error error() const;  ///< only after Entry::error; source, line, column and message

 private:
  struct LabelList {
    std::array<Label, kMaxLabels> labels;
    std::size_t count = 0;
  };

  // Each function reads one part of a line from `at` and returns the position after it, or nullptr after `fail`.
  const char* read_sample(const char* at);
  const char* read_labels(const char* at, LabelList& out, bool may_hold_name);
  const char* read_label(const char* at, LabelList& out, bool may_hold_name);
  const char* read_quoted(const char* at, std::string_view& inside);
  const char* read_value(const char* at, double& value);
  const char* read_text_end(const char* at);
  const char* read_open_end(const char* at);
  const char* read_exemplar(const char* at);
  const char* read_seconds(const char* at, std::optional<std::int64_t>& timestamp_ms);
  const char* read_hash(const char* at, bool& is_metadata);
  const char* read_metadata(const char* at, Metadata::Kind kind);
  const char* skip_blanks(const char* at) const;
  const char* check_unit(const char* at);
  const char* check_type(const char* at);

  bool at_line_end(const char* at) const { return at == end_ || *at == '\n'; }
  bool end_line(const char* at);
  const char* fail(const char* at, std::string_view what);
  Entry fail_entry(const char* at, std::string_view what);

  const char* at_;
  const char* end_;
  const char* line_start_;
  std::uint32_t line_ = 0;
  bool open_;
  bool ascii_;
  bool done_ = false;
  std::size_t line_bytes_max_;
  std::string_view source_;
  std::string_view fault_;
  std::uint32_t fault_column_ = 0;
  Sample sample_;
  Metadata metadata_;
  LabelList labels_;
  LabelList exemplar_labels_;
};

extern template class BasicExpositionReader<SimdScan>;
extern template class BasicExpositionReader<PortableScan>;

using ExpositionReader = BasicExpositionReader<SimdScan>;

}  // namespace capstan::signals
