#include "actuate/gang_bind.h"

#include <utility>

#include "base/assert.h"
#include "kube/json.h"
#include "kube/meta.h"

namespace capstan::actuate {

using kube::Json;
using model::ReasonCode;
using Decision = Change::Decision;

namespace {

/// Pause before a failed rollback of a pod is tried again.
constexpr Duration kRollbackPause = std::chrono::seconds(1);

std::string intent_patch(std::string_view uid, const std::string& value) {
  using kube::json_quote;
  return R"({"metadata":{"uid":)" + json_quote(uid) + R"(,"annotations":{)" + json_quote(kBindIntent) + ":" + value +
         "}}}";
}

Decision refuse_as_gone() { return Decision::refuse({ReasonCode::object_gone, {}}); }

}  // namespace

GangBind::GangBind(std::string transaction, std::vector<Binding> bindings)
    : transaction_(std::move(transaction)), bindings_(std::move(bindings)) {
  CAPSTAN_ASSERT(!bindings_.empty());
}

GangBind::GangBind(UnfinishedBind found) : GangBind(std::move(found.transaction), std::move(found.bindings)) {
  begun_ = true;
  begin(found.complete ? Phase::bind : Phase::unbind);
}

void GangBind::begin(Phase phase) {
  phase_ = phase;
  at_ = 0;
  change_.reset();
}

Step GangBind::next(Instant now) {
  if (!begun_at_) begun_at_ = now;
  if (change_ && !change_->in_progress()) finished(now);
  const bool late = now - *begun_at_ >= kGrace && (phase_ == Phase::annotate || phase_ == Phase::bind);
  if (late && at_ < bindings_.size() && !(change_ && change_->in_doubt())) begin(Phase::unbind);
  if (phase_ == Phase::unbind && at_ == bindings_.size()) begin(Phase::remove_annotations);
  if (at_ == bindings_.size()) {
    if (phase_ == Phase::bind) return Step::done(EffectResult::applied());
    const model::Reason why{ReasonCode::gang_taken_back, {bound_, static_cast<std::int64_t>(bindings_.size())}};
    return Step::done(tries_ < kRollbackTries ? EffectResult::refused(why) : EffectResult::unknown(why));
  }
  if (now < not_before_) return Step::wait(not_before_);
  if (!change_) change_.emplace(change_for(bindings_[at_]));
  return Step::send(change_->request(), begun_);
}

void GangBind::answered(const kube::Outcome& outcome, Instant) {
  change_->answered(outcome);
  if (change_->in_doubt() || change_->state() == Change::State::settled) begun_ = true;
}

/// Continues with the next pod or the next phase.
void GangBind::finished(Instant now) {
  const bool settled = change_->state() == Change::State::settled;
  const bool refused = change_->state() == Change::State::refused;
  if (settled) bindings_[at_].version = change_->version();
  change_.reset();
  switch (phase_) {
    case Phase::annotate:
      if (!settled) {
        begin(begun_ ? Phase::unbind : Phase::remove_annotations);
        if (!begun_) at_ = bindings_.size();  // there is no annotation to remove
      } else if (++at_ == bindings_.size()) {
        begin(Phase::bind);
      }
      return;
    case Phase::bind:
      if (!settled) return begin(Phase::unbind);
      ++bound_;
      ++at_;
      return;
    case Phase::unbind:
    case Phase::remove_annotations:
      if (refused && ++tries_ < kRollbackTries) {
        not_before_ = now + kRollbackPause;
      } else {
        ++at_;
      }
      return;
  }
  CAPSTAN_ASSERT(false);
}

/// Returns the change to make to a pod in this phase.
Change GangBind::change_for(const Binding& binding) const {
  const auto decide_pod = [this, binding](Json pod) { return decide(binding, pod); };
  const bool writes = (phase_ == Phase::annotate || phase_ == Phase::bind) && !binding.version.empty();
  if (!writes) return {binding.pod, decide_pod};
  const BindIntent intent{transaction_, binding.node, static_cast<std::int64_t>(bindings_.size())};
  const std::string value = kube::json_quote(write_bind_intent(intent));
  kube::ApiRequest write =
      phase_ == Phase::annotate
          ? kube::merge_patch(binding.pod.object, intent_patch(binding.pod.uid, value), binding.version).value()
          : kube::bind_pod(binding.pod.object, {.uid = binding.pod.uid, .resource_version = binding.version},
                           binding.node);
  return Change::by_writing(binding.pod, std::move(write), decide_pod);
}

Decision GangBind::decide(const Binding& binding, Json pod) const {
  const std::string_view node = pod["spec"]["nodeName"].text();
  const std::string_view version = pod["metadata"]["resourceVersion"].text();
  const std::optional<BindIntent> annotated = read_bind_intent(pod["metadata"]["annotations"][kBindIntent].text());
  const bool is_annotated = annotated && annotated->transaction == transaction_;
  const bool is_terminating = kube::is_terminating(pod);
  const Ref& ref = binding.pod;
  const auto patch = [&](const std::string& value) {
    return Decision::to_write(kube::merge_patch(ref.object, intent_patch(ref.uid, value), version).value());
  };
  switch (phase_) {
    case Phase::annotate: {
      if (is_terminating || !node.empty()) return refuse_as_gone();
      if (is_annotated) return Decision::settled();
      const BindIntent intent{transaction_, binding.node, static_cast<std::int64_t>(bindings_.size())};
      return patch(kube::json_quote(write_bind_intent(intent)));
    }
    case Phase::bind:
      if (is_terminating || !is_annotated) return refuse_as_gone();
      if (node == binding.node) return Decision::settled();
      if (!node.empty()) return refuse_as_gone();
      return Decision::to_write(
          kube::bind_pod(ref.object, {.uid = ref.uid, .resource_version = std::string(version)}, binding.node));
    case Phase::unbind:
    case Phase::remove_annotations:
      if (is_terminating || !is_annotated) return Decision::settled();
      if (!node.empty()) {
        return Decision::to_write(kube::remove(ref.object, {.uid = ref.uid, .resource_version = std::string(version)}));
      }
      return phase_ == Phase::unbind ? Decision::settled() : patch("null");
  }
  CAPSTAN_ASSERT(false);
}

}  // namespace capstan::actuate
