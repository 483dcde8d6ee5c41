// Compares docs/reference/scenario.md and plan.md with the readers. A page must have a row for every key, with its type
// and bounds. The full example (docs/reference/scenario-full.yaml, schema/plan-example.yaml) must use every key.

#include <gtest/gtest.h>

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "scenario/blocks.h"
#include "scenario/reader_table.h"

namespace capstan::golden {
namespace {

TEST(Schema, DocumentsEveryKeyWithItsTypeAndBounds) {
  for (const Mapping& mapping : mappings()) {
    if (mapping.heading.empty()) continue;
    SCOPED_TRACE(mapping.heading + " at " + mapping.path);
    const std::string text = section(mapping.format, mapping.heading);
    // Other keys are checked in the mappings that use them (TheFullExampleIsValidAndUsesEveryKey).
    for (const std::string& key : used_by(mapping)) {
      if (!mapping.only.empty() && std::ranges::find(mapping.only, key) == mapping.only.end()) continue;
      const Column column = column_of(mapping, key);
      const std::string row =
          fmt::format("\n| `{}` | {} | {}|", key, column.type, column.bounds.empty() ? "" : column.bounds + " ");
      EXPECT_NE(text.find(row), text.npos) << page_name(mapping.format) << " lacks the row " << row.substr(1);
    }
  }
}

TEST(Schema, DocumentsTheSettingsOfOtherAutoscalers) {
  const std::string peers = read_text(CAPSTAN_SOURCE_DIR "/docs/reference/peers.md").value_or("");
  for (const Mapping& mapping : mappings()) {
    if (!mapping.heading.empty()) continue;
    for (const std::string& key : keys_of(mapping)) {
      const bool known = peers.find("`" + key + "`") != peers.npos || peers.find(key + ": ") != peers.npos ||
                         section(Format::scenario, "scale").find(key) != std::string::npos;
      EXPECT_TRUE(known) << "no page documents " << key;
    }
  }
}

TEST(Schema, TheReaderAcceptsEveryDocumentedKey) {
  std::map<std::pair<Format, std::string>, std::set<std::string>> accepted;
  for (const Mapping& mapping : mappings()) {
    if (mapping.heading.empty()) continue;
    for (const std::string& key : keys_of(mapping)) accepted[{mapping.format, mapping.heading}].insert(key);
  }
  for (const auto& [place, keys] : accepted) {
    SCOPED_TRACE(page_name(place.first) + " " + place.second);
    const std::string text = section(place.first, place.second);
    constexpr std::string_view kRow = "\n| `";
    for (std::size_t at = text.find(kRow); at != text.npos; at = text.find(kRow, at + 1)) {
      const std::size_t from = at + kRow.size();
      const std::string key = text.substr(from, text.find('`', from) - from);
      EXPECT_TRUE(keys.contains(key)) << key << " is documented, but the reader refuses it";
    }
  }
}

TEST(Schema, TheFullExampleIsValidAndUsesEveryKey) {
  std::map<std::pair<Format, std::string>, std::set<std::string>> accepted;
  std::map<std::pair<Format, std::string>, std::set<std::string>> used;
  for (const Mapping& mapping : mappings()) {
    SCOPED_TRACE(mapping.name() + " at " + mapping.path);
    EXPECT_EQ(reader_errors(mapping.format, mapping.sets), Strings());
    const Strings keys = keys_of(mapping);
    EXPECT_FALSE(keys.empty());
    if (mapping.heading.empty()) continue;
    const std::pair place(mapping.format, mapping.heading);
    accepted[place].insert(keys.begin(), keys.end());
    used[place].insert(used_by(mapping).begin(), used_by(mapping).end());
  }
  EXPECT_EQ(used, accepted);
}

}  // namespace
}  // namespace capstan::golden
