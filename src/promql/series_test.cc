#include "promql/series.h"

#include <gtest/gtest.h>

namespace capstan::promql {
namespace {

TEST(PromqlSeries, LabelsAreSortedAndNeverEmpty) {
  Labels labels;
  set(labels, "pod", "a");
  set(labels, kMetricName, "running");
  set(labels, "model", "m");
  set(labels, "pod", "b");
  EXPECT_EQ(text(labels), "running{model=\"m\",pod=\"b\"}");
  set(labels, "model", "");
  EXPECT_EQ(get(labels, "model"), "");
  EXPECT_EQ(labels.size(), 2u);
}

TEST(PromqlSeries, StoreKeepsOrderAndDeletesOldPoints) {
  SeriesStore store;
  const Labels a = {{"__name__", "x"}, {"pod", "a"}}, b = {{"__name__", "x"}, {"pod", "b"}};
  store.append(b, {10, 1});
  store.append(a, {10, 2});
  store.append(a, {10, 3});
  store.append(a, {5, 4});
  store.append(a, {20, 5});
  ASSERT_EQ(store.select("x", {}).size(), 2u);
  EXPECT_EQ(store.select("x", {})[0]->labels, b) << "in the order of arrival";
  EXPECT_EQ(store.select("x", {})[1]->points, (std::vector<Point>{{10, 2}, {20, 5}}))
      << "no point twice, none out of order";
  store.forget_before(15);
  EXPECT_EQ(store.size(), 1u);
  std::vector<LabelTest> tests;
  tests.emplace_back(LabelMatcher{.name = "pod", .op = LabelMatcher::Op::not_equal, .value = "b", .span = {}});
  EXPECT_EQ(store.select("", tests).size(), 1u);
}

}  // namespace
}  // namespace capstan::promql
