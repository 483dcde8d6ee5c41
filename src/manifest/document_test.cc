#include "manifest/document.h"

#include <gtest/gtest.h>

#include <string>

namespace capstan::manifest {
namespace {

std::string_view bytes(std::string_view text, const Span& span) { return text.substr(span.begin, span.size()); }

TEST(Document, ValuesKnowTheirSpanInTheText) {
  const std::string_view text =
      "a: 1\n"
      "b:\n"
      "  - \"x y\"  # a comment\n"
      "  - {c: 'd', e: [f]}\n"
      "g: |\n"
      "  one\n"
      "  two\n"
      "h: last\n";
  const Documents documents = Documents::parse(text);
  ASSERT_EQ(documents.all().size(), 1u);
  const Value& root = documents.all()[0].root;
  EXPECT_EQ(bytes(text, root["a"].key_span), "a");
  EXPECT_EQ(bytes(text, root["a"].span), "1");
  EXPECT_EQ(bytes(text, root["b"][0].span), "\"x y\"");
  EXPECT_EQ(root["b"][0].text, "x y");
  EXPECT_EQ(bytes(text, root["b"][1].span), "{c: 'd', e: [f]}");
  EXPECT_EQ(bytes(text, root["b"][1]["c"].span), "'d'");
  EXPECT_EQ(bytes(text, root["g"].span), "|\n  one\n  two");
  EXPECT_EQ(root["g"].text, "one\ntwo\n");
  EXPECT_EQ(bytes(text, root["h"].span), "last");
  EXPECT_EQ(bytes(text, root["b"].span), "- \"x y\"  # a comment\n  - {c: 'd', e: [f]}");
}

TEST(Document, ChildrenOfAMissingValueAreMissing) {
  const Documents documents = Documents::parse("a: {b: null}\n");
  const Value& root = documents.all()[0].root;
  EXPECT_FALSE(root["x"]["y"][3]["z"]);
  EXPECT_FALSE(root["a"]["b"]);
  EXPECT_TRUE(root["a"].has("b"));
}

TEST(Document, ABrokenDocumentDoesNotAffectTheOthers) {
  const std::string_view text = "a: 1\n---\nb: [1, 2\n---\nc: 3\n";
  const Documents documents = Documents::parse(text);
  ASSERT_EQ(documents.all().size(), 3u);
  EXPECT_TRUE(documents.all()[0].root["a"].is("1"));
  ASSERT_EQ(documents.all()[1].faults.size(), 1u);
  EXPECT_EQ(documents.all()[1].root.form, Form::missing);
  EXPECT_TRUE(documents.all()[2].root["c"].is("3"));
  EXPECT_EQ(bytes(text, documents.all()[2].root["c"].span), "3");
}

TEST(Document, AliasesAndMergeKeysAreResolved) {
  const Documents documents =
      Documents::parse("base: &b {x: 1, y: 2}\nuse: *b\nmore:\n  <<: *b\n  y: 3\nlist: {<<: [*b, {z: 4}]}\n");
  const Value& root = documents.all()[0].root;
  EXPECT_TRUE(root["use"]["x"].is("1"));
  EXPECT_TRUE(root["use"].shared);
  EXPECT_TRUE(root["more"]["x"].is("1"));
  EXPECT_TRUE(root["more"]["x"].shared);
  EXPECT_TRUE(root["more"]["y"].is("3"));
  EXPECT_TRUE(root["list"]["z"].is("4"));
}

TEST(Document, AnAliasBombIsStoppedAtTheLimit) {
  std::string text = "a: &a [x, x, x, x, x, x, x, x, x, x]\n";
  for (char c = 'b'; c <= 'k'; ++c) {
    const std::string from(1, static_cast<char>(c - 1));
    text += std::string(1, c) + ": &" + c + " [";
    for (int i = 0; i < 10; ++i) text += (i > 0 ? ", *" : "*") + from;
    text += "]\n";
  }
  const Documents documents = Documents::parse(text);
  ASSERT_EQ(documents.all()[0].faults.size(), 1u);
  EXPECT_NE(documents.all()[0].faults[0].message.find("has more than 1000000 values after aliases are expanded"),
            std::string::npos);
}

TEST(Document, ErrorsPointAtForbiddenBytes) {
  struct Row {
    std::string text;
    std::uint32_t at;
  };
  const Row rows[] = {{std::string("a: b\0c\n", 7), 4}, {"a: \x01\n", 3},
                      {"aaaaaaaaaaaa: \xff\n", 14},     {"a: \xc3\x28", 3},
                      {"a: \xed\xa0\x80\n", 3},         {"a: ok\n---\nb: \x7f\n", 13}};
  for (const Row& row : rows) {
    const Documents documents = Documents::parse(row.text);
    ASSERT_EQ(documents.all().back().faults.size(), 1u) << row.text;
    EXPECT_EQ(documents.all().back().faults[0].span.begin, row.at) << row.text;
  }
}

TEST(Document, DepthIsBounded) {
  const std::string deep = std::string(10'000, '[') + std::string(10'000, ']');
  const Documents documents = Documents::parse(deep);
  ASSERT_EQ(documents.all()[0].faults.size(), 1u);
  EXPECT_NE(documents.all()[0].faults[0].message.find("nested more than 128 deep"), std::string::npos);
}

TEST(Document, DuplicateKeysAreReported) {
  const std::string_view text = "a: 1\nb: 2\na: 3\n";
  const Documents documents = Documents::parse(text);
  ASSERT_EQ(documents.all()[0].faults.size(), 1u);
  EXPECT_EQ(documents.all()[0].faults[0].kind, Fault::Kind::duplicate_key);
  EXPECT_EQ(documents.all()[0].faults[0].span.begin, 10u);
}

TEST(Document, ADuplicateKeyWithTheSameValueLosesNothing) {
  const auto kind_of = [](std::string_view text) { return Documents::parse(text).all()[0].faults.at(0).kind; };
  EXPECT_EQ(kind_of("a: 1\na: \"1\"\n"), Fault::Kind::equal_duplicate);
  EXPECT_EQ(kind_of("a: {b: [1, 2]}\na:\n  b: [1, 2]\n"), Fault::Kind::equal_duplicate);
  EXPECT_EQ(kind_of("a: {b: [1, 2]}\na: {b: [1, 3]}\n"), Fault::Kind::duplicate_key);
  EXPECT_EQ(kind_of("a: {b: 1}\na: {c: 1}\n"), Fault::Kind::duplicate_key);
  EXPECT_EQ(kind_of("a: ~\na: \"~\"\n"), Fault::Kind::duplicate_key);
}

TEST(Document, AcceptsAByteOrderMarkAndCarriageReturns) {
  const std::string_view text =
      "\xef\xbb\xbf"
      "a: b\r\nc: \"d\"\r\n---\r\ne: f\r\n";
  const Documents documents = Documents::parse(text);
  ASSERT_EQ(documents.all().size(), 2u);
  EXPECT_EQ(bytes(text, documents.all()[0].root["a"].span), "b");
  EXPECT_EQ(bytes(text, documents.all()[0].root["c"].span), "\"d\"");
  EXPECT_EQ(bytes(text, documents.all()[1].root["e"].span), "f");
}

TEST(Document, LinesAndColumnsCountCharacters) {
  const std::string_view text = "one\nü x\n";
  const LineTable lines(text);
  EXPECT_EQ(lines.at(0).line, 1u);
  EXPECT_EQ(lines.at(7).line, 2u);
  EXPECT_EQ(lines.at(7).column, 3u);
  EXPECT_EQ(lines.line(2), "ü x");
}

TEST(Document, AnEmptyTextHasNoDocuments) {
  for (const char* text : {"", "\n", "# only a comment\n", "---\n", "---\n---\n# x\n"}) {
    EXPECT_TRUE(Documents::parse(text).all().empty()) << text;
  }
}

}  // namespace
}  // namespace capstan::manifest
