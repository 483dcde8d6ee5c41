#include "plan/cost/gpu_price.h"

#include "plan/spec/candidates.h"

namespace capstan::plan {

MicroUsd node_price(const RoleFleet& role) { return price_of(role.machine, role.base).value_or(MicroUsd{0}); }

GpuPrice gpu_price(const RoleFleet& role) {
  if (role.machine.gpus == 0) return {};
  return {MicroUsd{node_price(role).count / role.machine.gpus},
          role.machine.has_stated_price ? Evidence::stated : Evidence::catalogue};
}

}  // namespace capstan::plan
