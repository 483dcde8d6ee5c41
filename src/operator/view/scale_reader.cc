#include "operator/view/scale_reader.h"

#include <algorithm>
#include <utility>

#include "kube/request.h"
#include "kube/selector_text.h"

namespace capstan::op {
namespace {

std::string group_of(const std::string& api_version) {
  const std::size_t slash = api_version.find('/');
  return slash == api_version.npos ? std::string() : api_version.substr(0, slash);
}

/// Adds the fields of a Scale to its object. Returns the error; empty if there is none.
std::string add_scale(kube::Json scale, kube::Workload& workload) {
  workload.replicas = scale["spec"]["replicas"].integer();  // absent means zero: the API leaves zeros out
  workload.current_replicas = scale["status"]["replicas"].integer();
  const std::string_view text = scale["status"]["selector"].text();
  std::optional<kube::Selector> selector = kube::read_selector_text(text);
  if (!selector)
    return "its /scale has status.selector \"" + std::string(text) + "\", expected one that finds its pods";
  workload.selector = *std::move(selector);
  return {};
}

}  // namespace

ScaleReader::~ScaleReader() {
  for (const auto& [key, followed] : followed_) client_.cancel(followed->call);
}

void ScaleReader::follow(const kube::StoreSnapshot<InferenceScaler>& scalers, const kube::ServedResources& served) {
  for (const auto& [key, followed] : followed_) followed->is_followed = false;
  scalers.for_each([&](kube::RowId, const InferenceScaler& scaler) {
    for (const InferenceScaler::Role& role : scaler.roles) {
      for (const InferenceScaler::Variant& variant : role.variants) {
        const kube::TargetRef& target = variant.target;
        if (is_watched(target.kind)) continue;
        const kube::ServedResource* kind = served.find_kind(group_of(target.api_version), target.kind);
        if (kind == nullptr || !kind->has_subresource("scale")) continue;
        std::unique_ptr<FollowedTarget>& followed = followed_[target_key(target.kind, scaler.meta.ns, target.name)];
        if (!followed && followed_.size() > kMaxTargets) continue;
        if (!followed) followed = std::make_unique<FollowedTarget>();
        followed->object = {kind->resource, scaler.meta.ns, target.name};
        followed->target_kind = target.kind;
        followed->is_followed = true;
      }
    }
  });
  const std::size_t before = followed_.size();
  std::erase_if(followed_, [&](auto& entry) {
    const bool gone = !entry.second || !entry.second->is_followed;
    if (gone && entry.second && entry.second->call != 0) {
      client_.cancel(entry.second->call);
      --in_flight_;
    }
    return gone;
  });
  if (followed_.size() != before) publish();
}

void ScaleReader::run_once() {
  for (const auto& [key, followed] : followed_) {
    if (in_flight_ >= kMaxInFlight) return;
    if (followed->call == 0 && followed->due <= clock_()) ask(*followed);
  }
}

Instant ScaleReader::next_deadline() const {
  Instant next = Instant::never();
  if (in_flight_ >= kMaxInFlight) return next;
  for (const auto& [key, followed] : followed_) {
    if (followed->call == 0) next = std::min(next, followed->due);
  }
  return next;
}

bool ScaleReader::synced() const {
  return std::ranges::all_of(followed_, [](const auto& entry) { return entry.second->read; });
}

void ScaleReader::ask(FollowedTarget& followed) {
  ++in_flight_;
  followed.call = client_.call(kube::get(followed.object), [this, &followed](const kube::Outcome& outcome) {
    if (!outcome.ok()) return failed(followed, outcome.error);
    const Result<kube::Json> object = document_.parse(outcome.body);
    if (!object) return end(followed, std::nullopt, object.error().text());
    kube::Workload workload = kube::read_workload(*object);
    workload.kind = followed.target_kind;
    ask_scale(followed, std::move(workload));
  });
}

void ScaleReader::ask_scale(FollowedTarget& followed, kube::Workload workload) {
  followed.call = client_.call(
      kube::get(followed.object, "scale"), [this, &followed, workload](const kube::Outcome& outcome) mutable {
        if (!outcome.ok()) return failed(followed, outcome.error);
        const Result<kube::Json> scale = document_.parse(outcome.body);
        if (!scale) return end(followed, std::nullopt, scale.error().text());
        std::string trouble = add_scale(*scale, workload);
        const bool well = trouble.empty();
        end(followed, well ? std::optional(std::move(workload)) : std::nullopt, std::move(trouble));
      });
}

/// Keeps the last answer after an error that may be temporary. Drops it after 403 or 404.
void ScaleReader::failed(FollowedTarget& followed, const kube::ApiError& error) {
  const bool refused = error.code == 403 || error.not_found();
  if (!refused && followed.read) return end(followed, std::move(followed.found), std::move(followed.trouble));
  end(followed, std::nullopt, error.not_found() ? std::string() : error.text());
}

void ScaleReader::end(FollowedTarget& followed, std::optional<kube::Workload> found, std::string trouble) {
  followed.call = 0;
  --in_flight_;
  followed.due = clock_() + kPeriod;
  followed.read = true;
  followed.found = std::move(found);
  followed.trouble = std::move(trouble);
  publish();
}

void ScaleReader::publish() {
  ScaledTargets now;
  for (const auto& [key, followed] : followed_) {
    if (!followed) continue;
    if (followed->found) now.targets.push_back({followed->object.resource, *followed->found});
    if (!followed->trouble.empty()) now.troubles[key] = followed->trouble;
  }
  if (now == *targets_) return;
  targets_ = std::make_shared<const ScaledTargets>(std::move(now));
  ++version_;
}

}  // namespace capstan::op
