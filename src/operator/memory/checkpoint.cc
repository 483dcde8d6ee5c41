#include "operator/memory/checkpoint.h"

#include <algorithm>
#include <utility>

#include "base/hash.h"
#include "manifest/yaml.h"
#include "settings/policy.h"

namespace capstan::op {
namespace {

constexpr std::string_view kRows = "rows";
constexpr std::string_view kReplicas = "replicas";

std::string line_of(const std::string& key, const Checkpoint::Row& row) {
  std::string line = key + '\t' + to_text(row.memory) + '\t' + to_text(row.ledger);
  if (!row.replicas.empty()) line += '\t' + std::string(kReplicas);
  for (const std::string& uid : row.replicas) line += ' ' + uid;
  if (row.slo != control::SloMemory()) {
    line += '\t' + to_text(row.slo);
    if (row.slo.good) line += '\t' + settings::to_json(row.slo.good->settings);
  }
  return line + '\n';
}

/// Removes the text up to the next `end` from the front of `text` and returns it without `end`.
std::string_view take(std::string_view& text, char end) {
  const std::size_t at = std::min(text.find(end), text.size());
  const std::string_view taken = text.substr(0, at);
  text.remove_prefix(std::min(at + 1, text.size()));
  return taken;
}

/// Reads the memory of an SLO breach from the rest of a line, with the last settings that met the SLO.
Result<control::SloMemory> read_slo(std::string_view line) {
  if (line.empty()) return control::SloMemory();
  const std::string_view numbers = take(line, '\t');
  if (line.empty()) return control::parse_slo_memory(numbers, std::nullopt);
  const Result<manifest::Node> node = manifest::parse(line, "checkpoint");
  if (!node) return std::unexpected(node.error());
  manifest::ErrorList errors;
  const decide::scale::Policy good = settings::read_scale(*node, errors);
  if (!errors.ok()) return std::unexpected(*errors.error);
  return control::parse_slo_memory(numbers, good);
}

/// Removes the UIDs from the front of the line and returns them. The result is empty if the line has none.
std::vector<std::string> take_replicas(std::string_view& line) {
  std::vector<std::string> uids;
  if (!line.starts_with(kReplicas)) return uids;
  std::string_view words = take(line, '\t');
  take(words, ' ');
  while (!words.empty()) uids.emplace_back(take(words, ' '));
  return uids;
}

/// Returns whether every replica that the memory names is in the list of replicas of the same row.
bool names_within(const decide::scale::Memory& memory, std::size_t replicas) {
  if (!memory.capstan) return true;
  const auto within = [&](const auto& row) { return row.id.value < replicas; };
  return std::ranges::all_of(memory.capstan->counters, within) && std::ranges::all_of(memory.capstan->starting, within);
}

bool read_line(std::string_view line, Checkpoint& into) {
  const std::string_view key = take(line, '\t');
  const Result<decide::scale::Memory> memory = decide::scale::parse_memory(take(line, '\t'));
  const Result<Ledger> ledger = parse_ledger(take(line, '\t'));
  std::vector<std::string> replicas = take_replicas(line);
  const Result<control::SloMemory> slo = read_slo(line);
  if (key.empty() || !memory || !ledger || !slo || !names_within(*memory, replicas.size())) return false;
  into.rows[std::string(key)] = {*memory, std::move(replicas), *ledger, *slo};
  return true;
}

}  // namespace

std::size_t part_of(std::string_view row_key) { return hash_text(row_key) % Checkpoint::kParts; }

std::string checkpoint_name(std::size_t part) { return "capstan-checkpoint-" + std::to_string(part); }

std::array<std::string, Checkpoint::kParts> to_config_maps(const Checkpoint& checkpoint, std::size_t& left_out) {
  std::array<std::string, Checkpoint::kParts> texts;
  left_out = 0;
  for (const auto& [key, row] : checkpoint.rows) {
    std::string& text = texts[part_of(key)];
    const std::string line = line_of(key, row);
    if (text.size() + line.size() > Checkpoint::kPartBytes) {
      ++left_out;
    } else {
      text += line;
    }
  }
  for (std::size_t part = 0; part < Checkpoint::kParts; ++part) {
    texts[part] = R"({"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":")" + checkpoint_name(part) +
                  R"("},"data":{")" + std::string(kRows) + R"(":)" + kube::json_quote(texts[part]) + "}}";
  }
  return texts;
}

std::size_t read_config_map(kube::Json object, Checkpoint& into) {
  std::string_view text = object["data"][kRows].text();
  std::size_t left_out = 0;
  while (!text.empty()) left_out += read_line(take(text, '\n'), into) ? 0 : 1;
  return left_out;
}

}  // namespace capstan::op
