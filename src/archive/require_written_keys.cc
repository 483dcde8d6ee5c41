#include "archive/require_written_keys.h"

#include <algorithm>

#include <nlohmann/json.hpp>

namespace capstan::archive {
namespace {

using Json = nlohmann::ordered_json;

void compare(const manifest::Node& node, const Json& written, const std::string& name, manifest::ErrorList& errors) {
  if (written.is_array()) {
    const std::size_t rows = std::min(node.items.size(), written.size());
    for (std::size_t i = 0; i < rows; ++i) compare(node.items[i], written[i], name, errors);
  }
  if (!written.is_object()) return;
  for (const auto& [key, value] : written.items()) {
    const manifest::Node* given_value = node.find(key);
    const bool is_missing = given_value == nullptr || (given_value->is_null() && !value.is_null());
    if (is_missing) return errors.fail(node.place, name + " lacks \"" + key + "\", expected all settings");
    compare(*given_value, value, name + "." + key, errors);
  }
}

}  // namespace

void require_written_keys(const manifest::Node& node, std::string_view written, const std::string& name,
                          manifest::ErrorList& errors) {
  if (errors.ok()) compare(node, Json::parse(written), name, errors);
}

}  // namespace capstan::archive
