#include "signals/prometheus_api.h"

#include <gtest/gtest.h>

#include <sstream>

namespace capstan::signals {
namespace {

std::string text_of(const Result<ApiAnswer>& answer) {
  if (!answer) return "! " + answer.error().text();
  std::ostringstream text;
  for (const ApiSeries& series : answer->series) {
    for (const auto& [name, value] : series.labels) text << name << '=' << value << ' ';
    for (const ApiPoint& point : series.points) text << point.value << '@' << point.unix_ms << ' ';
    text << "| ";
  }
  for (const std::string& warning : answer->warnings) text << "warning: " << warning;
  return text.str() + answer->text;
}

TEST(PrometheusApi, ReadsAnswers) {
  const struct {
    const char* json;
    const char* read;
  } rows[] = {
      {R"({"status":"success","data":{"resultType":"vector","result":[
          {"metric":{"__name__":"up","pod":"a"},"value":[1700000000.123,"1"]},
          {"metric":{},"value":[1700000000,"NaN"]}]}})",
       "__name__=up pod=a 1@1700000000123 | nan@1700000000000 | "},
      {R"({"status":"success","data":{"resultType":"matrix","result":[
          {"metric":{"pod":"a"},"values":[[1,"1"],[2.5,"+Inf"]]}]}})",
       "pod=a 1@1000 inf@2500 | "},
      {R"({"status":"success","data":{"resultType":"vector","result":[]}})", ""},
      {R"({"status":"success","data":{"resultType":"scalar","result":[3,"4.5"]}})", "4.5@3000 | "},
      {R"({"status":"success","data":{"resultType":"string","result":[3,"text"]}})", "text"},
      {R"({"status":"success","warnings":["store s3 is unreachable"],"infos":["metric might not be a counter"],
          "data":{"resultType":"vector","result":[]}})",
       "warning: store s3 is unreachable"},
  };
  for (const auto& row : rows) EXPECT_EQ(text_of(parse_api_answer(row.json, "p")), row.read) << row.json;
}

TEST(PrometheusApi, NamesTheErrorInAnAnswer) {
  const struct {
    const char* json;
    const char* read;
  } rows[] = {
      {R"({"status":"error","errorType":"bad_data","error":"1:5: parse error: unclosed left parenthesis"})",
       "! p: bad_data: 1:5: parse error: unclosed left parenthesis"},
      {R"({"status":"error"})", "! p: error: no error message"},
      {"<html>", "! p: not JSON ("},
      {"", "! p: not JSON ("},
      {"[]", "! p: no field status, expected an answer of the Prometheus API"},
      {R"({"status":"success"})", "! p: data.resultType or data.result is missing, expected both"},
      {R"({"status":"success","data":{"resultType":"streams","result":[]}})", "! p: data.resultType is 'streams'"},
      {R"({"status":"success","data":{"resultType":"vector","result":{}}})", "! p: data.result is not a list"},
      {R"({"status":"success","data":{"resultType":"vector","result":[{"metric":{}}]}})", "! p: data.result[0] is not"},
      {R"({"status":"success","data":{"resultType":"vector","result":[{"metric":{},"value":[1,2]}]}})",
       "! p: data.result[0] is not a series"},
      {R"({"status":"success","data":{"resultType":"matrix","result":[{"metric":{},"values":[[-699700000000,"1"]]}]}})",
       "! p: data.result[0] is not a series"},
      {R"({"status":"success","data":{"resultType":"matrix","result":[{"metric":{},"values":[[2,"1"],[1,"1"]]}]}})",
       "! p: data.result[0] is not a series"},
      {R"({"status":"success","data":{"resultType":"vector","result":[{"metric":{"a":1},"value":[1,"2"]}]}})",
       "! p: data.result[0] is not a series"},
      {R"({"status":"success","data":{"resultType":"scalar","result":[]}})", "! p: data.result is not a scalar"},
  };
  for (const auto& row : rows) {
    EXPECT_TRUE(text_of(parse_api_answer(row.json, "p")).starts_with(row.read))
        << text_of(parse_api_answer(row.json, "p"));
  }
}

TEST(PrometheusApi, EscapesMatchersAndForms) {
  EXPECT_EQ(promql({"pod", Matcher::Op::matches, "a\"\\d\n"}), "pod=~\"a\\\"\\\\d\\n\"");
  EXPECT_EQ(promql({"pod", Matcher::Op::not_equal, "b"}), "pod!=\"b\"");
  EXPECT_EQ(form_encoded({{"query", "up{a=\"b c\"} + 1"}, {"time", "1.500"}}),
            "query=up%7Ba%3D%22b%20c%22%7D%20%2B%201&time=1.500");
}

}  // namespace
}  // namespace capstan::signals
