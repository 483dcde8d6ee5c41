#include "emulator/type_error.h"

#include <gtest/gtest.h>
#include <simdjson.h>

namespace capstan::emulator {
namespace {

TEST(TypeError, NamesTheFieldItsTypeAndTheExpectedType) {
  simdjson::dom::parser parser;
  const std::string text = "[null, true, 1, 18446744073709551615, 1.5, \"a\", [], {}]";
  std::string names;
  for (const simdjson::dom::element& value : parser.parse(text).get_array()) {
    names += std::string(type_name(value)) + "; ";
  }
  EXPECT_EQ(names,
            "null; a boolean; an integer; an integer; a number with a fraction; a string; an array; an object; ");
  const ApiError error = type_error("seed", "a string", "an integer");
  EXPECT_EQ(error.status, 400);
  EXPECT_EQ(error.message, "seed is a string, expected an integer");
  EXPECT_EQ(error.parameter, "seed");
}

}  // namespace
}  // namespace capstan::emulator
