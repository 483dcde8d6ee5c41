#include "manifest/path.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "manifest/fields.h"

namespace capstan::manifest {
namespace {

std::optional<std::size_t> list_position(std::string_view step) {
  if (step.empty() || step.size() > 6) return std::nullopt;
  std::size_t position = 0;
  for (const char c : step) {
    if (c < '0' || c > '9') return std::nullopt;
    position = position * 10 + static_cast<std::size_t>(c - '0');
  }
  return position;
}

/// Returns true if the node is a mapping with this text at its key `name`.
bool is_named(const Node& node, std::string_view name) {
  const Node* stated = node.find("name");
  return stated != nullptr && stated->kind == Node::Kind::scalar && stated->text == name;
}

/// Returns an element of a list, by its position or name, or the value of a mapping's key; null if it does not exist.
const Node* child(const Node& node, std::string_view step) {
  if (node.kind != Node::Kind::sequence) return node.find(step);
  if (const std::optional<std::size_t> position = list_position(step)) {
    return *position < node.items.size() ? &node.items[*position] : nullptr;
  }
  const auto named = std::ranges::find_if(node.items, [&](const Node& item) { return is_named(item, step); });
  return named == node.items.end() ? nullptr : &*named;
}

/// Returns the positions and names with which a step may enter a list: "a position from 0 or one of chat or reports".
/// For a list without names or with more than 20, it says "the name of an item" instead.
std::string steps_into(const Node& list, std::string_view step) {
  constexpr std::size_t kMaxNames = 20;
  std::vector<std::string_view> names;
  for (const Node& item : list.items) {
    const Node* name = item.find("name");
    if (name != nullptr && name->kind == Node::Kind::scalar) names.push_back(name->text);
  }
  const std::string_view meant = list_position(step) ? std::string_view() : did_you_mean(step, names);
  std::string words = "a position from 0 or ";
  if (names.empty() || names.size() > kMaxNames) {
    words += "the name of an item";
  } else {
    words += (names.size() > 1 ? "one of " : "") + one_of(names);
  }
  words += " instead of \"" + std::string(step) + '"';
  if (!meant.empty()) words += " (did you mean " + std::string(meant) + "?)";
  return words;
}

struct Walk {
  const Node* last;  ///< last existing node on the path
  bool complete;     ///< `last` is the end of the path
};

Walk walk(const Node& root, std::string_view path) {
  const Node* at = &root;
  while (true) {
    const std::size_t dot = path.find('.');
    const Node* next = child(*at, path.substr(0, dot));
    if (next == nullptr) return {at, false};
    at = next;
    if (dot == path.npos) return {at, true};
    path.remove_prefix(dot + 1);
  }
}

/// Sets the place of a value and its children to a command line option, which has no lines.
void mark_as_option(Node& node, const std::shared_ptr<const std::string>& origin) {
  const Place place{.file = origin, .from_option = true};
  node.place = place;
  for (Node& item : node.items) mark_as_option(item, origin);
  for (Node::Entry& entry : node.entries) {
    entry.place = place;
    mark_as_option(entry.value, origin);
  }
}

/// One `--set`, applied step by step.
class Setter {
 public:
  explicit Setter(const std::string& assignment)
      : origin_(std::make_shared<const std::string>("--set " + assignment)),
        place_{.file = origin_, .from_option = true} {}

  /// Returns the node at a path and creates missing keys.
  Result<Node*> reach(Node& root, std::string_view path) {
    Node* at = &root;
    std::string where = "the scenario";
    for (std::size_t from = 0;;) {
      const std::size_t dot = path.find('.', from);
      const bool last = dot == path.npos;
      Result<Node*> next = enter(*at, path.substr(from, last ? dot : dot - from), where);
      if (!next || last) return next;
      at = *next;
      where = path.substr(0, dot);
      from = dot + 1;
    }
  }

  Result<Node> read(const std::string& text) const {
    Result<Node> value = Node{};
    if (text.find_first_not_of(' ') != text.npos) value = parse(text, *origin_);
    if (value) {
      mark_as_option(*value, origin_);
    } else {
      value.error().kind = ErrorKind::usage;
    }
    return value;
  }

  std::unexpected<Error> refuse(std::string message) const {
    return std::unexpected(error_at(place_, std::move(message)));
  }

 private:
  Result<Node*> enter(Node& at, std::string_view step, const std::string& where) const {
    if (step.empty()) return refuse("the path has an empty name, expected names between the dots");
    if (at.kind == Node::Kind::sequence) {
      if (const Node* item = child(at, step)) return const_cast<Node*>(item);
      return refuse(where + " is a list of " + std::to_string(at.items.size()) + ", expected " + steps_into(at, step));
    }
    if (at.is_null()) {
      at.kind = Node::Kind::mapping;
      at.place = place_;
    }
    if (at.kind != Node::Kind::mapping) return refuse(where + " is " + at.words() + ", expected a mapping");
    if (Node* value = at.find(step)) return value;
    at.entries.push_back({std::string(step), place_, Node{}});
    at.entries.back().value.place = place_;
    return &at.entries.back().value;
  }

  std::shared_ptr<const std::string> origin_;
  Place place_;
};

}  // namespace

namespace {

/// Removes a key of a mapping. Returns false if it does not exist.
bool remove_key(Node& root, std::string_view path) {
  const std::size_t dot = path.rfind('.');
  const std::string_view key = dot == path.npos ? path : path.substr(dot + 1);
  auto* owner = dot == path.npos ? &root : const_cast<Node*>(at_path(root, path.substr(0, dot)));
  if (owner == nullptr || owner->kind != Node::Kind::mapping) return false;
  return std::erase_if(owner->entries, [&](const Node::Entry& entry) { return entry.key == key; }) > 0;
}

}  // namespace

const Node* at_path(const Node& root, std::string_view path) {
  const Walk found = walk(root, path);
  return found.complete ? found.last : nullptr;
}

std::string item_path(std::string_view list, const Node& item, std::size_t position) {
  const Node* name = item.kind == Node::Kind::mapping ? item.find("name") : nullptr;
  const bool is_step = name != nullptr && name->kind == Node::Kind::scalar && !name->is_null() && !name->text.empty() &&
                       name->text.find('.') == name->text.npos && !list_position(name->text);
  return std::string(list) + '.' + (is_step ? name->text : std::to_string(position));
}

const Place& place_for_error(const Node& root, std::span<const std::string> paths) {
  const Node* first = nullptr;
  for (const std::string& path : paths) {
    const Node* value = at_path(root, path);
    if (value == nullptr) continue;
    if (value->place.from_option) return value->place;
    if (first == nullptr) first = value;
  }
  if (first != nullptr) return first->place;
  return paths.empty() ? root.place : walk(root, paths.front()).last->place;
}

Result<void> apply_set(Node& root, const std::string& assignment) {
  Setter setter(assignment);
  const std::size_t equals = assignment.find('=');
  if (equals == std::string::npos || equals == 0) return setter.refuse("expected path=value, such as load.scale=2");
  const std::string_view path = std::string_view(assignment).substr(0, equals);
  Result<Node> value = setter.read(assignment.substr(equals + 1));
  if (value && value->is_null() && remove_key(root, path)) return {};
  const Result<Node*> at = setter.reach(root, path);
  if (!at) return std::unexpected(at.error());
  if (!value) return std::unexpected(std::move(value.error()));
  **at = std::move(*value);
  return {};
}

}  // namespace capstan::manifest
