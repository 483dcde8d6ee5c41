#include "model/plan.h"

#include "base/hash.h"

namespace capstan::model {
namespace {

class Hasher {
 public:
  explicit Hasher(StateHash& hash) : hash_(hash) {}

  void operator()(const SetReplicas& action) {
    ids(action.service);
    number(action.replicas);
    for (GangId gang : action.drain) ids(gang);
  }
  void operator()(const BindPods& action) {
    ids(action.gang);
    for (const BindPods::Binding& binding : action.bindings) ids(binding.pod, binding.node);
  }
  void operator()(const LaunchNodes& action) {
    ids(action.pool, action.offering, action.domain, action.gang);
    number(action.count);
    number(action.hold.count());
  }
  void operator()(const ReleaseGroup& action) { ids(action.group); }
  void operator()(const TerminateNode& action) { ids(action.node); }
  void operator()(const EvictPod& action) { ids(action.pod); }
  void operator()(const ConvertReplica& action) { ids(action.gang, action.from, action.to); }

  void operator()(const Reason& reason) {
    number(static_cast<std::int64_t>(reason.code));
    for (std::int64_t n : reason.numbers) number(n);
  }

 private:
  void number(std::int64_t n) { hash_.add(static_cast<std::uint64_t>(n)); }
  template <typename... Ids>
  void ids(Ids... id) {
    (hash_.add(id.value), ...);
  }
  StateHash& hash_;
};

}  // namespace

std::uint64_t plan_hash(const Plan& plan) {
  StateHash hash;
  Hasher add(hash);
  for (const Action& action : plan.actions) {
    hash.add(action.effect.index());
    std::visit(add, action.effect);
    add(action.why);
  }
  for (const Plan::NoAction& kept : plan.no_actions) {
    hash.add(static_cast<std::uint64_t>(kept.subject));
    hash.add(kept.id);
    add(kept.why);
  }
  return hash.value();
}

}  // namespace capstan::model
