#include "model/reason_help.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <string>

#include "base/file.h"
#include "model/reason_sentence.h"
#include "model/reason_template.h"

namespace capstan::model::reason_help_test {
namespace {

constexpr const char* kGolden = CAPSTAN_SOURCE_DIR "/src/model/reason_texts.golden";

/// Returns the position after the last number that a sentence uses.
std::size_t numbers_used(std::string_view text) {
  std::size_t used = 0;
  for (std::size_t at = text.find('{'); at != text.npos; at = text.find('{', at + 1)) {
    const std::string_view field = text.substr(at + 1, text.find('}', at) - at - 1);
    used = std::max(used, static_cast<std::size_t>(field[0] - '0') + 1);
    if (field.find(":price/") != field.npos) used = std::max(used, static_cast<std::size_t>(field.back() - '0') + 1);
  }
  return used;
}

TEST(ReasonHelp, EveryCodeHasAllPartsInWholeSentences) {
  for (std::size_t i = 0; i < reason_count(); ++i) {
    const ReasonHelp& row = help(static_cast<ReasonCode>(i));
    SCOPED_TRACE(name(row.code));
    for (const std::string_view part : {row.meaning, row.causes, row.remedy}) {
      ASSERT_GT(part.size(), 7u);
      EXPECT_EQ(part.back(), '.') << part;
    }
    EXPECT_EQ(number_meanings(row).size(), numbers_used(sentence_template(row.code))) << "a name for each number";
  }
}

TEST(ReasonHelp, ACodeIsFoundByItsNameAndByTheReasonOfItsEvent) {
  EXPECT_EQ(find_reason("queue_limit"), ReasonCode::queue_limit);
  EXPECT_EQ(find_reason("QueueLimit"), ReasonCode::queue_limit);
  EXPECT_EQ(find_reason("queue-limit"), std::nullopt);
  EXPECT_EQ(find_reason(""), std::nullopt);
}

/// Returns every code with its example numbers and its sentence, one paragraph each.
std::string all_sentences() {
  std::string out =
      "Every reason with typical numbers and its sentence, written by reason_help_test under CAPSTAN_WRITE_GOLDEN=1.\n";
  for (std::size_t i = 0; i < reason_count(); ++i) {
    const ReasonHelp& row = help(static_cast<ReasonCode>(i));
    out += "\n" + std::string(name(row.code)) + " [";
    for (std::size_t n = 0; n < number_meanings(row).size(); ++n)
      out += (n == 0 ? "" : ", ") + std::to_string(row.example[n]);
    out += "]\n  " + sentence(Reason{row.code, row.example}, example_catalog()) + "\n";
  }
  return out;
}

TEST(ReasonHelp, SentencesAreThoseOfTheGoldenFile) {
  if (std::getenv("CAPSTAN_WRITE_GOLDEN") != nullptr) std::ofstream(kGolden, std::ios::binary) << all_sentences();
  const auto golden = read_file(kGolden, 1u << 20);
  ASSERT_TRUE(golden.has_value());
  EXPECT_EQ(all_sentences(), *golden) << "CAPSTAN_WRITE_GOLDEN=1 writes the file";
}

bool has_long_number_of_seconds(std::string_view text) {
  std::size_t digits = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const bool is_digit = text[at] >= '0' && text[at] <= '9';
    const std::string_view rest = text.substr(at);
    const bool is_unit = rest.starts_with(" s") && (rest.size() == 2 || rest[2] < 'a' || rest[2] > 'z');
    if (!is_digit && digits >= 4 && is_unit) return true;
    digits = is_digit ? digits + 1 : 0;
  }
  return false;
}

bool has_word(std::string_view text, std::string_view word) {
  const auto in_word = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-'; };
  for (std::size_t at = text.find(word); at != text.npos; at = text.find(word, at + 1)) {
    const bool begins = at == 0 || !in_word(text[at - 1]);
    const std::size_t end = at + word.size();
    if (begins && (end == text.size() || !in_word(text[end]))) return true;
  }
  return false;
}

TEST(ReasonHelp, NoSentenceHasRawUnits) {
  EXPECT_TRUE(has_long_number_of_seconds("for 5400 s"));
  EXPECT_FALSE(has_long_number_of_seconds("for 90 s of 5400 signals"));
  EXPECT_TRUE(has_word("30 ns later", "ns") && !has_word("30 tokens", "ns"));
  for (std::size_t i = 0; i < reason_count(); ++i) {
    const ReasonHelp& row = help(static_cast<ReasonCode>(i));
    const std::string text = sentence(Reason{row.code, row.example}, example_catalog());
    for (const std::string_view unit : {"thousandths",
                                        "per"
                                        " mille",
                                        "permille",
                                        "micro"
                                        "-USD",
                                        "micro_usd", "millionths", "milli", "ns", "us", "ppm", "in a thousand"}) {
      EXPECT_FALSE(has_word(text, unit)) << unit << ": " << text;
    }
    EXPECT_FALSE(has_long_number_of_seconds(text)) << text;
    // Large numbers must be readable in every sentence, too.
    const std::string large = sentence(Reason{row.code, {7200, 7200, 7200, 7200, 0, -1}}, example_catalog());
    EXPECT_FALSE(has_long_number_of_seconds(large)) << large;
  }
}

}  // namespace
}  // namespace capstan::model::reason_help_test
