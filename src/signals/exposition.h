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

/// The two text formats that engines answer a scrape with.
enum class Exposition : std::uint8_t {
  text,          ///< Prometheus text format 0.0.4 (and 1.0.0, whose quoted names are read in both)
  open_metrics,  ///< OpenMetrics 1.0 text
};

/// The format that a Content-Type header announces; text where it says nothing that we know, as most engines do.
Exposition exposition_of(std::string_view content_type);

/// No page is larger: the limits keep a broken or hostile target from costing more than its page.
struct ExpositionLimits {
  std::size_t body_bytes = 16u << 20;
  std::size_t line_bytes = 64u << 10;
};

/// Labels of one sample (or of its exemplar). Engines have fewer than ten.
inline constexpr std::size_t kMaxLabels = 64;

/// A label as it is written: views into the page, escapes not resolved (`unescape`).
struct Label {
  std::string_view name;
  std::string_view value;
  friend bool operator==(const Label&, const Label&) = default;
};

/// OpenMetrics' example of an observation that a bucket or counter counted.
struct Exemplar {
  std::span<const Label> labels;
  double value = 0;
  std::optional<std::int64_t> timestamp_ms;
};

/// One line with a value. Views are valid as long as the page, the spans until the next call of `next`.
struct Sample {
  std::string_view name;  ///< as written, without the quotes of a quoted name
  std::span<const Label> labels;
  double value = 0;
  std::optional<std::int64_t> timestamp_ms;  ///< milliseconds since 1970
  std::optional<Exemplar> exemplar;
  bool has_escapes = false;  ///< some label value, or the quoted name, holds a backslash

  /// The value of a label as it is written, or nothing.
  std::optional<std::string_view> label(std::string_view label_name) const;
};

/// A line "# HELP", "# TYPE" or "# UNIT".
struct Metadata {
  enum class Kind : std::uint8_t { help, type, unit };
  Kind kind = Kind::help;
  std::string_view name;  ///< of the metric family
  std::string_view text;  ///< help text as written, the type's name, the unit
};

/// A label value or quoted name with its escapes resolved: \\, \" and \n; any other backslash stays, as in Prometheus.
std::string unescape(std::string_view written);

/// Reads a page line by line without copying it.
///
/// What is accepted is what Prometheus accepts (model/textparse of 3.x), and like there one bad line makes the whole
/// page an error: half a page would be a page with silently missing series. Stricter in four points: a line feed inside
/// quotes, names and help texts that are not UTF-8, a label name that is there twice (there the scrape loop refuses
/// it), and the limits.
///
///   ExpositionReader reader(body, Exposition::text, "10.0.0.7:8000");
///   while (reader.next() == ExpositionReader::Entry::sample) use(reader.sample());   // see also skip_metadata
///
/// @tparam Scan  how bytes are searched: SimdScan or PortableScan. Both read every page alike.
template <typename Scan>
class BasicExpositionReader {
 public:
  enum class Entry : std::uint8_t { sample, metadata, end, error };

  /// @param page    must outlive the reader
  /// @param source  its name in errors
  BasicExpositionReader(std::string_view page, Exposition format, std::string_view source,
                        const ExpositionLimits& limits = {});

  /// The next line that says something. After `end` or `error` it stays there.
  Entry next();
  /// The next sample, `end` or `error`.
  Entry next_sample();

  const Sample& sample() const { return sample_; }
  const Metadata& metadata() const { return metadata_; }
  Error error() const;  ///< after Entry::error: source:line:column and what is wrong

 private:
  struct LabelList {
    std::array<Label, kMaxLabels> labels;
    std::size_t count = 0;
  };

  // Each reads what stands at a place and returns the place behind it, or nullptr after `fail`.
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
