#include "sim/cluster/flow_network.h"

#include <algorithm>

#include "base/assert.h"

namespace capstan::sim {
namespace {

constexpr __int128 kScale = 1'000'000'000;  // nanoseconds per second

}  // namespace

LinkId FlowNetwork::add_link(std::int64_t bytes_per_s) {
  CAPSTAN_ASSERT(bytes_per_s > 0);
  capacity_.push_back(bytes_per_s);
  return {static_cast<std::uint32_t>(capacity_.size() - 1)};
}

FlowId FlowNetwork::start(Bytes size, std::span<const LinkId> links) {
  CAPSTAN_ASSERT(size.count >= 0 && !links.empty());
  const FlowId id{started_++};
  flows_[id] = {size.count * kScale, 0, {links.begin(), links.end()}};
  changed_ = true;
  return id;
}

void FlowNetwork::cancel(FlowId flow) {
  if (flows_.erase(flow) > 0) changed_ = true;
}

/// Computes the rates by progressive filling (Bertsekas and Gallager, Data Networks, 6.5.2): the links with the
/// smallest fair share fix the rates of all flows that cross them. The other flows share the remaining bandwidth.
void FlowNetwork::share() {
  changed_ = false;
  load_.resize(capacity_.size());
  std::vector<LinkId> links;
  std::vector<Flow*> open;
  for (auto& [id, flow] : flows_) {
    open.push_back(&flow);
    for (LinkId link : flow.links) {
      Load& load = load_[link.value];
      if (load.flows++ > 0) continue;
      load.room = capacity_[link.value];
      links.push_back(link);
    }
  }
  while (!open.empty()) {
    std::int64_t least = INT64_MAX;
    for (LinkId link : links) {
      const Load& load = load_[link.value];
      if (load.flows > 0) least = std::min(least, load.room / load.flows);
    }
    const auto tight = [&](LinkId link) {
      const Load& load = load_[link.value];
      return load.room / load.flows == least;
    };
    const auto first_fixed = std::stable_partition(open.begin(), open.end(), [&](const Flow* flow) {
      return std::none_of(flow->links.begin(), flow->links.end(), tight);
    });
    for (auto it = first_fixed; it != open.end(); ++it) {
      (*it)->rate = std::max<std::int64_t>(least, 1);
      for (LinkId link : (*it)->links) {
        load_[link.value].room -= least;
        --load_[link.value].flows;
      }
    }
    open.erase(first_fixed, open.end());
  }
  for (LinkId link : links) load_[link.value] = {};
  next_ = Instant::never();
  for (const auto& [id, flow] : flows_) {
    const __int128 wait = flow.left <= 0 ? 0 : (flow.left + flow.rate - 1) / flow.rate;
    const __int128 done = std::min<__int128>(now_.since_start.count() + wait, INT64_MAX - 1);
    next_ = std::min(next_, Instant{Duration(static_cast<std::int64_t>(done))});
  }
}

Instant FlowNetwork::next_done() {
  if (changed_) share();
  return next_;
}

void FlowNetwork::advance(Instant to, std::vector<FlowId>& done) {
  CAPSTAN_ASSERT(to >= now_ && to <= next_done());
  const std::int64_t elapsed = (to - now_).count();
  now_ = to;
  if (flows_.empty() || (elapsed == 0 && to < next_)) return;
  for (auto it = flows_.begin(); it != flows_.end();) {
    it->second.left -= static_cast<__int128>(it->second.rate) * elapsed;
    if (it->second.left <= 0) {
      done.push_back(it->first);
      it = flows_.erase(it);
      changed_ = true;
    } else {
      ++it;
    }
  }
}

std::int64_t FlowNetwork::rate(FlowId flow) {
  if (changed_) share();
  const auto it = flows_.find(flow);
  return it == flows_.end() ? 0 : it->second.rate;
}

}  // namespace capstan::sim
