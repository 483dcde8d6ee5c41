#include "serve/result_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>

#include <nlohmann/json.hpp>

namespace capstan::serve {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kSqlite("SQLite format 3\0", 16);

/// Finds the first byte at which a text is not JSON.
class FaultFinder final : public nlohmann::json_sax<Json> {
 public:
  bool null() override { return true; }
  bool boolean(bool) override { return true; }
  bool number_integer(number_integer_t) override { return true; }
  bool number_unsigned(number_unsigned_t) override { return true; }
  bool number_float(number_float_t, const string_t&) override { return true; }
  bool string(string_t&) override { return true; }
  bool binary(binary_t&) override { return true; }
  bool start_object(std::size_t) override { return true; }
  bool key(string_t&) override { return true; }
  bool end_object() override { return true; }
  bool start_array(std::size_t) override { return true; }
  bool end_array() override { return true; }
  bool parse_error(std::size_t position, const std::string&, const Json::exception&) override {
    position_ = position;
    return false;
  }
  std::size_t position() const { return position_; }

 private:
  std::size_t position_ = 0;
};

/// Returns the error of a text that is not JSON, with its place.
Error not_json(std::string_view text, const std::string& path) {
  FaultFinder finder;
  Json::sax_parse(text, &finder);
  const std::size_t at = std::min(finder.position() == 0 ? 0 : finder.position() - 1, text.size());
  const std::string_view before = text.substr(0, at);
  const auto line = static_cast<std::uint32_t>(std::ranges::count(before, '\n') + 1);
  const std::size_t line_start = before.rfind('\n') == before.npos ? 0 : before.rfind('\n') + 1;
  const bool ends = at >= text.size();
  return {ErrorKind::input, path, line, static_cast<std::uint32_t>(at - line_start + 1),
          ends ? "the JSON ends early, expected a whole result" : "is not JSON, expected a result of sim or compare"};
}

}  // namespace

FileKind kind_of_file(std::string_view bytes) {
  if (bytes.starts_with(kSqlite)) return FileKind::recording;
  const std::size_t first = bytes.find_first_not_of(" \t\r\n");
  if (first != bytes.npos && bytes[first] == '<') return FileKind::page;
  const bool is_object = first != bytes.npos && bytes[first] == '{';
  // A scenario may be written as JSON, because JSON is YAML. The first key of a result is its format version.
  const std::size_t key = is_object ? bytes.find_first_not_of(" \t\r\n", first + 1) : bytes.npos;
  const bool is_result = key != bytes.npos && bytes.substr(key).starts_with("\"format_version\"");
  return is_result ? FileKind::result : FileKind::scenario;
}

FileKind kind_of_path(const std::string& path) {
  std::string bytes(4096, '\0');
  std::ifstream file(path, std::ios::binary);
  file.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  bytes.resize(static_cast<std::size_t>(std::max<std::streamsize>(0, file.gcount())));
  return kind_of_file(bytes);
}

Result<void> check_result(std::string_view text, const std::string& path) {
  const Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded()) return std::unexpected(not_json(text, path));
  const auto refuse = [&](std::string why) { return std::unexpected(Error::about(path, std::move(why))); };
  const auto version = json.is_object() ? json.find("format_version") : json.end();
  if (!json.is_object() || version == json.end()) return refuse("holds no result, expected JSON of sim or compare");
  if (*version != 1) return refuse("has another format version, and this program shows version 1");
  const auto policies = json.find("policies");
  const bool has_policies = policies != json.end() && policies->is_array() && !policies->empty();
  if (!has_policies) return refuse("holds no policies, expected JSON of sim or compare");
  return {};
}

}  // namespace capstan::serve
