#include "manifest/yaml.h"

#include <libfyaml.h>

#include <array>
#include <cstdio>
#include <map>
#include <optional>
#include <utility>

#include "base/file.h"
#include "manifest/utf8.h"

namespace capstan::manifest {

std::string too_many_values(std::size_t most) {
  const std::string limit = std::to_string(most);
  return "has more than " + limit + " values after aliases are expanded, expected at most " + limit;
}

const Node* Node::find(std::string_view key) const {
  for (const Entry& entry : entries) {
    if (entry.key == key) return &entry.value;
  }
  return nullptr;
}

Node* Node::find(std::string_view key) { return const_cast<Node*>(std::as_const(*this).find(key)); }

std::string Node::words() const {
  constexpr std::size_t kShown = 40;
  switch (kind) {
    case Kind::sequence:
      return "a list";
    case Kind::mapping:
      return "a mapping";
    case Kind::scalar:
      break;
  }
  if (is_null()) return "nothing";
  // The text is cut between two characters, so that the message stays valid UTF-8.
  std::size_t cut = kShown;
  while (cut < text.size() && (static_cast<unsigned char>(text[cut]) & 0xc0) == 0x80) ++cut;
  return text.size() > kShown ? '"' + text.substr(0, cut) + "…\"" : '"' + text + '"';
}

Error error_at(const Place& place, std::string message, ErrorKind kind) {
  if (place.from_option && kind == ErrorKind::input) kind = ErrorKind::usage;
  return {kind, place.file ? *place.file : std::string(), place.line, place.column, std::move(message)};
}

namespace {

struct Deleter {
  void operator()(fy_parser* parser) const { fy_parser_destroy(parser); }
  void operator()(fy_diag* diag) const { fy_diag_destroy(diag); }
};

Error too_large(const Place& place, const Limits& limits) {
  return error_at(place, "is larger than " + std::to_string(limits.bytes >> 20) + " MiB");
}

/// Builds the tree from the parser's events and enforces the limits.
class Builder {
 public:
  /// @param max_documents  largest accepted number of documents
  Builder(std::shared_ptr<const std::string> file, const Limits& limits, std::size_t max_documents,
          std::vector<Error>* faults = nullptr)
      : file_(std::move(file)), limits_(limits), max_documents_(max_documents), faults_(faults) {}

  /// Parses the text and returns at least one document.
  Result<std::vector<Node>> build(std::string_view text) {
    const Place start{file_, 1, 1};
    if (text.size() > limits_.bytes) {
      return std::unexpected(too_large({file_}, limits_));
    }
    if (std::optional<Error> error = unprintable(text)) return std::unexpected(std::move(*error));
    fy_diag_cfg diag_config{};
    fy_diag_cfg_default(&diag_config);
    diag_config.fp = nullptr;
    diag_config.output_fn = [](fy_diag*, void*, const char*, std::size_t) {};
    diag_config.colorize = false;
    diag_.reset(fy_diag_create(&diag_config));
    fy_diag_set_collect_errors(diag_.get(), true);
    fy_parse_cfg config{};
    config.flags = static_cast<fy_parse_cfg_flags>(FYPCF_QUIET | FYPCF_COLLECT_DIAG | FYPCF_ALLOW_DUPLICATE_KEYS |
                                                   FYPCF_JSON_NONE);
    config.diag = diag_.get();
    parser_.reset(fy_parser_create(&config));
    if (!parser_ || fy_parser_set_string(parser_.get(), text.data(), text.size()) != 0) return syntax_error();

    while (fy_event* event = fy_parser_parse(parser_.get())) {
      const bool last = event->type == FYET_STREAM_END;
      take(event);
      fy_parser_event_free(parser_.get(), event);
      if (error_) return std::unexpected(*error_);
      if (last) break;
      if (++events_ > 4 * limits_.nodes) return std::unexpected(error_at(start, "has too many values"));
    }
    if (fy_diag_got_error(diag_.get())) return syntax_error();
    if (roots_.empty()) return std::unexpected(error_at({file_}, "is empty, expected a YAML mapping"));
    return std::move(roots_);
  }

 private:
  /// Returns an error for the first byte that YAML does not allow. libfyaml crashes on some of these bytes, so it must
  /// not see any.
  std::optional<Error> unprintable(std::string_view text) const {
    Place place{file_, 1, 0};
    std::size_t i = 0;
    while (i < text.size()) {
      const auto byte = static_cast<unsigned char>(text[i]);
      if (byte < 0x80) {
        ++i;
        ++place.column;
        if (byte == '\n') place = {file_, place.line + 1, 0};
        if (byte == 0) return error_at(place, "contains a NUL byte, expected YAML");
        if ((byte < 0x20 && byte != '\t' && byte != '\n' && byte != '\r') || byte == 0x7f) {
          return error_at(place, "contains a control character, expected YAML");
        }
        continue;
      }
      const std::size_t length = utf8_length(text.substr(i));
      ++place.column;
      if (length == 0) return error_at(place, "is not valid UTF-8, expected YAML");
      i += length;
    }
    return std::nullopt;
  }

  /// An unfinished collection. An unfinished mapping may have a key without a value.
  struct OpenCollection {
    Node node;
    std::string anchor;
    std::optional<Node::Entry> key;
    bool is_repeated = false;  ///< true if the mapping already has this key, so that the value is dropped
  };

  void take(fy_event* event) {
    switch (event->type) {
      case FYET_SCALAR:
        return scalar(event);
      case FYET_ALIAS:
        return alias(event);
      case FYET_MAPPING_START:
        return open(event, Node::Kind::mapping);
      case FYET_SEQUENCE_START:
        return open(event, Node::Kind::sequence);
      case FYET_MAPPING_END:
      case FYET_SEQUENCE_END:
        return close();
      case FYET_DOCUMENT_START:
        if (++documents_ > max_documents_) fail(place_of(event), "a second document starts here, expected only one");
        anchors_.clear();
        return;
      case FYET_NONE:
      case FYET_STREAM_START:
      case FYET_STREAM_END:
      case FYET_DOCUMENT_END:
        return;
    }
  }

  void scalar(fy_event* event) {
    Node node;
    node.place = place_of(event);
    node.text = text_of(event->scalar.value);
    node.quoted = event->scalar.value != nullptr && fy_token_scalar_style(event->scalar.value) != FYSS_PLAIN;
    refuse_tag(event->scalar.tag, node.place);
    if (!count(1, node.place)) return;
    remember(text_of(event->scalar.anchor), node);
    add(std::move(node));
  }

  void alias(fy_event* event) {
    const Place place = place_of(event);
    const std::string name = text_of(event->alias.anchor);
    const auto known = anchors_.find(name);
    if (known == anchors_.end()) return fail(place, "alias *" + name + " has no anchor above it");
    if (!count(known->second.size, place)) return;
    if (stack_.size() + known->second.depth > kMaxYamlDepth) return fail_depth(place);
    add(known->second.node);
  }

  void open(fy_event* event, Node::Kind kind) {
    OpenCollection level;
    level.node.kind = kind;
    level.node.place = place_of(event);
    const bool mapping = kind == Node::Kind::mapping;
    level.anchor = text_of(mapping ? event->mapping_start.anchor : event->sequence_start.anchor);
    refuse_tag(mapping ? event->mapping_start.tag : event->sequence_start.tag, level.node.place);
    if (!stack_.empty() && stack_.back().node.kind == Node::Kind::mapping && !stack_.back().key) {
      return fail(level.node.place, "a key is " + level.node.words() + ", expected a string");
    }
    if (stack_.size() >= kMaxYamlDepth) return fail_depth(level.node.place);
    if (!count(1, level.node.place)) return;
    stack_.push_back(std::move(level));
  }

  void close() {
    OpenCollection level = std::move(stack_.back());
    stack_.pop_back();
    remember(level.anchor, level.node);
    add(std::move(level.node));
  }

  void add(Node node) {
    if (error_) return;
    if (stack_.empty()) {
      roots_.push_back(std::move(node));
      return;
    }
    OpenCollection& top = stack_.back();
    if (top.node.kind == Node::Kind::sequence) {
      top.node.items.push_back(std::move(node));
    } else if (top.key) {
      top.key->value = std::move(node);
      if (!std::exchange(top.is_repeated, false)) top.node.entries.push_back(std::move(*top.key));
      top.key.reset();
    } else {
      if (node.kind != Node::Kind::scalar) return fail(node.place, "a key is " + node.words() + ", expected a string");
      for (const Node::Entry& entry : top.node.entries) {
        if (entry.key != node.text) continue;
        note(node.place, "key \"" + node.text + "\" is given twice, first on line " + std::to_string(entry.place.line));
        if (error_) return;
        top.is_repeated = true;
        break;
      }
      if (top.node.entries.size() >= kMaxKeys) return fail(node.place, "the mapping has too many keys");
      top.key = Node::Entry{std::move(node.text), std::move(node.place), {}};
    }
  }

  /// A copy of an anchored value.
  struct AnchoredValue {
    Node node;
    std::size_t size;  ///< number of values in the copy; every alias counts them again
    std::size_t depth;
  };

  void remember(const std::string& anchor, const Node& node) {
    if (anchor.empty()) return;
    const std::size_t size = size_of(node);
    if (!count(size, node.place)) return;  // the stored copy counts towards the limit too
    anchors_.insert_or_assign(anchor, AnchoredValue{node, size, depth_of(node)});
  }

  static std::size_t size_of(const Node& node) {
    std::size_t size = 1;
    for (const Node& item : node.items) size += size_of(item);
    for (const Node::Entry& entry : node.entries) size += size_of(entry.value);
    return size;
  }

  static std::size_t depth_of(const Node& node) {
    std::size_t deepest = 0;
    for (const Node& item : node.items) deepest = std::max(deepest, depth_of(item));
    for (const Node::Entry& entry : node.entries) deepest = std::max(deepest, depth_of(entry.value));
    return deepest + 1;
  }

  bool count(std::size_t nodes, const Place& place) {
    nodes_ += nodes;
    if (nodes_ <= limits_.nodes) return true;
    fail(place, too_many_values(limits_.nodes));
    return false;
  }

  void refuse_tag(fy_token* tag, const Place& place) {
    if (tag != nullptr) note(place, "the tag " + text_of(tag) + " is not supported, expected a value without a tag");
  }

  void fail_depth(const Place& place) {
    fail(place, "values are nested more than " + std::to_string(kMaxYamlDepth) + " deep");
  }

  /// Reports an error after which reading can go on.
  void note(const Place& place, std::string message) {
    if (faults_ == nullptr) return fail(place, std::move(message));
    faults_->push_back(error_at(place, std::move(message)));
  }

  void fail(const Place& place, std::string message) {
    if (!error_) error_ = error_at(place, std::move(message));
  }

  std::unexpected<Error> syntax_error() {
    void* cursor = nullptr;
    const fy_diag_error* found = fy_diag_errors_iterate(diag_.get(), &cursor);
    if (found == nullptr) {
      return std::unexpected(error_at({file_}, "cannot be read: it is not YAML, or memory ran out"));
    }
    const auto line = static_cast<std::uint32_t>(std::max(found->line, 0));
    const auto column = static_cast<std::uint32_t>(std::max(found->column, 0));
    return std::unexpected(error_at({file_, line, column}, std::string("not YAML: ") + found->msg));
  }

  /// Returns the place of an event. An empty value has no mark; it gets the place of the token before it.
  Place place_of(fy_event* event) {
    if (const fy_mark* mark = fy_event_start_mark(event)) {
      last_place_ = {file_, static_cast<std::uint32_t>(mark->line + 1), static_cast<std::uint32_t>(mark->column + 1)};
    }
    return last_place_;
  }

  static std::string text_of(fy_token* token) {
    if (token == nullptr) return {};
    std::size_t size = 0;
    const char* text = fy_token_get_text(token, &size);
    return text == nullptr ? std::string() : std::string(text, size);
  }

  /// Largest number of keys in a mapping. It bounds the cost of the search for duplicate keys, which compares every key
  /// with all earlier ones.
  static constexpr std::size_t kMaxKeys = 4096;

  std::shared_ptr<const std::string> file_;
  const Limits limits_;
  const std::size_t max_documents_;
  std::vector<Error>* faults_;
  std::unique_ptr<fy_diag, Deleter> diag_;
  std::unique_ptr<fy_parser, Deleter> parser_;  // declared after diag_, so that it is destroyed first
  std::vector<OpenCollection> stack_;
  std::map<std::string, AnchoredValue> anchors_;
  std::vector<Node> roots_;
  std::optional<Error> error_;
  Place last_place_{file_};
  std::size_t nodes_ = 0;
  std::size_t events_ = 0;
  std::size_t documents_ = 0;
};

}  // namespace

Result<std::string> read_text(const std::string& path, const Limits& limits) {
  const Place place{std::make_shared<const std::string>(path)};
  std::expected<std::string, FileFault> text = read_file(path, limits.bytes);
  if (text) return std::move(*text);
  switch (text.error()) {
    case FileFault::cannot_open:
      return std::unexpected(error_at(place, "cannot be opened, expected a file that exists and can be read"));
    case FileFault::cannot_read:
      return std::unexpected(error_at(place, "cannot be read, expected a YAML file"));
    case FileFault::too_large:
      break;
  }
  return std::unexpected(too_large(place, limits));
}

Result<Node> parse(std::string_view text, const std::string& file, const Limits& limits, std::vector<Error>* faults) {
  Result<std::vector<Node>> documents =
      Builder(std::make_shared<const std::string>(file), limits, 1, faults).build(text);
  if (!documents) return std::unexpected(std::move(documents.error()));
  return std::move(documents->front());
}

Result<Node> parse_file(const std::string& path, const Limits& limits, std::vector<Error>* faults) {
  const Result<std::string> text = read_text(path, limits);
  if (!text) return std::unexpected(text.error());
  return parse(*text, path, limits, faults);
}

Result<std::vector<Node>> parse_documents(std::string_view text, const std::string& file, const Limits& limits) {
  Result<std::vector<Node>> documents =
      Builder(std::make_shared<const std::string>(file), limits, limits.nodes).build(text);
  if (documents) std::erase_if(*documents, [](const Node& root) { return root.is_null(); });
  return documents;
}

Result<std::vector<Node>> parse_documents_file(const std::string& path, const Limits& limits) {
  const Result<std::string> text = read_text(path, limits);
  if (!text) return std::unexpected(text.error());
  return parse_documents(*text, path, limits);
}

}  // namespace capstan::manifest
