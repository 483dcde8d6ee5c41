#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "manifest/document.h"

namespace capstan::manifest {

/// Builds the tree of one document after another from what a reader of YAML tells it, in the order of the text, and
/// holds it to the limits. All places are in the whole text.
class DocumentBuilder {
 public:
  DocumentBuilder(std::string_view text, const DocumentLimits& limits, Documents& out);

  /// Begins a document; one that was begun and not finished is forgotten.
  void begin(Span document);
  void finish();

  void scalar(const Value& value, std::string_view anchor = {});
  void alias(Span span, std::string_view anchor);
  void open(Form form, Style style, Span span, std::string_view anchor = {});
  /// @param end  where a flow collection ends; one of lines ends with its last child
  void close(std::uint32_t end);
  void fail(Span span, std::string message, Fault::Kind kind = Fault::Kind::syntax);
  bool failed() const { return failed_; }
  /// Why it failed; none where it did not.
  std::optional<Fault> fault() const { return failed_ ? std::optional(document_.faults.front()) : std::nullopt; }

  /// Keeps a text that is not written as it is meant.
  std::string_view keep(std::string text);
  std::string_view text() const { return text_; }

 private:
  /// A collection that is being filled, and in a mapping the key that waits for its value.
  struct Open {
    Value value;
    std::size_t first = 0;  ///< its first child in `children_`
    std::string anchor;
    bool has_key = false;
    Value key;
  };
  struct Anchored {
    Value value;
    std::size_t size;
  };

  void add(const Value& value);
  bool count(std::size_t values, Span span);
  void remember(std::string_view anchor, const Value& value, std::size_t size);
  std::uint32_t last_end(std::size_t first) const;
  void merge(std::size_t first);
  void note_duplicates(std::size_t first);
  void note_duplicate(const Value& entry);

  const std::string_view text_;
  const DocumentLimits limits_;
  Documents& out_;
  Document document_;
  std::vector<Open> stack_;
  std::vector<Value> children_;  ///< of all open collections, those of the innermost at the end
  std::map<std::string, Anchored, std::less<>> anchors_;
  std::size_t values_ = 0;
  bool failed_ = false;
};

}  // namespace capstan::manifest
