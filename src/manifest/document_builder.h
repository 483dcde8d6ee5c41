#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "manifest/document.h"

namespace capstan::manifest {

/// Builds the trees of documents, one after the other, from the events of a YAML reader in the order of the text. It
/// enforces the limits. All spans are offsets in the whole text.
class DocumentBuilder {
 public:
  DocumentBuilder(std::string_view text, const DocumentLimits& limits, Documents& out);

  /// Begins a document and drops an unfinished one.
  void begin(Span document);
  void finish();

  void scalar(const Value& value, std::string_view anchor = {});
  void alias(Span span, std::string_view anchor);
  void open(Form form, Style style, Span span, std::string_view anchor = {});
  /// @param end  end of a flow collection; a block collection ends with its last child
  void close(std::uint32_t end);
  void fail(Span span, std::string message, Fault::Kind kind = Fault::Kind::syntax);
  bool failed() const { return failed_; }
  /// Returns the error of the current document, if it failed.
  std::optional<Fault> fault() const { return failed_ ? std::optional(document_.faults.front()) : std::nullopt; }

  /// Stores a decoded text that differs from the source.
  std::string_view store(std::string text);
  std::string_view text() const { return text_; }

 private:
  /// An unfinished collection. An unfinished mapping may have a key without a value.
  struct OpenCollection {
    Value value;
    std::size_t first = 0;  ///< index of its first child in `children_`
    std::string anchor;
    bool has_key = false;
    Value key;
  };
  struct AnchoredValue {
    Value value;
    std::size_t size;
  };

  void add(const Value& value);
  bool count(std::size_t values, Span span);
  void remember(std::string_view anchor, const Value& value, std::size_t size);
  std::uint32_t last_end(std::size_t first) const;
  void merge(std::size_t first);
  void note_duplicates(std::size_t first);
  void note_duplicate(const Value& entry, const Value& earlier);

  const std::string_view text_;
  const DocumentLimits limits_;
  Documents& out_;
  Document document_;
  std::vector<OpenCollection> stack_;
  std::vector<Value> children_;  ///< children of all unfinished collections; the innermost collection is last
  std::map<std::string, AnchoredValue, std::less<>> anchors_;
  std::size_t values_ = 0;
  bool failed_ = false;
};

}  // namespace capstan::manifest
