#include "signals/number.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <bit>
#include <charconv>
#include <cstdlib>
#include <string>

namespace capstan::signals {
namespace {

double simple(const std::string& text) {
  double value = -1;
  const char* const end = text.data() + text.size();
  return scan_simple_number(text.data(), end, value) == end ? value : -1;
}

TEST(Number, ReadsWhatPrometheusReads) {
  const struct {
    const char* text;
    double value;
  } good[] = {{"0", 0},
              {"1.0", 1},
              {"5.", 5},
              {".5", .5},
              {"+1", 1},
              {"-2.5e+3", -2500},
              {"1E2", 100},
              {"1e-999", 0},
              {"0e999", 0},
              {"1e0000000000000000000002", 100},
              {"0.1", 0.1},
              {"1e23", 1e23},
              {"9007199254740993", 9007199254740992.0},
              {"1e-99999999999999999999", 0}};
  for (const auto& row : good) EXPECT_EQ(parse_number(row.text), row.value) << row.text;
  for (const char* text : {"inf", "+Inf", "INFINITY"}) EXPECT_EQ(parse_number(text), HUGE_VAL) << text;
  EXPECT_EQ(parse_number("-Inf"), -HUGE_VAL);
  for (const char* text : {"NaN", "nan"}) EXPECT_NE(parse_number(text), parse_number(text)) << text;
}

TEST(Number, RefusesTextsThatPrometheusRefuses) {
  for (const char* text : {"",      "+",    ".",    "e5",     "1e",  "1e+", "0x10",  "0x1p3",  "1_000",
                           "1,5",   "+nan", "-nan", "nan(1)", "++1", "+-1", "1e999", "-1e999", "1e99999999999999999999",
                           "infin", " 1",   "1 "}) {
    EXPECT_EQ(parse_number(text), std::nullopt) << '"' << text << '"';
  }
}

TEST(Number, IsSimpleIfOneOperationIsExact) {
  for (const char* text : {"0", "12.0", "0.4271356783919598", "1.23456789e+08", "1e22", "9007199254740992"}) {
    EXPECT_EQ(simple(text), std::strtod(text, nullptr)) << text;
  }
  for (const char* text : {"1e23", "9007199254740993", "+1", "Inf", "1e-23", "12345678901234567890", ".", "1e"}) {
    EXPECT_EQ(simple(text), -1) << text;
  }
}

RC_GTEST_PROP(Number, ReadsEveryDoubleBack, (std::uint64_t bits)) {
  const double value = std::bit_cast<double>(bits);
  RC_PRE(value == value && value - value == 0);
  char text[64];
  const char* const end = std::to_chars(text, text + sizeof text, value).ptr;
  RC_ASSERT(parse_number({text, static_cast<std::size_t>(end - text)}) == value);
}

RC_GTEST_PROP(Number, SimpleNumbersAreExact, (std::uint64_t digits)) {
  const int exponent = *rc::gen::inRange(-25, 25);
  const std::uint64_t shift = *rc::gen::inRange(0, 63);
  const std::string text = std::to_string(digits >> shift) + "e" + std::to_string(exponent);
  double value = 0;
  if (scan_simple_number(text.data(), text.data() + text.size(), value) != nullptr) {
    RC_ASSERT(value == std::strtod(text.c_str(), nullptr));
  }
}

}  // namespace
}  // namespace capstan::signals
