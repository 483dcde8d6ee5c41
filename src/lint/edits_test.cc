#include "lint/edits.h"

#include <gtest/gtest.h>

#include "lint/fix.h"

namespace capstan::lint::edits_test {
namespace {

/// Returns a text after the edit that `make` returns; "none" if `make` returns no edit.
template <typename Make>
std::string edited(const std::string& text, const Make& make) {
  File file("a.yaml", text);
  file.documents = manifest::Documents::parse(file.text);
  const std::optional<Edit> edit = make(file, file.documents.all()[0].root);
  return edit ? with_edits(text, {*edit}) : "none";
}

TEST(Edits, AValueKeepsItsQuotes) {
  const struct {
    const char* before;
    const char* after;
  } rows[] = {{"a: x  # why\n", "a: new  # why\n"},
              {"a: \"x\"\n", "a: \"new\"\n"},
              {"a: 'x'\n", "a: 'new'\n"},
              {"{\"a\": \"x\"}\n", "{\"a\": \"new\"}\n"},
              {"a: &anchor x\n", "a: &anchor new\n"},
              {"a: |\n  x\n", "none"},
              {"a: [x]\n", "none"},
              {"a:\n", "none"}};
  for (const auto& row : rows) {
    EXPECT_EQ(
        edited(row.before, [](const File& file, const Value& root) { return value_edit(file, root["a"], "new"); }),
        row.after)
        << row.before;
  }
}

TEST(Edits, AKeyKeepsItsQuotes) {
  const auto rename = [](const File& file, const Value& root) { return key_edit(file, root["a"], "b"); };
  EXPECT_EQ(edited("a: 1\n", rename), "b: 1\n");
  EXPECT_EQ(edited("{\"a\": 1}\n", rename), "{\"b\": 1}\n");
}

TEST(Edits, ARemovedEntryLeavesItsComments) {
  const struct {
    const char* before;
    const char* after;
  } rows[] = {
      {"a: 1\nx: 2\nb: 3\n", "a: 1\nb: 3\n"},
      {"s:\n  # above\n  x: 2  # beside\n  b: 3\n", "s:\n  # above\n  # beside\n  b: 3\n"},
      {"s:\n  x: # first\n    2 # second\n  b: 3\n", "s:\n  # first\n  # second\n  b: 3\n"},
      {"a: 1\nx: '#2'  # kept\n", "a: 1\n# kept\n"},
      {"a: 1\nx: 2 # kept", "a: 1\n# kept"},
      {"a: 1\nx: 2", "a: 1\n"},
      {"a: 1\r\nx: 2  # kept\r\nb: 3\r\n", "a: 1\r\n# kept\r\nb: 3\r\n"},
      {"- x: 1\n  b: 2\n", "none"},
      {"x: 1\n", "none"},
      {"a: 1\nx: {y: 1}\n", "none"},
  };
  for (const auto& row : rows) {
    const auto remove = [](const File& file, const Value& root) {
      const Value& mapping = root.is_sequence() ? root[0] : root["s"].is_mapping() ? root["s"] : root;
      return removal_edit(file, mapping, mapping["x"]);
    };
    EXPECT_EQ(edited(row.before, remove), row.after) << row.before;
  }
}

TEST(Edits, ARemovedEntryOfAFlowMappingTakesItsCommaAlong) {
  const struct {
    const char* before;
    const char* after;
  } rows[] = {
      {"{x: 1, b: 2}\n", "{b: 2}\n"},
      {"{a: 1, x: 2, b: 3}\n", "{a: 1, b: 3}\n"},
      {"{a: 1, x: 2}\n", "{a: 1}\n"},
      {"{\n  \"a\": 1,\n  \"x\": \"y\",\n  \"b\": 2\n}\n", "{\n  \"a\": 1,\n  \"b\": 2\n}\n"},
      {"{\n  \"a\": 1,\n  \"x\": \"y\"\n}\n", "{\n  \"a\": 1\n}\n"},
      {"{\n  x: 1,  # why\n  b: 2\n}\n", "none"},
      {"{x: 1}\n", "none"},
  };
  for (const auto& row : rows) {
    const auto remove = [](const File& file, const Value& root) { return removal_edit(file, root, root["x"]); };
    EXPECT_EQ(edited(row.before, remove), row.after) << row.before;
  }
}

TEST(Edits, AnAddedEntryHasTheStyleOfItsNeighbour) {
  const struct {
    const char* before;
    const char* after;
  } rows[] = {
      {"a: 1  # why\nb: 2\n", "a: 1  # why\nnew: 5\nb: 2\n"}, {"a: 1", "a: 1\nnew: 5"},
      {"a: 1\r\nb: 2\r\n", "a: 1\r\nnew: 5\r\nb: 2\r\n"},     {"- a: 1\n  b: 2\n", "- a: 1\n  new: 5\n  b: 2\n"},
      {"{a: 1, b: 2}\n", "{a: 1, new: 5, b: 2}\n"},           {"{\"a\": 1}\n", "{\"a\": 1, \"new\": 5}\n"},
  };
  const auto add_text = [](const File& file, const Value& root) {
    return insertion_edit(file, root, root["a"], "new", "1h");
  };
  EXPECT_EQ(edited("a: 1\n", add_text), "a: 1\nnew: 1h\n");
  EXPECT_EQ(edited("{\"a\": 1}\n", add_text), "{\"a\": 1, \"new\": \"1h\"}\n");
  for (const auto& row : rows) {
    const auto add = [](const File& file, const Value& root) {
      const Value& mapping = root.is_sequence() ? root[0] : root;
      return insertion_edit(file, mapping, mapping["a"], "new", "5");
    };
    EXPECT_EQ(edited(row.before, add), row.after) << row.before;
  }
}

TEST(Edits, UnquotingRemovesTheQuotesOfANumber) {
  const auto unquote = [](const File&, const Value& root) { return unquoting_edit(root["a"], "7"); };
  EXPECT_EQ(edited("a: \"7\"  # why\n", unquote), "a: 7  # why\n");
  EXPECT_EQ(edited("a: |\n  7\n", unquote), "none");
}

}  // namespace
}  // namespace capstan::lint::edits_test
