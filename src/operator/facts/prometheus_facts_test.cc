#include "operator/facts/prometheus_facts.h"

#include <gtest/gtest.h>

namespace capstan::op {
namespace {

std::string answer(const std::string& rows) {
  return R"({"status":"success","data":{"resultType":"vector","result":[)" + rows + "]}}";
}

TEST(PrometheusFacts, AQueryIsPartOfTheAddress) {
  EXPECT_EQ(query_url("http://prom:9090", targets_query("ns")),
            "http://prom:9090/api/v1/query?query=up%7Bnamespace%3D%22ns%22%7D");
}

TEST(PrometheusFacts, TargetsAreCountedAndOneThatIsDownIsNamed) {
  explain::PrometheusFacts server;
  count_targets(answer(R"({"metric":{"instance":"a"},"value":[1,"1"]},{"metric":{"instance":"b"},"value":[1,"0"]})"),
                server);
  EXPECT_EQ(server.targets_up, 1);
  EXPECT_EQ(server.targets_down, 1);
  EXPECT_EQ(server.down_target, "b");
  for (const char* other : {"", "<html>", "[]", R"({"status":"error"})", R"({"status":3,"data":7})"}) {
    explain::PrometheusFacts none;
    count_targets(other, none);
    EXPECT_FALSE(none.error.empty()) << other;
  }
}

TEST(PrometheusFacts, AServerWithoutARowHasNoSeries) {
  EXPECT_EQ(query_url("http://prom", series_query(R"(job="chat")")),
            "http://prom/api/v1/query?query=count%28%7Bjob%3D%22chat%22%7D%29");
  explain::PrometheusFacts server;
  note_series(answer(""), server);
  EXPECT_FALSE(server.has_series);
  note_series("<html>", server);
  EXPECT_FALSE(server.has_series) << "an answer that cannot be read says nothing";
  note_series(answer(R"({"metric":{},"value":[1,"12"]})"), server);
  EXPECT_TRUE(server.has_series);
}

TEST(PrometheusFacts, TheQueueOfTheGatewayIsThatOfTheModel) {
  const std::string rows = R"({"metric":{"target_model_name":"llama"},"value":[1,"12"]},)"
                           R"({"metric":{"model_name":"llama","target_model_name":"llama-lora"},"value":[1,"3"]},)"
                           R"({"metric":{"target_model_name":"qwen"},"value":[1,"40"]})";
  EXPECT_EQ(gateway_waiting(answer(rows), "llama"), 15);
  EXPECT_EQ(gateway_waiting(answer(rows), ""), 55);
  EXPECT_EQ(gateway_waiting(answer(R"({"metric":{},"value":[1,"2"]})"), "llama"), 2);
}

TEST(PrometheusFacts, AMissingQueueIsNotAnEmptyOne) {
  EXPECT_EQ(gateway_waiting(answer(""), "llama"), std::nullopt);
  EXPECT_EQ(gateway_waiting(answer(R"({"metric":{},"value":[1,"NaN"]})"), "llama"), std::nullopt);
  EXPECT_EQ(gateway_waiting("no JSON", "llama"), std::nullopt);
  EXPECT_EQ(gateway_waiting(answer(R"({"metric":{"model_name":"qwen"},"value":[1,"9"]})"), "llama"), std::nullopt);
}

TEST(PrometheusFacts, TheDutyCycleBelongsToThePodThatUsesTheGpu) {
  const std::string rows = R"({"metric":{"pod":"dcgm-x","exported_pod":"chat-0"},"value":[1,"40"]},)"
                           R"({"metric":{"exported_pod":"chat-0"},"value":[1,"39.6"]},)"
                           R"({"metric":{"pod":"chat-1"},"value":[1,"91.4"]},)"
                           R"({"metric":{"pod":"chat-2"},"value":[1,"NaN"]},)"
                           R"({"metric":{"pod":"chat-3"},"value":[1,"4000"]},)"
                           R"({"metric":{},"value":[1,"5"]})";
  const std::map<std::string, std::int64_t> expected = {{"chat-0", 40}, {"chat-1", 91}};
  EXPECT_EQ(gpu_duty(answer(rows)), expected);
}

}  // namespace
}  // namespace capstan::op
