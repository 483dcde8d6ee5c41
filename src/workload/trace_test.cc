#include "workload/trace.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <filesystem>
#include <string>

#include "workload/testing.h"

namespace capstan::workload {
namespace {

using testing::gzipped;
using testing::read_all_requests;
using testing::zstandard;

const std::string kTraces = CAPSTAN_SOURCE_DIR "/../shared/data/traces";

std::string error_of(std::string_view bytes) {
  Result<std::unique_ptr<ByteStream>> stream = open_bytes_in_memory(bytes, "trace");
  if (!stream) return stream.error().text();
  const Result<std::unique_ptr<Source>> source = open_trace(std::move(*stream));
  if (!source) return source.error().text();
  read_all_requests(**source);
  return (*source)->error() ? (*source)->error()->text() : "no error";
}

std::vector<Request> requests_of(std::unique_ptr<Source>& owner, std::string_view bytes) {
  Result<std::unique_ptr<ByteStream>> stream = open_bytes_in_memory(bytes, "trace");
  if (!stream) return {};
  Result<std::unique_ptr<Source>> source = open_trace(std::move(*stream));
  if (!source) return {};
  owner = std::move(*source);
  return read_all_requests(*owner, 3);
}

std::string line_of(const Request& r) {
  return fmt::format("{} {} {} {} {}", r.arrival.since_start.count(), r.input_tokens, r.output_tokens, r.client,
                     r.prefix_hashes.size());
}

struct ValidTrace {
  const char* teaches;
  std::string bytes;
  std::vector<std::string> rows;  ///< arrival in ns, input, output, client, prefix blocks
};

const std::string kAzure = "TIMESTAMP,ContextTokens,GeneratedTokens\n";
const std::string kBurst = "Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type\n";
const std::string kServe = "arrival_s,client_id,input_tokens,output_tokens,reason_ratio\n";

const ValidTrace kValidTraces[] = {
    {"Azure: arrivals count from the first row, seven digits of a second",
     kAzure + "2023-11-16 18:15:46.6805900,374,44\n2023-11-16 18:15:50.9951690,396,109\n",
     {"0 374 44 0 0", "4314579000 396 109 0 0"}},
    {"Azure 2024: times with an offset from UTC",
     kAzure + "2024-05-10 01:00:00.5+01:00,1,2\n2024-05-10T00:00:01Z,3,4\n2024-05-09 20:00:02-04:00,5,6\n",
     {"0 1 2 0 0", "500000000 3 4 0 0", "1500000000 5 6 0 0"}},
    {"Azure: some or all fields are quoted",
     kAzure + "\"2023-11-16 18:15:46\",\"374\",\"44\"\n2023-11-16 18:15:47,\"396\",109\n",
     {"0 374 44 0 0", "1000000000 396 109 0 0"}},
    {"quoted fields may contain commas, and a doubled quote stands for one",
     "TIMESTAMP,\"Name, in full\",ContextTokens,GeneratedTokens\n2023-11-16 18:15:46,\"a \"\"b\"\", c\",1,2\n",
     {"0 1 2 0 0"}},
    {"quotes are not part of a client's name",
     "Timestamp,Session ID,Request tokens,Response tokens\n1,\"a\",5,6\n",
     {fmt::format("0 5 6 {} 0", static_cast<std::uint32_t>(hash_text("a")))}},
    {"time is continuous across midnight, a leap day and new year",
     kAzure + "2024-02-28 23:59:59,1,1\n2024-02-29 00:00:00,1,1\n2024-12-31 23:59:59,1,1\n2025-01-01 00:00:00,1,1\n",
     {"0 1 1 0 0", "1000000000 1 1 0 0", "26524800000000000 1 1 0 0", "26524801000000000 1 1 0 0"}},
    {"Mooncake: milliseconds and blocks of 512 tokens",
     "{\"timestamp\": 27000, \"input_length\": 1025, \"output_length\": 500, \"hash_ids\": [0, 1, 7]}\n"
     "{\"hash_ids\":[],\"output_length\":2,\"x\":{\"y\":[1,\"]\"]},\"input_length\":9,\"timestamp\":27000.5}\n",
     {"0 1025 500 0 3", "500000 9 2 0 0"}},
    {"BurstGPT: the length 0 of a failed request is read as 1",
     kBurst + "5,ChatGPT,472,18,490,Conversation log\n45.5,GPT-4,1087,0,1087,\"API, log\"\n",
     {"0 472 18 0 0", "40500000000 1087 1 0 0"}},
    {"BurstGPT with sessions: each session is a client",
     "Timestamp,Session ID,Elapsed time,Model,Request tokens,Response tokens,Total tokens,Log Type\n"
     "1,,3.2,m,5,6,11,x\n1,a,3.2,m,5.0,6,11,x\n2,a,,m,7,8,15,x\n",
     {"0 5 6 0 0", fmt::format("0 5 6 {} 0", static_cast<std::uint32_t>(hash_text("a"))),
      fmt::format("1000000000 7 8 {} 0", static_cast<std::uint32_t>(hash_text("a")))}},
    {"ServeGen: client 0 is a known client",
     kServe + "0.250,0,255,388,0.669\n0.5,23,247,576,0.780",
     {"0 255 388 1 0", "250000000 247 576 24 0"}},
    {"the column arrival_ms holds milliseconds",
     "arrival_ms,input_tokens,output_tokens\n1000,255,388\n1107.5,247,576\n",
     {"0 255 388 0 0", "107500000 247 576 0 0"}},
    {"columns may come in any order, be unknown and have quoted names",
     "\"output_tokens\",new,input_tokens,arrival_s\r\n3,\xff\xfe,2,1\r\n",
     {"0 2 3 0 0"}},
    {"a byte order mark, CR LF, empty lines and a missing last line end",
     "\xef\xbb\xbf" + kAzure + "\r\n2023-11-16 18:15:46,1,2\r\n\r\n2023-11-16 18:15:47,3,4",
     {"0 1 2 0 0", "1000000000 3 4 0 0"}},
};

TEST(Trace, ReadsEachFormatPlainGzipAndZstd) {
  for (const ValidTrace& row : kValidTraces) {
    const std::string half = row.bytes.substr(0, row.bytes.size() / 2);
    const std::string rest = row.bytes.substr(half.size());
    for (const auto& [packing, bytes] :
         {std::pair{"plain", row.bytes}, std::pair{"gzip", gzipped(row.bytes)}, std::pair{"zstd", zstandard(row.bytes)},
          std::pair{"two gzip members", gzipped(half) + gzipped(rest)},
          std::pair{"two zstd frames", zstandard(half) + zstandard(rest)}}) {
      SCOPED_TRACE(fmt::format("{}, {}", row.teaches, packing));
      std::unique_ptr<Source> source;
      std::vector<std::string> lines;
      for (const Request& request : requests_of(source, bytes)) lines.push_back(line_of(request));
      EXPECT_EQ(lines, row.rows);
      EXPECT_EQ(error_of(bytes), "no error");
    }
  }
}

struct BadTrace {
  const char* teaches;
  std::string bytes;
  const char* error;
};

const std::string kMooncakeRow = "{\"timestamp\": 5, \"input_length\": 6, \"output_length\": 7}\n";

const BadTrace kBadTraces[] = {
    {"an empty file", "", "trace: the file is empty, expected a trace"},
    {"only line ends", "\n\r\n\n", "trace: the file is empty, expected a trace"},
    {"only a header", kAzure, "trace:1:1: the trace has no rows, expected at least one"},
    {"a file of another kind", "apiVersion: v1\n",
     "trace:1:1: the first line is 'apiVersion: v1', expected the header of a known trace: "
     "'arrival_s,input_tokens,output_tokens' (the simplest; ServeGen; with arrival_ms in milliseconds), "
     "'TIMESTAMP,ContextTokens,GeneratedTokens' (Azure LLM), "
     "'Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type' (BurstGPT), "
     "or JSON objects with timestamp, input_length and output_length (Mooncake)"},
    {"a column is missing", "TIMESTAMP,ContextTokens\n",
     "trace:1:1: the header has no column 'GeneratedTokens', expected 'TIMESTAMP,ContextTokens,GeneratedTokens'"},
    {"a column twice", "arrival_s,input_tokens,output_tokens,input_tokens\n",
     "trace:1:1: the header has the column 'input_tokens' twice, expected it once"},
    {"a row with too few columns", kAzure + "2023-11-16 18:15:46.68,374\n",
     "trace:2:27: the row has 2 columns, expected 3 as in the header"},
    {"a row with too many columns", kAzure + "2023-11-16 18:15:46.68,374,3,4\n",
     "trace:2:29: the row has more columns than the header, expected 3"},
    {"negative tokens", kAzure + "2023-11-16 18:15:46.68,-374,3\n",
     "trace:2:24: ContextTokens is '-374', expected a whole number of tokens from 0 to 16777216"},
    {"no tokens", kServe + "1,2,,4,5\n",
     "trace:2:5: input_tokens is '', expected a whole number of tokens from 0 to 16777216"},
    {"too many tokens", kServe + "1,2,3,99999999999999999999,5\n",
     "trace:2:7: output_tokens is '99999999999999999999', expected a whole number of tokens from 0 to 16777216"},
    {"half a token", kServe + "1,2,3,4.5,5\n",
     "trace:2:7: output_tokens is '4.5', expected a whole number of tokens from 0 to 16777216"},
    {"bytes that are not UTF-8 instead of a number", kServe + "1,2,\xff\xfe\n,4,5\n",
     "trace:2:5: input_tokens is '\\xff\\xfe', expected a whole number of tokens from 0 to 16777216"},
    {"a client below zero", kServe + "1,-2,3,4,5\n",
     "trace:2:3: client_id is '-2', expected a whole number from 0 to 4294967294"},
    {"no time", kAzure + "yesterday,374,3\n",
     "trace:2:1: TIMESTAMP is 'yesterday', expected a time like 2023-11-16 18:15:46.6805900"},
    {"a quote that is not closed", kAzure + "2023-11-16 18:15:46,\"374,3\n",
     "trace:2:21: ContextTokens is '374,3', expected a whole number of tokens from 0 to 16777216"},
    {"quoted text that is not a number", kAzure + "2023-11-16 18:15:46,\"3 74\",3\n",
     "trace:2:21: ContextTokens is '3 74', expected a whole number of tokens from 0 to 16777216"},
    {"a day that does not exist", kAzure + "2023-02-29 00:00:00,374,3\n",
     "trace:2:1: TIMESTAMP is '2023-02-29 00:00:00', expected a time like 2023-11-16 18:15:46.6805900"},
    {"a negative time", kServe + "-1,2,3,4,5\n", "trace:2:1: arrival_s is '-1', expected seconds from 0 to 3153600000"},
    {"a negative time in milliseconds", "arrival_ms,input_tokens,output_tokens\n-1,2,3\n",
     "trace:2:1: arrival_ms is '-1', expected milliseconds from 0 to 3153600000000"},
    {"a time above the limit", kServe + "9999999999999999999999,2,3,4,5\n",
     "trace:2:1: arrival_s is '9999999999999999999999', expected seconds from 0 to 3153600000"},
    {"time goes back", kServe + "3,2,3,4,5\n2.5,2,3,4,5\n",
     "trace:3:1: the time goes back by 0.500000000 s, expected rows in order of arrival"},
    {"time goes back across an offset", kAzure + "2024-05-10 01:00:00+00:00,1,2\n2024-05-10 01:00:00+00:30,1,2\n",
     "trace:3:1: the time goes back by 1800.000000000 s, expected rows in order of arrival"},
    {"more than a year between two rows", kServe + "1,2,3,4,5\n31622402,2,3,4,5\n",
     "trace:3:1: the row comes 31622401 s after the first, expected at most 366 days (31622400 s)"},
    {"a NUL byte", kServe + std::string("1,2,3\0,4,5\n", 11), "trace:2:6: found a NUL byte, expected text in UTF-8"},
    {"UTF-16",
     std::string("\xff\xfe"
                 "a\0",
                 4),
     "trace:1:4: found a NUL byte, expected text in UTF-8"},
    {"10 MB without a line end", kServe + std::string(10'000'000, '1'),
     "trace:2:1048577: the line is longer than 1048576 bytes, expected a row of a trace"},
    {"a compressed line of 10 MB", zstandard(kServe + std::string(10'000'000, '1') + "\n"),
     "trace:2:1048577: the line is longer than 1048576 bytes, expected a row of a trace"},
    {"100 MB of NUL bytes compressed into 10 kB", zstandard(std::string(100'000'000, '\0')),
     "trace:1:1048577: the line is longer than 1048576 bytes, expected a row of a trace"},
    {"gzip that ends early", gzipped(kServe + "1,2,3,4,5\n").substr(0, 60),
     "trace: the gzip data ends early, expected a whole file"},
    {"zstd that ends early", zstandard(kServe + "1,2,3,4,5\n").substr(0, 60),
     "trace: the zstd data ends early, expected a whole file"},
    {"data that begins like gzip", "\x1f\x8bnothing of the kind",
     "trace: the gzip data is damaged, expected a valid file"},
    {"data that begins like zstd", "\x28\xb5\x2f\xfdnothing of the kind",
     "trace: the zstd data is damaged (Unsupported frame parameter), expected a valid file"},
    {"Mooncake: a key is missing", "{\"timestamp\": 5, \"input_length\": 6}\n",
     "trace:1:1: the row has no output_length, expected timestamp, input_length and output_length"},
    {"Mooncake: negative tokens", "{\"timestamp\": 5, \"input_length\": -6, \"output_length\": 7}\n",
     "trace:1:34: input_length is '-6', expected a whole number of tokens from 0 to 16777216"},
    {"Mooncake: text instead of a number", "{\"timestamp\": \"now\", \"input_length\": 6, \"output_length\": 7}\n",
     "trace:1:15: timestamp is '\"now\"', expected milliseconds from 0 to 3153600000000"},
    {"Mooncake: time goes back", kMooncakeRow + "{\"timestamp\": 4, \"input_length\": 6, \"output_length\": 7}\n",
     "trace:2:15: the time goes back by 0.001000000 s, expected rows in order of arrival"},
    {"Mooncake: a line that is not an object", kMooncakeRow + "[]\n",
     "trace:2:1: the line is not a JSON object, expected '{'"},
    {"Mooncake: a truncated line", kMooncakeRow + "{\"timestamp\": 5, \"input_length\": 6",
     "trace:2:35: the object is not closed, expected ',' or '}'"},
    {"Mooncake: two objects on a line", kMooncakeRow + "{\"timestamp\":5,\"input_length\":6,\"output_length\":7}{}\n",
     "trace:2:51: found text after the object, expected the end of the line"},
    {"Mooncake: more blocks than the prompt has",
     "{\"timestamp\": 5, \"input_length\": 512, \"output_length\": 7, \"hash_ids\": [1, 2]}\n",
     "trace:1:71: hash_ids has 2 blocks, expected at most 1 for 512 input tokens"},
    {"Mooncake: a hash that is not a number",
     "{\"timestamp\": 5, \"input_length\": 512, \"output_length\": 7, \"hash_ids\": [x]}\n",
     "trace:1:72: hash_ids is 'x', expected whole numbers from 0 to 4611686018427387903"},
    {"Mooncake: a value nested too deep", "{\"x\": " + std::string(100'000, '[') + "\n",
     "trace:1:40: the value of 'x' is not valid, expected a JSON value"},
    {"an executable file",
     std::string("\x7f"
                 "ELF\x02\x01\x01\0\0\0\0\0",
                 12),
     "trace:1:8: found a NUL byte, expected text in UTF-8"},
};

TEST(Trace, RefusesBadInputWithAOneLineMessage) {
  for (const BadTrace& row : kBadTraces) {
    SCOPED_TRACE(row.teaches);
    EXPECT_EQ(error_of(row.bytes), row.error);
  }
}

TEST(Trace, RefusesPathsThatAreNotFiles) {
  const auto absent = open_bytes("/nonexistent/trace.csv");
  ASSERT_FALSE(absent);
  EXPECT_EQ(absent.error().text(), "/nonexistent/trace.csv: cannot be opened: No such file or directory");
  const auto folder = open_bytes("/");
  ASSERT_FALSE(folder);
  EXPECT_EQ(folder.error().text(), "/: cannot be read: Is a directory");
}

TEST(Trace, ReturnsTheRowsBeforeAnError) {
  std::unique_ptr<Source> source;
  const std::string bytes = kServe + "1,2,3,4,5\n2,2,3,4,5\nx\n3,2,3,4,5\n";
  EXPECT_EQ(requests_of(source, bytes).size(), 2U);
  ASSERT_TRUE(source->error());
  EXPECT_EQ(source->error()->line, 4U);
  Request after;
  EXPECT_FALSE(source->next(after));
}

TEST(Trace, EqualIdsAreEqualBlocksExceptInCopiesWithAnotherSalt) {
  std::unique_ptr<Source> source;
  const std::string row = "{\"timestamp\": 0, \"input_length\": 1024, \"output_length\": 1, \"hash_ids\": ";
  std::vector<Request> requests = requests_of(source, row + "[4, 5]}\n" + row + "[4, 6]}\n");
  ASSERT_EQ(requests.size(), 2U);
  EXPECT_EQ(requests[0].block(0), requests[1].block(0));
  EXPECT_NE(requests[0].block(1), requests[1].block(1));
  requests[1].prefix_salt = 1;
  EXPECT_NE(requests[0].block(0), requests[1].block(0));
}

RC_GTEST_PROP(Trace, ReadsBackAnyRows, (std::vector<std::tuple<std::uint32_t, std::uint16_t, std::uint16_t>> rows)) {
  std::string bytes = kServe;
  std::vector<std::string> expected;
  std::uint64_t milli = 0;
  for (const auto& [gap, input, output] : rows) {
    milli += expected.empty() ? 0 : gap % 100'000'000;  // a hundred rows stay within a year
    bytes += fmt::format("{}.{:03},7,{},{},0\n", milli / 1000, milli % 1000, input, output);
    expected.push_back(
        fmt::format("{} {} {} 8 0", milli * 1'000'000, std::max<int>(1, input), std::max<int>(1, output)));
  }
  for (const std::string& packed : {bytes, gzipped(bytes), zstandard(bytes)}) {
    std::unique_ptr<Source> source;
    std::vector<std::string> lines;
    for (const Request& request : requests_of(source, packed)) lines.push_back(line_of(request));
    RC_ASSERT(lines == expected);
  }
}

RC_GTEST_PROP(Trace, AnyBytesGiveRequestsInOrderOrOneError, (std::string noise, std::uint8_t start_index)) {
  const std::string start[] = {"",
                               kAzure + "2023-11-16 18:15:46.68,",
                               kBurst,
                               kServe + "1,2,",
                               kMooncakeRow + "{\"",
                               "\x1f\x8b",
                               "\x28\xb5\x2f\xfd"};
  std::unique_ptr<Source> source;
  Instant last;
  const std::string bytes = start[start_index % std::size(start)] + noise;
  for (const Request& request : requests_of(source, bytes)) {
    RC_ASSERT((request.arrival >= last && request.input_tokens > 0 && request.output_tokens > 0));
    last = request.arrival;
  }
}

// Totals of the published traces; tested if the files are there.
struct PublishedTrace {
  const char* path;
  std::size_t rows;
  std::int64_t input_total, output_total;
  double last_s;
};

constexpr PublishedTrace kPublishedTraces[] = {
    {"azure-llm-2023/conv.csv", 19366, 22361870, 4088665, 3501.721937},
    {"mooncake/conversation.jsonl", 12031, 144793823, 4122048, 3536.999},
    {"servegen/deepseek-r1-day.csv.zst", 1383669, 1753930381, 2112656471, 86400},
};

TEST(Trace, ReadsThePublishedTraces) {
  if (!std::filesystem::exists(kTraces)) GTEST_SKIP() << "the published traces are not at " << kTraces;
  for (const PublishedTrace& row : kPublishedTraces) {
    SCOPED_TRACE(row.path);
    auto stream = open_bytes(kTraces + "/" + row.path);
    ASSERT_TRUE(stream);
    auto source = open_trace(std::move(*stream));
    ASSERT_TRUE(source) << source.error().text();
    const std::vector<Request> requests = read_all_requests(**source);
    ASSERT_FALSE((*source)->error()) << (*source)->error()->text();
    EXPECT_EQ(requests.size(), row.rows);
    EXPECT_NEAR((*source)->progress(), 1, 1e-9);
    std::int64_t input = 0, output = 0;
    for (const Request& request : requests) input += request.input_tokens, output += request.output_tokens;
    EXPECT_EQ(input, row.input_total);
    EXPECT_EQ(output, row.output_total);
    EXPECT_NEAR(static_cast<double>(requests.back().arrival.since_start.count()) * 1e-9, row.last_s, 1e-3);
  }
}

}  // namespace
}  // namespace capstan::workload
