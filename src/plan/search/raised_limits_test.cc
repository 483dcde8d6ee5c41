#include "plan/search/raised_limits.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "plan/result/figures.h"
#include "plan/testing/sample_specs.h"

namespace capstan::plan {
namespace {

SearchResult raised_search(const PlanSpec& spec) {
  auto found = search_fleets(spec, {});
  if (!found) {
    ADD_FAILURE() << found.error().text();
    return {};
  }
  return std::move(*found);
}

std::int64_t number_after(const std::string& text, const std::string& key) {
  const std::size_t at = text.find(key);
  return at == text.npos ? -1 : std::atoll(text.c_str() + at + key.size());
}

TEST(RaisedLimits, TheNamedLimitHoldsTheSlo) {
  PlanSpec spec = sample_specs::small_spec();
  spec.services[0].load.requests_per_s = 20;
  spec.limits.gpus = 2;
  const SearchResult missed = raised_search(spec);
  ASSERT_FALSE(missed.services.at(0).holds_slo);
  ASSERT_TRUE(missed.services[0].raised);
  const RaisedLimits& raised = *missed.services[0].raised;
  const std::int64_t gpus = number_after(raised.bounds, "limits.gpus: ");
  ASSERT_GT(gpus, 2) << raised.bounds;
  EXPECT_EQ(raised.bounds.find("max_replicas"), raised.bounds.npos);
  EXPECT_GE(raised.attainment_ppm, 990'000);
  EXPECT_EQ(raised.seeds, 5);
  spec.limits.gpus = gpus;
  const SearchResult held = raised_search(spec);
  EXPECT_TRUE(held.services.at(0).holds_slo) << raised.bounds;
  EXPECT_FALSE(held.services[0].raised);
}

TEST(RaisedLimits, MaxReplicasIsALimitToo) {
  PlanSpec spec = sample_specs::small_spec();
  spec.services[0].load.requests_per_s = 20;
  spec.services[0].max_replicas = 2;
  const ServicePlan missed = raised_search(spec).services.at(0);
  ASSERT_TRUE(missed.raised);
  EXPECT_EQ(missed.bounded_by, std::vector<std::string>{"services.small.max_replicas: 2"});
  EXPECT_GT(number_after(missed.raised->bounds, "max_replicas: "), 2) << missed.raised->bounds;
}

TEST(RaisedLimits, TheLimitOfATenantIsALimitToo) {
  PlanSpec spec = sample_specs::small_spec();
  spec.services[0].load.requests_per_s = 20;
  spec.tenants = {{.name = "product", .gpu_quota = 1, .gpu_limit = 2}};
  spec.services[0].tenant = "product";
  const ServicePlan missed = raised_search(spec).services.at(0);
  ASSERT_FALSE(missed.holds_slo);
  ASSERT_TRUE(missed.raised);
  const std::int64_t gpus = number_after(missed.raised->bounds, "tenants.product.gpu_limit: ");
  ASSERT_GT(gpus, 2) << missed.raised->bounds;
  spec.tenants[0].gpu_limit = gpus;
  EXPECT_TRUE(raised_search(spec).services.at(0).holds_slo) << missed.raised->bounds;
}

TEST(RaisedLimits, TheLimitIsForAllServices) {
  PlanSpec spec = sample_specs::small_spec();
  spec.services.push_back(spec.services[0]);
  spec.services[1].name = "large";
  spec.services[1].load.requests_per_s = 12;
  spec.limits.gpus = 4;
  const SearchResult result = raised_search(spec);
  ASSERT_EQ(result.services.size(), 2u);
  std::int64_t missed = 0;
  for (const ServicePlan& service : result.services) {
    ASSERT_EQ(service.raised.has_value(), !service.holds_slo) << service.service;
    if (service.holds_slo) continue;
    ++missed;
    EXPECT_GT(number_after(service.raised->bounds, "limits.gpus: "), 4) << service.raised->bounds;
    EXPECT_GE(service.raised->attainment_ppm, 990'000);
    EXPECT_NE(service.raised->fleet.find("without the other services"), std::string::npos) << service.raised->fleet;
  }
  EXPECT_GT(missed, 0);
}

TEST(RaisedLimits, SaysThatNoLimitHelps) {
  PlanSpec spec = sample_specs::small_spec();
  spec.limits.gpus = 2;
  spec.services[0].load.requests_per_s = 20;
  spec.services[0].goodput_per_s = 500;  // more than the load
  const ServicePlan missed = raised_search(spec).services.at(0);
  ASSERT_TRUE(missed.raised);
  EXPECT_EQ(missed.raised->bounds, "");
}

}  // namespace
}  // namespace capstan::plan
