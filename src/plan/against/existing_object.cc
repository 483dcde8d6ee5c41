#include "plan/against/existing_object.h"

#include "manifest/scalars.h"

namespace capstan::plan {

using manifest::Node;

std::string text_at(const Node& root, std::string_view first, std::string_view second) {
  const Node* node = root.find(first);
  if (node != nullptr && !second.empty()) node = node->find(second);
  return node == nullptr ? "" : node->text;
}

std::string text_at(const Yaml& root, std::string_view first, std::string_view second) {
  const Yaml* value = root.find(first);
  if (value != nullptr && !second.empty()) value = value->find(second);
  return value == nullptr ? "" : value->text();
}

std::string api_group(const std::string& api_version) {
  const std::size_t slash = api_version.find('/');
  return slash == api_version.npos ? "" : api_version.substr(0, slash);
}

Yaml yaml_of(const Node& node) {
  if (node.kind == Node::Kind::mapping) {
    Yaml out;
    for (const Node::Entry& entry : node.entries) out.set(entry.key, yaml_of(entry.value));
    return out;
  }
  if (node.kind == Node::Kind::sequence) {
    Yaml out = Yaml::list();
    for (const Node& item : node.items) out.add(yaml_of(item));
    return out;
  }
  const bool is_number = manifest::read_integer(node.text) && node.text.find('_') == std::string::npos;
  const bool is_plain = !node.quoted && (is_number || node.text == "true" || node.text == "false");
  return is_plain ? Yaml::plain(node.text) : Yaml(node.text);
}

std::string ExistingObject::kind() const { return text_at(body, "kind"); }
std::string ExistingObject::name() const { return text_at(body, "metadata", "name"); }
std::string ExistingObject::namespace_name() const { return text_at(body, "metadata", "namespace"); }
std::string ExistingObject::group() const { return api_group(text_at(body, "apiVersion")); }

}  // namespace capstan::plan
