#include "manifest/document_reader.h"

#include <gtest/gtest.h>

#include <string>

#include "manifest/document_builder.h"
#include "manifest/fyaml_reader.h"
#include "manifest/plain_reader.h"
#include "manifest/testing/same_document.h"

namespace capstan::manifest {
namespace {

/// Returns the first difference between the results of the two readers, or "".
std::string difference(std::string_view text) {
  const DocumentLimits limits;
  return testing::difference(read_documents(text, limits, FirstReader::plain),
                             read_documents(text, limits, FirstReader::libfyaml));
}

TEST(DocumentReader, BothReadersGiveTheSameDocuments) {
  const char* texts[] = {
      "a: 1\n",
      "---\na: 1",
      "--- # first\na:\n  b: c\n",
      "a:\nb:\n  - c\n  - d: e\n    f: g\n  -   h: i\n      j: k\n",
      "a:\n- b\n- c: d\n  e: f\ng: h\n",
      "- - a\n  - b\n- c\n",
      "- a: 1\n  b: 2\n-\n  c: 3\n",
      "a: 'x y'  # z\nb: \"c: d\"\n\"e f\": g\n'h': i\n",
      "a: \"x\\n\\\"y\\\\\\/\\t\"\n",
      "a: |\n  one\n   two\n\n  three\n\nb: |-\n    x\nc: |+\n  y\n\n\nd: e\n",
      "a: |\n  one\n# a comment\nb: 1\n",
      "a: |\n  last",
      "a: one\n  two\n\n  three\nb: - not a list\n",
      "a: one\n  - two # three\n  four\n",
      "a: one\n  two\n\n\n  three\nb: x\n",
      "a: {b: c, d: [e, 'f', \"g\"], h: {}, i: []}\n",
      "a: [ x y , z ]\nb: {c: -1, d: http://e:80/f}\n",
      "{\"a\": 1, \"b\": [true, null, {\"c\": \"d\"}],\n \"e\": {}}\n",
      "[\n  {\"a\":\"b\"},\n  {\"c\":[1,2]}\n]\n",
      "a: b # c\n# d\n\n  # e\nf: g\n",
      "a: -5\nb: -x\nc: $(D)\nd: ~\ne: null\nf: <none>\n",
      "a: b:c\nd: e#f\ng: http://h\n",
      "a: ü\nü: b\n",
      "a:\n  b:\n    - c\n   # odd comment\n  d: e\n",
      "\n\na: 1\n",
      "a: 1\na: 2\n",
      "a: 'it''s\n  one''\n\n  two'\nb: 'x''y'\n",
      "a:   b   \nc:    \nd: e\n",
  };
  for (const char* text : texts) EXPECT_EQ(difference(text), "") << text;
}

/// libfyaml 0.7.12 refuses an empty item at any place in a list that is not indented.
TEST(DocumentReader, ItemsOfAListMayBeEmpty) {
  for (const std::string_view text : {"a:\n-\n", "a:\n  -\n", "a:\n-\nb: c\n", "a:\n- # c\n"}) {
    const Documents documents = Documents::parse(text);
    ASSERT_TRUE(documents.all()[0].faults.empty()) << text;
    EXPECT_EQ(documents.all()[0].root["a"].count, 1u) << text;
    EXPECT_TRUE(documents.all()[0].root["a"][0].is_null()) << text;
  }
  const Documents documents = Documents::parse("a:\n-\n- b\n- c: d\n-\n  e: f\ng: h\n");
  const Value& root = documents.all()[0].root;
  EXPECT_EQ(root["a"].count, 4u);
  EXPECT_TRUE(root["a"][1].is("b"));
  EXPECT_TRUE(root["a"][3]["e"].is("f"));
  EXPECT_TRUE(root["g"].is("h"));
}

/// libfyaml 0.7.12 takes the comment for the first line of the block.
TEST(DocumentReader, ABlockScalarMayBeEmptyBeforeAComment) {
  for (const std::string_view text :
       {"a:\n  b: |\n# c\nd: 1\n", "a:\n  b: >-\n  # c\n\n  # e\n  f: 2\nd: 1\n",
        "a: {b: ''}\nc: |+ # e\n\n# f\nd: 1\n", "a: {b: ''}\ne:\n- |\n# f\n- f: >\n  # g\n  h: &x i\nd: 1\n"}) {
    const Documents documents = Documents::parse(text);
    ASSERT_TRUE(documents.all()[0].faults.empty()) << text;
    EXPECT_TRUE(documents.all()[0].root["a"]["b"].is("")) << text;
    EXPECT_TRUE(documents.all()[0].root["d"].is("1")) << text;
  }
  const Documents unchanged = Documents::parse("a: >\n  b: |\n  # c\nd: 1\n");
  EXPECT_TRUE(unchanged.all()[0].root["a"].is("b: | # c\n")) << "a block header inside a block scalar is text";
}

TEST(DocumentReader, AnErrorPointsAtATabThatIndentsALine) {
  for (const std::string_view text : {"a: 1\nb: c\n\td: 2\n", "a:\n  b: 1\n \tc: 2\n"}) {
    const Documents documents = Documents::parse(text);
    ASSERT_EQ(documents.all()[0].faults.size(), 1u) << text;
    EXPECT_EQ(documents.all()[0].faults[0].span.begin, text.find('\t')) << documents.all()[0].faults[0].message;
  }
  EXPECT_TRUE(Documents::parse("a: |\n  b\n  \tc\n").all()[0].faults.empty());
}

TEST(DocumentReader, BothReadersRefuseTheSameDocuments) {
  const char* texts[] = {
      "a: b: c\n",
      "a: 1\n b: 2\n",
      "a:\n  b: 1\n c: 2\n",
      "a: [1, 2\n",
      "a: {b: c\n",
      "a: \"x\n",
      "a: 'x' y\n",
      "- a\nb: c\n",
      "a: 1\n- b\n",
      "a: |x\n  y\n",
      "{\"a\": 1,}\n",
      "{\"a\" 1}\n",
      "a: 1\n\tb: 2\n",
      "a: *x\n",
      "a: @b\n",
      "a: `b`\n",
      "a: %b\n",
      "a: b\n  c: d\n",
      "a\n",
      "a: 1\nb\n",
      "a: x\n# c\n  y\n",
      "{a: b}: c\n",
      "[a]: b\n",
      "a: {b: c} d\n",
      "a: [b]x\n",
  };
  for (const char* text : texts) EXPECT_EQ(difference(text), "") << text;
}

bool is_plain(std::string_view text) {
  Documents documents;
  DocumentBuilder builder(text, {}, documents);
  builder.begin({0, static_cast<std::uint32_t>(text.size())});
  return read_plain(text, 0, builder) && !builder.failed();
}

TEST(DocumentReader, ThePlainReaderRefusesUncommonSyntax) {
  for (const char* text : {"a: 1\n", "---\na:\n- b: {c: [d]}\n", "a: |\n  b\n", "{\"a\": [1, {\"b\": null}]}\n",
                           "a: one\n  two\n", "args: [--model, m]\n"}) {
    EXPECT_TRUE(is_plain(text)) << text;
  }
  for (const char* text : {"a: &b c\n", "a: !t b\n", "a: >\n  b\n", "a: b\r\n", "? a\n: b\n", "a:\tb\n", "a: b: c\n"}) {
    EXPECT_FALSE(is_plain(text)) << text;
  }
}

TEST(DocumentReader, LibfyamlPassesItsEventsToTheBuilder) {
  const std::string_view text = "a: &x {b: 1}\nc: *x\n";
  Documents documents;
  DocumentBuilder builder(text, {}, documents);
  builder.begin({0, static_cast<std::uint32_t>(text.size())});
  read_with_libfyaml(text, 0, builder);
  builder.finish();
  EXPECT_TRUE(documents.all()[0].root["c"]["b"].is("1"));
}

TEST(DocumentReader, ReadsSeveralJsonObjectsInOneText) {
  const Documents lines = Documents::parse("{\"a\": \"}{\"}\n{\"a\": 2}\n\n{\"a\": [3, \"\\\"\"]}");
  ASSERT_EQ(lines.all().size(), 3u);
  EXPECT_TRUE(lines.all()[0].root["a"].is("}{"));
  EXPECT_TRUE(lines.all()[1].root["a"].is("2"));
  EXPECT_TRUE(lines.all()[2].root["a"][0].is("3"));
  for (const Document& document : lines.all()) EXPECT_TRUE(document.faults.empty());
}

TEST(DocumentReader, ABrokenJsonObjectDoesNotAffectTheOnesBeforeIt) {
  const Documents documents = Documents::parse("{\"a\": 1}\n{\"b\": }\n{\"c\": [}\n");
  ASSERT_GE(documents.all().size(), 2u);
  EXPECT_TRUE(documents.all()[0].root["a"].is("1"));
  EXPECT_FALSE(documents.all().back().faults.empty());
}

}  // namespace
}  // namespace capstan::manifest
