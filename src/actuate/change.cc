#include "actuate/change.h"

#include <utility>

#include "base/assert.h"

namespace capstan::actuate {

using model::ReasonCode;

model::Reason refused_by_server(const kube::ApiError& error) { return {ReasonCode::api_refused, {error.code}}; }

Change::Change(Ref ref, Decide decide, std::string subresource)
    : ref_(std::move(ref)), decide_(std::move(decide)), subresource_(std::move(subresource)) {}

Change Change::by_writing(Ref ref, kube::ApiRequest write, Decide decide) {
  Change change(std::move(ref), std::move(decide));
  change.write(std::move(write));
  return change;
}

Change Change::by_creating(kube::ObjectRef object, kube::ApiRequest create, Decide decide) {
  Change change({std::move(object), {}}, std::move(decide));
  change.create_ = create;
  change.write(std::move(create));
  return change;
}

kube::ApiRequest Change::request() const {
  CAPSTAN_ASSERT(in_progress());
  return write_ ? *write_ : kube::get(ref_.object, subresource_);
}

void Change::answered(const kube::Outcome& outcome) {
  CAPSTAN_ASSERT(in_progress());
  if (write_) {
    wrote(outcome);
  } else {
    read(outcome);
  }
}

void Change::wrote(const kube::Outcome& outcome) {
  write_.reset();
  const bool is_lost = outcome.kind == kube::Outcome::Kind::unknown;
  lost_in_a_row_ = is_lost ? lost_in_a_row_ + 1 : 0;
  kube::JsonDocument document;
  if (outcome.ok()) {
    in_doubt_ = false;
    if (const Result<kube::Json> object = document.parse(outcome.body)) see(*object);
    end(State::settled, {});
  } else if (is_lost) {
    in_doubt_ = true;
  } else if (outcome.error.not_found() && !create_) {
    end(State::gone, {ReasonCode::object_gone, {}});
  } else if (outcome.error.code != 409) {
    error_ = outcome.error;
    end(State::refused, refused_by_server(outcome.error));
  }
}

void Change::read(const kube::Outcome& outcome) {
  kube::JsonDocument document;
  const Result<kube::Json> object = outcome.ok() ? document.parse(outcome.body) : Result<kube::Json>(kube::Json());
  if (!outcome.ok() && !outcome.error.not_found()) {
    error_ = outcome.error;
    return end(State::refused, refused_by_server(outcome.error));
  }
  // An earlier write without an answer may still reach the server, even after the write that follows this read. Only
  // one of the two can take effect: each requires a resource version, a UID or a free name, and the first of them to
  // take effect makes this requirement false.
  in_doubt_ = false;
  const std::string_view uid = object ? (*object)["metadata"]["uid"].text() : std::string_view();
  const bool exists = outcome.ok() && (ref_.uid.empty() || ref_.uid == uid);
  if (!exists) return create_ ? write(*create_) : end(State::gone, {ReasonCode::object_gone, {}});
  see(object ? *object : kube::Json());
  Decision decision = decide_(object ? *object : kube::Json());
  if (decision.kind == Decision::Kind::write) return write(std::move(decision.write));
  end(decision.kind == Decision::Kind::settled ? State::settled : State::refused, decision.why);
}

EffectResult Change::verdict() const {
  CAPSTAN_ASSERT(!in_progress());
  if (state_ == State::settled) return EffectResult::applied();
  return in_doubt_ ? EffectResult::unknown(why_) : EffectResult::refused(why_);
}

void Change::see(kube::Json object) {
  const kube::Json metadata = object["metadata"];
  if (metadata["resourceVersion"].exists()) version_ = metadata["resourceVersion"].text();
  if (ref_.uid.empty()) ref_.uid = metadata["uid"].text();
}

void Change::write(kube::ApiRequest request) {
  if (writes_ == kWritesMax) {
    if (lost_in_a_row_ > 0) return end(State::refused, {ReasonCode::writes_lost, {lost_in_a_row_}});
    return end(State::refused, {ReasonCode::object_contended, {writes_}});
  }
  ++writes_;
  write_ = std::move(request);
}

void Change::end(State state, model::Reason why) {
  state_ = state;
  why_ = why;
}

}  // namespace capstan::actuate
