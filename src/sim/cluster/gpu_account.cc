#include "sim/cluster/gpu_account.h"

#include "base/known_row.h"

namespace capstan::sim {
namespace {

constexpr std::int64_t kNsPerHour = 3'600'000'000'000;

GpuTime gpu_time(MilliGpu gpus, Duration time) { return static_cast<GpuTime>(gpus.count) * time.count(); }

/// Splits the price of an offering's GPU time into parts. The price of all time so far is rounded down, and each part
/// costs the difference, so that the parts add up exactly.
class PriceSplit {
 public:
  explicit PriceSplit(const model::Offering& offering)
      : per_hour_(static_cast<GpuTime>(whole_gpus(offering.gpus).count) * kNsPerHour),
        price_(offering.price_per_hour.count) {}

  MicroUsd next(GpuTime time) {
    const GpuTime before = price();
    so_far_ += time;
    return {static_cast<std::int64_t>(price() - before)};
  }

 private:
  GpuTime price() const { return so_far_ * price_ / per_hour_; }

  GpuTime per_hour_;
  std::int64_t price_;
  GpuTime so_far_ = 0;
};

}  // namespace

std::string_view name(GpuState state) {
  constexpr std::array<std::string_view, kGpuStates> kNames = {"launching", "unallocated", "held",     "starting",
                                                               "busy",      "idle",        "sleeping", "draining"};
  return known_row(kNames, static_cast<std::size_t>(state));
}

GpuAccount::GpuAccount(const model::Catalog& catalog, std::size_t job_classes)
    : catalog_(catalog),
      users_(catalog.services.size() + job_classes + 1),
      rows_(catalog.offerings.size(), Row{.by_user = std::vector<std::array<GpuTime, kGpuStates>>(users_),
                                          .by_pool = std::vector<GpuTime>(catalog.pools.size() + 1)}) {}

void GpuAccount::add(model::OfferingId offering, std::optional<std::size_t> user, GpuState state, MilliGpu gpus,
                     Duration time) {
  Row& row = known_row(rows_, offering.value);
  known_row(row.by_state, static_cast<std::size_t>(state)) += gpu_time(gpus, time);
  std::array<GpuTime, kGpuStates>& of_user = user ? known_row(row.by_user, *user) : row.by_user.back();
  known_row(of_user, static_cast<std::size_t>(state)) += gpu_time(gpus, time);
}

void GpuAccount::pay(model::OfferingId offering, model::PoolId pool, MilliGpu gpus, Duration time) {
  std::vector<GpuTime>& by_pool = known_row(rows_, offering.value).by_pool;
  (pool.valid() ? known_row(by_pool, pool.value) : by_pool.back()) += gpu_time(gpus, time);
}

void GpuAccount::add_empty_node(model::OfferingId offering, MilliGpu gpus, Duration time) {
  known_row(rows_, offering.value).empty_nodes += gpu_time(gpus, time);
}

void GpuAccount::charge(ClusterMeter& total) const {
  total.by_user.resize(users_);
  for (std::uint32_t o = 0; o < rows_.size(); ++o) {
    const model::Offering& offering = catalog_.offerings[o];
    PriceSplit by_state(offering);
    for (std::size_t s = 0; s < kGpuStates; ++s) {
      total.gpu_time[s] += rows_[o].by_state[s];
      total.cost[s] += by_state.next(rows_[o].by_state[s]);
    }
    total.empty_nodes.gpu_time += rows_[o].empty_nodes;
    total.empty_nodes.cost += PriceSplit(offering).next(rows_[o].empty_nodes);
    PriceSplit by_user(offering);
    for (std::size_t u = 0; u < users_; ++u) {
      const std::array<GpuTime, kGpuStates>& parts = rows_[o].by_user[u];
      GpuUse& use = total.by_user[u];
      GpuTime sum = 0;
      for (std::size_t s = 0; s < kGpuStates; ++s) {
        sum += parts[s];
        use.by_state[s] += parts[s];
      }
      use.gpu_time += sum;
      use.cost += by_user.next(sum);
    }
    PriceSplit by_pool(offering);
    for (std::uint32_t p = 0; p < rows_[o].by_pool.size(); ++p) {
      const GpuTime paid = rows_[o].by_pool[p];
      if (paid == 0) continue;
      const MicroUsd cost = by_pool.next(paid);
      const bool in_pool = p < catalog_.pools.size();
      total.spending.push_back({model::OfferingId{o}, in_pool ? model::PoolId{p} : model::PoolId{}, paid, cost});
      total.paid_gpu_time += paid;
      total.total_cost += cost;
    }
  }
}

}  // namespace capstan::sim
