#include "manifest/document_builder.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "manifest/document_storage.h"
#include "manifest/yaml.h"

namespace capstan::manifest {
namespace {

/// Returns the number of values in a tree. The recursion is bounded, because the reader limits depth and values.
std::size_t size_of(const Value& value) {
  std::size_t size = 1;
  for (const Value& child : value.children()) size += size_of(child);
  return size;
}

/// Returns true if two values have the same content, whatever their style.
bool have_same_content(const Value& a, const Value& b) {
  return a.form == b.form && a.is_null() == b.is_null() && a.text == b.text &&
         std::ranges::equal(a.children(), b.children(), [](const Value& one, const Value& other) {
           return one.key == other.key && have_same_content(one, other);
         });
}

}  // namespace

DocumentBuilder::DocumentBuilder(std::string_view text, const DocumentLimits& limits, Documents& out)
    : text_(text), limits_(limits), out_(out) {
  out_.storage_ = std::make_unique<Documents::Storage>();
}

void DocumentBuilder::begin(Span document) {
  document_ = Document{.root = {}, .span = document, .faults = {}};
  stack_.clear();
  children_.clear();
  anchors_.clear();
  values_ = 0;
  failed_ = false;
}

void DocumentBuilder::finish() { out_.documents_.push_back(std::move(document_)); }

std::string_view DocumentBuilder::store(std::string text) {
  return out_.storage_->texts.emplace_front(std::move(text));
}

void DocumentBuilder::scalar(const Value& value, std::string_view anchor) {
  if (!count(1, value.span)) return;
  remember(anchor, value, 1);
  add(value);
}

void DocumentBuilder::alias(Span span, std::string_view anchor) {
  const auto known = anchors_.find(anchor);
  if (known == anchors_.end()) return fail(span, "alias *" + std::string(anchor) + " has no anchor above it");
  if (!count(known->second.size, span)) return;
  Value value = known->second.value;
  value.shared = true;
  add(value);
}

void DocumentBuilder::open(Form form, Style style, Span span, std::string_view anchor) {
  if (failed_) return;
  if (!stack_.empty() && stack_.back().value.form == Form::mapping && !stack_.back().has_key) {
    return fail(span, "a key is a list or a mapping, expected a string", Fault::Kind::key_not_text);
  }
  if (stack_.size() >= limits_.depth) {
    return fail(span, "values are nested more than " + std::to_string(limits_.depth) + " deep");
  }
  if (!count(1, span)) return;
  OpenCollection& level = stack_.emplace_back();
  level.value.form = form;
  level.value.style = style;
  level.value.span = span;
  level.anchor = anchor;
  level.first = children_.size();
}

void DocumentBuilder::close(std::uint32_t end) {
  if (failed_) return;
  const OpenCollection level = std::move(stack_.back());
  stack_.pop_back();
  Value value = level.value;
  const bool empty = children_.size() == level.first;
  value.span.end = value.style == Style::flow ? std::max(value.span.begin, end)
                   : empty                    ? value.span.begin
                                              : std::max(value.span.begin, last_end(level.first));
  if (value.form == Form::mapping) {
    merge(level.first);
    note_duplicates(level.first);
  }
  const std::span<const Value> own(children_.begin() + static_cast<std::ptrdiff_t>(level.first), children_.end());
  value.count = static_cast<std::uint32_t>(own.size());
  value.first = out_.storage_->store(own);
  if (!level.anchor.empty()) remember(level.anchor, value, size_of(value));
  children_.resize(level.first);
  add(value);
}

std::uint32_t DocumentBuilder::last_end(std::size_t first) const {
  const Value& last = children_.back();
  std::uint32_t end = std::max(last.key_span.end, last.shared ? 0 : last.span.end);
  // The value of an alias has its span elsewhere, at the anchor. A collection that ends with an alias therefore ends
  // with the line of the alias.
  if (last.shared && children_.size() > first) {
    while (end < text_.size() && text_[end] != '\n') ++end;
  }
  return end;
}

/// Resolves `<<: *base`: adds the keys of the base that the mapping does not have itself.
void DocumentBuilder::merge(std::size_t first) {
  std::vector<Value> bases;
  for (std::size_t i = first; i < children_.size(); ++i) {
    if (children_[i].key != "<<") continue;
    if (children_[i].is_mapping()) bases.push_back(children_[i]);
    for (const Value& item : children_[i].is_sequence() ? children_[i].children() : std::span<const Value>()) {
      if (item.is_mapping()) bases.push_back(item);
    }
  }
  if (bases.empty()) return;
  std::unordered_set<std::string_view> own;
  for (std::size_t i = first; i < children_.size(); ++i) own.insert(children_[i].key);
  for (const Value& base : bases) {
    for (const Value& entry : base.children()) {
      if (!own.insert(entry.key).second) continue;
      if (!count(size_of(entry), entry.span)) return;
      children_.push_back(entry);
      children_.back().shared = true;
    }
  }
}

void DocumentBuilder::note_duplicate(const Value& entry, const Value& earlier) {
  if (entry.key == "<<") return;
  const bool is_same = have_same_content(entry, earlier);
  document_.faults.push_back({is_same ? Fault::Kind::equal_duplicate : Fault::Kind::duplicate_key, entry.key_span,
                              "key \"" + std::string(entry.key) + "\" is given twice in one mapping" +
                                  (is_same ? ", with the same value" : "")});
}

void DocumentBuilder::note_duplicates(std::size_t first) {
  constexpr std::size_t kFew = 24;  // up to this size, comparing all pairs is faster than sorting
  const std::span<const Value> own(children_.begin() + static_cast<std::ptrdiff_t>(first), children_.end());
  if (own.size() <= kFew) {
    for (std::size_t i = 1; i < own.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        if (own[j].key != own[i].key) continue;
        note_duplicate(own[i], own[j]);
        break;
      }
    }
    return;
  }
  std::vector<const Value*> entries;
  for (const Value& entry : own) entries.push_back(&entry);
  std::ranges::stable_sort(entries, {}, [](const Value* value) { return value->key; });
  for (std::size_t i = 1; i < entries.size(); ++i) {
    if (entries[i]->key == entries[i - 1]->key) note_duplicate(*entries[i], *entries[i - 1]);
  }
}

void DocumentBuilder::add(const Value& value) {
  if (failed_) return;
  if (stack_.empty()) {
    if (document_.root.form == Form::missing) document_.root = value;
    return;
  }
  OpenCollection& top = stack_.back();
  if (top.value.form == Form::sequence) {
    Value& item = children_.emplace_back(value);
    item.key = {};
    item.key_span = {};
  } else if (top.has_key) {
    Value& entry = children_.emplace_back(value);
    entry.key = top.key.text;
    entry.key_span = top.key.span;
    top.has_key = false;
  } else if (value.form != Form::scalar) {
    fail(value.span, "a key is a list or a mapping, expected a string", Fault::Kind::key_not_text);
  } else {
    top.key = value;
    top.has_key = true;
  }
}

void DocumentBuilder::remember(std::string_view anchor, const Value& value, std::size_t size) {
  if (anchor.empty()) return;
  anchors_.insert_or_assign(std::string(anchor), AnchoredValue{value, size});
}

bool DocumentBuilder::count(std::size_t values, Span span) {
  values_ += values;
  if (values_ <= limits_.values) return true;
  fail(span, too_many_values(limits_.values));
  return false;
}

void DocumentBuilder::fail(Span span, std::string message, Fault::Kind kind) {
  if (failed_) return;
  failed_ = true;
  document_.root = {};
  document_.faults.clear();
  document_.faults.push_back({kind, span, std::move(message)});
}

}  // namespace capstan::manifest
