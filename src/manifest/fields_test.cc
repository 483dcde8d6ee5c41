#include "manifest/fields.h"

#include <gtest/gtest.h>

#include "manifest/scalars.h"

namespace capstan::manifest {
namespace {

using namespace std::chrono_literals;

enum class Color : std::uint8_t { red, green };

struct Read {
  std::int32_t count = 1;
  Duration wait = 5s;
  std::int64_t share_ppm = 500'000;
  Bytes size{};
  MicroUsd price{};
  Color color = Color::red;
  std::string name = "none";
};

/// Reads a mapping with one key of each kind.
Result<Read> read(std::string_view text) {
  Result<Node> node = parse(text, "s.yaml");
  if (!node) return std::unexpected(node.error());
  ErrorList errors;
  Read out;
  Fields fields(*node, "thing", errors);
  fields.integer("count", out.count, 1, 10);
  fields.duration("wait", out.wait, 0s, 1h);
  fields.share_ppm("share", out.share_ppm, 0, 1'000'000);
  fields.bytes("size", out.size, {}, {1ll << 50});
  fields.usd("price", out.price, {}, {1'000'000'000});
  fields.choice<Color>("color", out.color, {{"red", Color::red}, {"green", Color::green}});
  fields.text("name", out.name);
  fields.finish();
  if (!errors.ok()) return std::unexpected(*errors.error);
  return out;
}

TEST(Fields, ReadsEveryKindAndKeepsDefaults) {
  const Result<Read> all =
      read("{count: 3, wait: 1m30s, share: 80%, size: 1.5GiB, price: 12.29, color: green, name: x}");
  ASSERT_TRUE(all) << all.error().text();
  EXPECT_EQ(all->count, 3);
  EXPECT_EQ(all->wait, 90s);
  EXPECT_EQ(all->share_ppm, 800'000);
  EXPECT_EQ(all->size.count, 1'610'612'736);
  EXPECT_EQ(all->price.count, 12'290'000);
  EXPECT_EQ(all->color, Color::green);
  const Result<Read> few = read("{count: ~}");
  ASSERT_TRUE(few);
  EXPECT_EQ(few->count, 1);
  EXPECT_EQ(few->wait, 5s);
}

TEST(Fields, ErrorsSayWhatWasFoundAndWhatWasExpected) {
  const struct {
    const char* text;
    const char* error;
  } rows[] = {
      {"count: three", "s.yaml:1:8: thing.count: found \"three\", expected a whole number"},
      {"count: 11", "s.yaml:1:8: thing.count: found \"11\", expected 1 to 10"},
      {"count: [1]", "s.yaml:1:8: thing.count: found a list, expected a whole number"},
      {"wait: 90",
       "s.yaml:1:7: thing.wait: found \"90\", expected a duration with its unit, such as 250ms, 90s or 1h30m"},
      {"wait: 2h", "s.yaml:1:7: thing.wait: found \"2h\", expected 0s to 1h"},
      {"share: 150%", "s.yaml:1:8: thing.share: found \"150%\", expected 0% to 100%"},
      {"color: gren", "s.yaml:1:8: thing.color: found \"gren\", expected red or green (did you mean green?)"},
      {"conut: 3",
       "s.yaml:1:1: thing: found key \"conut\", expected one of color, count, name, price, share, size or wait "
       "(did you mean count?)"},
      {"- 1", "s.yaml:1:1: thing is a list, expected a mapping"},
  };
  for (const auto& row : rows) {
    const Result<Read> result = read(row.text);
    EXPECT_EQ(result ? "no error" : result.error().text(), row.error);
  }
}

/// Returns all errors of a mapping that contains a mapping and a list.
std::string all_errors(std::string_view text, std::size_t max_errors = ErrorList::kMaxErrors) {
  const Result<Node> node = parse(text, "s.yaml");
  ErrorList errors{.max_errors = max_errors};
  enum class Kind : std::uint8_t { plain, fancy } kind = Kind::plain;
  std::int32_t low = 1, high = 9;
  Fields fields(*node, "thing", errors);
  fields.take_required("name");
  fields.choice<Kind>("kind", kind, {{"plain", Kind::plain}, {"fancy", Kind::fancy}});
  fields.keys_depend_on("kind");
  if (kind == Kind::fancy) fields.take("color");
  fields.non_empty_list("parts");
  fields.check("range", [&](const Node& range, ErrorList& v) {
    Fields ends(range, "thing.range", v);
    ends.integer("low", low, 0, 10);
    ends.integer("high", high, 0, 10);
    ends.finish();
    if (ends.ok() && low > high) v.fail(range.place, "thing.range: low is above high");
  });
  fields.finish();
  return errors.ok() ? "" : errors.all().text();
}

TEST(Fields, ReadingGoesOnAfterAnError) {
  const struct {
    const char* teaches;
    const char* text;
    const char* errors;
  } rows[] = {
      {"nothing wrong", "{name: a, kind: fancy, color: red, parts: [1], range: {low: 2, high: 3}}", ""},
      {"all errors, in the order of the file", "range: {low: x, high: 11}\nparts: []\nnmae: a",
       "s.yaml:1:1: thing lacks \"name\"\n"
       "s.yaml:1:14: thing.range.low: found \"x\", expected a whole number\n"
       "s.yaml:1:23: thing.range.high: found \"11\", expected 0 to 10\n"
       "s.yaml:2:8: thing.parts: found an empty list, expected at least one element\n"
       "s.yaml:3:1: thing: found key \"nmae\", expected one of kind, name, parts or range (did you mean name?)"},
      {"valid values are checked against each other", "{name: a, parts: {}, range: {low: 4, high: 3}}",
       "s.yaml:1:18: thing.parts: found a mapping, expected a list\n"
       "s.yaml:1:29: thing.range: low is above high"},
      {"a wrong value is not checked against another", "{name: a, range: {low: x, high: 0}}",
       "s.yaml:1:24: thing.range.low: found \"x\", expected a whole number"},
      {"under a wrong kind the valid keys are not known", "{name: a, kind: fanci, color: red}",
       "s.yaml:1:17: thing.kind: found \"fanci\", expected plain or fancy (did you mean fancy?)"},
      {"under a valid kind they are known", "{name: a, kind: plain, color: red}",
       "s.yaml:1:24: thing under kind plain: found key \"color\", expected one of kind, name, parts or range"},
      {"a name with a further part is meant before a similar one", "{name: a, parts_of_all: 1}",
       "s.yaml:1:11: thing: found key \"parts_of_all\", expected one of kind, name, parts or range (did you mean "
       "parts?)"},
      {"a value that is not a mapping has only one error", "[1]", "s.yaml:1:1: thing is a list, expected a mapping"},
  };
  for (const auto& row : rows) EXPECT_EQ(all_errors(row.text), row.errors) << row.teaches;
}

TEST(Fields, ReadingStopsAfterTheMaximumOfErrors) {
  EXPECT_EQ(all_errors("{range: {low: x, high: y}, parts: []}", 2),
            "s.yaml:1:1: thing lacks \"name\"\n"
            "s.yaml:1:35: thing.parts: found an empty list, expected at least one element");
}

TEST(Scalars, ReadsExactValuesAndRefusesOthers) {
  EXPECT_EQ(read_duration("0.1s"), 100ms);
  EXPECT_EQ(read_duration("1h 30m"), 90min);
  EXPECT_EQ(read_duration("0.5ns"), std::nullopt);
  EXPECT_EQ(read_duration("-1s"), std::nullopt);
  EXPECT_EQ(read_duration("999999999d"), std::nullopt);
  EXPECT_EQ(read_duration("5"), std::nullopt);
  EXPECT_EQ(read_duration("s"), std::nullopt);
  EXPECT_EQ(read_integer("1_000"), 1000);
  EXPECT_EQ(read_integer("1__0"), std::nullopt);
  EXPECT_EQ(read_integer("0x10"), std::nullopt);
  EXPECT_EQ(read_integer("99999999999999999999"), std::nullopt);
  EXPECT_EQ(read_number("nan"), std::nullopt);
  EXPECT_EQ(read_number("1e-3"), 1e-3);
  EXPECT_EQ(read_share_ppm("99.95%"), 999'500);
  EXPECT_EQ(read_share_ppm("0.99"), 990'000);
  EXPECT_EQ(read_bytes_per_second("10Gbit/s"), 1'250'000'000);
  EXPECT_EQ(read_bytes_per_second("2GB/s"), 2'000'000'000);
  EXPECT_EQ(read_usd("$3.5")->count, 3'500'000);
  EXPECT_EQ(duration_text(90min), "1h30m");
  EXPECT_EQ(duration_text(1500us), "1ms500us");
  EXPECT_EQ(usd_text({12'290'000}), "12.290000");
}

}  // namespace
}  // namespace capstan::manifest
