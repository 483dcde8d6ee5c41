#include "archive/check_stated.h"

#include <algorithm>

#include <nlohmann/json.hpp>

namespace capstan::archive {
namespace {

using Json = nlohmann::ordered_json;

void compare(const manifest::Node& given, const Json& written, const std::string& what, manifest::Verdict& verdict) {
  if (written.is_array()) {
    const std::size_t rows = std::min(given.items.size(), written.size());
    for (std::size_t i = 0; i < rows; ++i) compare(given.items[i], written[i], what, verdict);
  }
  if (!written.is_object()) return;
  for (const auto& [key, value] : written.items()) {
    const manifest::Node* inner = given.find(key);
    if (inner == nullptr) return verdict.fail(given.place, what + " lacks \"" + key + "\", expected every setting");
    compare(*inner, value, what + "." + key, verdict);
  }
}

}  // namespace

void check_stated(const manifest::Node& given, std::string_view written, const std::string& what,
                  manifest::Verdict& verdict) {
  if (verdict.ok()) compare(given, Json::parse(written), what, verdict);
}

}  // namespace capstan::archive
