// Exits with 0 if standard input is one JSON document whose first key is "format_version"; else prints why and exits
// with 1.
#include <iostream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <string>

int main() {
  const std::string text(std::istreambuf_iterator<char>(std::cin), {});
  const auto json = nlohmann::ordered_json::parse(text, nullptr, false);
  const bool valid = json.is_object() && !json.empty() && json.begin().key() == "format_version";
  if (!valid) std::cout << "not a JSON result: " << text.substr(0, 200) << '\n';
  return valid ? 0 : 1;
}
