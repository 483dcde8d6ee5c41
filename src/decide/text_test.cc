#include "decide/text.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <vector>

#include "model/ids.h"

namespace capstan::decide {
namespace {

RC_GTEST_PROP(Text, ReadsWhatWasWritten, (std::vector<std::int64_t> numbers, std::uint32_t id, bool flag)) {
  TextWriter writer("v/1");
  writer.rows(numbers, [&](std::int64_t n) { writer.add(n); });
  writer.add(model::PodId{id});
  writer.add(std::int64_t{flag});
  writer.add(Instant::never());
  const std::string text = writer.take();

  TextReader reader(text, "v/1");
  std::vector<std::int64_t> read;
  reader.rows(read, [&](std::int64_t& n) { reader.read(n); });
  model::PodId read_id;
  bool read_flag = !flag;
  Instant read_at;
  reader.read(read_id);
  reader.read(read_flag);
  reader.read(read_at);
  RC_ASSERT(reader.finish(0).has_value());
  RC_ASSERT(read == numbers);
  RC_ASSERT(read_id.value == id);
  RC_ASSERT(read_flag == flag);
  RC_ASSERT(read_at.is_never());
}

TEST(Text, ReportsTheFirstError) {
  std::int64_t number = 5;
  TextReader other("w/1 1", "v/1");
  other.read(number);
  EXPECT_EQ(other.finish(0).error().message, "saved memory: expected a text that begins with 'v/1'");
  EXPECT_EQ(other.finish(0).error().column, 1u);
  EXPECT_EQ(number, 5) << "nothing is read after an error";

  TextReader large("v/1 4294967296", "v/1");
  model::PodId id;
  large.read(id);
  EXPECT_EQ(large.finish(0).error().message, "saved memory: found an id outside 0..4294967295");
  EXPECT_EQ(large.finish(0).error().column, 5u);

  TextReader negative("v/1 -1", "v/1");
  std::vector<std::int64_t> rows;
  negative.rows(rows, [&](std::int64_t& n) { negative.read(n); });
  EXPECT_EQ(negative.finish(0).error().message, "saved memory: found a negative number of rows");

  TextReader word("v/1 12 x3 4", "v/1");
  word.read(number);
  word.read(number);
  EXPECT_EQ(word.finish(0).error().column, 8u) << "the column of the bad word";

  TextReader more("v/1 12 34", "v/1");
  more.read(number);
  EXPECT_EQ(more.finish(0).error().message, "saved memory: found more words than expected");
  EXPECT_EQ(more.finish(0).error().column, 8u);
}

TEST(Text, ARowCountBeyondTheTextStopsAtTheEndOfTheText) {
  TextReader reader("v/1 9000000000000000000 1 2", "v/1");
  std::vector<std::int64_t> rows;
  reader.rows(rows, [&](std::int64_t& n) { reader.read(n); });
  EXPECT_FALSE(reader.finish(0).has_value());
  EXPECT_LE(rows.size(), 3u);
}

}  // namespace
}  // namespace capstan::decide
