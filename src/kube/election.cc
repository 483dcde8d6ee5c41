#include "kube/election.h"

#include <algorithm>

#include "base/assert.h"

namespace capstan::kube {

Lease read_lease(Json object) {
  const Json spec = object["spec"];
  const auto time = [&](std::string_view key) { return read_wall_time(spec[key].text()).value_or(WallTime{}); };
  return {.meta = read_meta(object),
          .holder = std::string(spec["holderIdentity"].text()),
          .duration = std::chrono::seconds(std::clamp<std::int64_t>(spec["leaseDurationSeconds"].integer(), 0, 86'400)),
          .acquired_at = time("acquireTime"),
          .renewed_at = time("renewTime"),
          .transitions = spec["leaseTransitions"].integer()};
}

Election::Election(Options options, RandomStream random) : options_(std::move(options)), random_(random) {
  CAPSTAN_ASSERT(!options_.identity.empty() && options_.renew_deadline < options_.lease_duration &&
                 options_.retry_period < options_.renew_deadline);
}

std::optional<ApiRequest> Election::poll(Instant now, WallTime wall) {
  if (released_ || in_flight_ != InFlight::none || now < next_) return std::nullopt;
  asked_at_ = now;
  if (!known_) {
    in_flight_ = InFlight::reading;
    ApiRequest request = get(options_.lease);
    request.urgent = true;
    request.timeout = request_timeout();
    return request;
  }
  if (!is_free(now)) {
    // Another process leads, so the lease is read again later. The jitter keeps candidates from asking simultaneously.
    known_ = false;
    next_ = now + options_.retry_period + Duration(random_.between(0, options_.retry_period.count() / 4));
    return std::nullopt;
  }
  in_flight_ = InFlight::writing;
  return take(wall);
}

void Election::answered(const Outcome& outcome, Instant now) {
  const InFlight request_kind = std::exchange(in_flight_, InFlight::none);
  CAPSTAN_ASSERT(request_kind != InFlight::none);
  next_ = now + options_.retry_period / 4 + Duration(random_.between(0, options_.retry_period.count() / 4));
  known_ = false;
  unanswered_ = outcome.ok() || outcome.error.code != 0 ? 0 : unanswered_ + 1;
  if (!outcome.ok() && !(request_kind == InFlight::reading && outcome.error.not_found()))
    return;  // the lease has to be read before anything else
  JsonDocument document;
  const Result<Json> object = outcome.ok() ? document.parse(outcome.body) : Result<Json>(Json());
  if (!object) return;
  known_ = true;
  exists_ = outcome.ok();
  observe(read_lease(*object), now);
  if (request_kind == InFlight::reading) {
    next_ = now;  // decide at once whether to take the lease
  } else if (seen_.holder == options_.identity && !released_) {
    deadline_ = asked_at_ + options_.renew_deadline;
    next_ = asked_at_ + options_.retry_period;
  }
}

bool Election::is_free(Instant now) const {
  if (!exists_ || seen_.holder.empty() || seen_.holder == options_.identity) return true;
  return now >= seen_at_ + std::max(seen_.duration, Duration(std::chrono::seconds(1)));
}

void Election::observe(Lease lease, Instant now) {
  const bool changed = lease.meta.uid != seen_.meta.uid || lease.meta.resource_version != seen_.meta.resource_version;
  if (changed) seen_at_ = now;
  seen_ = std::move(lease);
}

/// Returns the request that acquires or renews the lease.
ApiRequest Election::take(WallTime wall) {
  Lease lease = seen_;
  if (lease.holder != options_.identity) {
    lease.transitions += exists_ ? 1 : 0;
    lease.acquired_at = wall;
  }
  lease.holder = options_.identity;
  lease.duration = options_.lease_duration;
  lease.renewed_at = wall;
  return write(lease);
}

/// Returns the timeout of the next request. It is short at first, so that a dead connection is soon replaced. It grows
/// after each missing answer, so that a slow server has enough time.
Duration Election::request_timeout() const {
  return std::min(options_.renew_deadline * 3 / 20 * (std::int64_t{1} << std::min(unanswered_, 4)),
                  options_.renew_deadline / 2);
}

ApiRequest Election::write(const Lease& lease) const {
  const std::string spec = R"({"holderIdentity":)" + json_quote(lease.holder) + R"(,"leaseDurationSeconds":)" +
                           std::to_string(whole_seconds(lease.duration)) + R"(,"acquireTime":")" +
                           wall_time_micros(lease.acquired_at) + R"(","renewTime":")" +
                           wall_time_micros(lease.renewed_at) + R"(","leaseTransitions":)" +
                           std::to_string(lease.transitions) + "}";
  ApiRequest request;
  if (exists_) {
    request = merge_patch(options_.lease, R"({"spec":)" + spec + "}", lease.meta.resource_version).value();
  } else {
    request = create(options_.lease, R"({"apiVersion":"coordination.k8s.io/v1","kind":"Lease","metadata":{"name":)" +
                                         json_quote(options_.lease.name) + R"(},"spec":)" + spec + "}");
  }
  request.urgent = true;
  request.timeout = request_timeout();
  request.retry_when_busy = false;  // a new request at the next poll is better than a late answer to this one
  return request;
}

std::optional<ApiRequest> Election::release(WallTime wall) {
  const bool is_leader = known_ && exists_ && seen_.holder == options_.identity && !released_;
  deadline_ = {};
  released_ = true;
  if (!is_leader) return std::nullopt;  // a lease in an uncertain state expires by itself
  Lease lease = seen_;
  lease.holder.clear();
  lease.duration = std::chrono::seconds(1);
  lease.renewed_at = wall;
  return write(lease);
}

}  // namespace capstan::kube
