#include "plan/fleet/capacity.h"

#include "plan/sections/test_services.h"

namespace capstan::plan {
namespace {

TEST(ReplicaCapacity, APrefillReplicaComputesAPromptInItsTimeAlone) {
  const ServiceSpec service = testing::chat_service();
  const RoleFleet role = testing::role_fleet(service, model::Role::prefill, 4, 1, 2);
  const ReplicaCapacity capacity = replica_capacity(service, role, mean_request(service, {}));
  EXPECT_EQ(capacity.prefill_share, 1);
  // The queue of prompts leaves a part of the time idle.
  EXPECT_LT(capacity.requests_per_s, 1 / capacity.prompt_s);
  EXPECT_GT(capacity.requests_per_s, 0.3 / capacity.prompt_s);
}

TEST(ReplicaCapacity, SharesOfAMixedReplicaAreBetweenZeroAndOne) {
  const ServiceSpec service = testing::chat_service();
  const RoleFleet role = testing::role_fleet(service, model::Role::both, 4, 1, 2);
  const ReplicaCapacity capacity = replica_capacity(service, role, mean_request(service, {}));
  EXPECT_GT(capacity.prefill_share, 0);
  EXPECT_LT(capacity.prefill_share, 1);
  EXPECT_GT(capacity.kv_share, 0);
  EXPECT_LE(capacity.kv_share, 1);
}

}  // namespace
}  // namespace capstan::plan
