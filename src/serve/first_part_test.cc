#include "serve/first_part.h"

#include <gtest/gtest.h>

namespace capstan::serve {
namespace {

TEST(FirstPart, HasTheFiguresWithoutWhatHappenedOverTime) {
  EXPECT_EQ(first_part(R"({"format_version": 1, "policies": [{"policy": "a", "by_minute": {"ready": [1, 2]},
      "fleet": {"nodes": []}, "moments": [{"at_ns": 1}], "services": [{"name": "s", "by_minute": {}}]}],
      "constant_fleet": {"fleet": "4 replicas", "result": {"timeline": [3]}}, "services": [{}], "verdict": "a wins"})"),
            R"({"format_version":1,"policies":[{"policy":"a","services":[{"name":"s"}],"moments":[]}],)"
            R"("constant_fleet":{"fleet":"4 replicas","result":{}},"verdict":"a wins"})");
}

TEST(FirstPart, OfOtherDataIsNull) {
  for (const char* text :
       {"", "{}", "[]", "null", R"({"policies": [)", R"({"recording": "a.rec", "policies": [{}]})"}) {
    EXPECT_EQ(first_part(text), "null") << text;
  }
}

TEST(FirstPart, SurvivesForeignPolicies) {
  EXPECT_EQ(first_part(R"({"policies": 3})"), "null");
  EXPECT_EQ(first_part(R"({"policies": [4]})"), "null");
}

}  // namespace
}  // namespace capstan::serve
