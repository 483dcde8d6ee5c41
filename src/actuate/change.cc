#include "actuate/change.h"

#include <utility>

#include "base/assert.h"

namespace capstan::actuate {

using model::ReasonCode;

model::Reason refused_by_server(const kube::ApiError& error) { return {ReasonCode::api_refused, {error.code}}; }

Change::Change(Ref ref, Look look, std::string subresource)
    : ref_(std::move(ref)), look_(std::move(look)), subresource_(std::move(subresource)) {}

Change Change::by_writing(Ref ref, kube::ApiRequest write, Look look) {
  Change change(std::move(ref), std::move(look));
  change.write(std::move(write));
  return change;
}

Change Change::by_creating(kube::ObjectRef object, kube::ApiRequest create, Look look) {
  Change change({std::move(object), {}}, std::move(look));
  change.create_ = create;
  change.write(std::move(create));
  return change;
}

kube::ApiRequest Change::request() const {
  CAPSTAN_ASSERT(going());
  return write_ ? *write_ : kube::get(ref_.object, subresource_);
}

void Change::answered(const kube::Outcome& outcome) {
  CAPSTAN_ASSERT(going());
  if (write_) {
    wrote(outcome);
  } else {
    read(outcome);
  }
}

void Change::wrote(const kube::Outcome& outcome) {
  write_.reset();
  lost_ = false;
  kube::JsonDocument document;
  if (outcome.ok()) {
    in_doubt_ = false;
    if (const Result<kube::Json> object = document.parse(outcome.body)) see(*object);
    end(State::settled, {});
  } else if (outcome.kind == kube::Outcome::Kind::unknown) {
    in_doubt_ = lost_ = true;
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
  in_doubt_ = false;  // what is still on its way carries a version, a uid or a name that only fits once
  const std::string_view uid = object ? (*object)["metadata"]["uid"].text() : std::string_view();
  const bool there = outcome.ok() && (ref_.uid.empty() || ref_.uid == uid);
  if (!there) return create_ ? write(*create_) : end(State::gone, {ReasonCode::object_gone, {}});
  see(object ? *object : kube::Json());
  Wish wish = look_(object ? *object : kube::Json());
  if (wish.kind == Wish::Kind::write) return write(std::move(wish.write));
  end(wish.kind == Wish::Kind::settled ? State::settled : State::refused, wish.why);
}

Verdict Change::verdict() const {
  CAPSTAN_ASSERT(!going());
  if (state_ == State::settled) return Verdict::applied();
  return in_doubt_ ? Verdict::unknown(why_) : Verdict::refused(why_);
}

void Change::see(kube::Json object) {
  const kube::Json metadata = object["metadata"];
  if (metadata["resourceVersion"].exists()) version_ = metadata["resourceVersion"].text();
  if (ref_.uid.empty()) ref_.uid = metadata["uid"].text();
}

void Change::write(kube::ApiRequest request) {
  if (writes_ == kWritesMax) {
    return end(State::refused, {lost_ ? ReasonCode::writes_lost : ReasonCode::object_contended, {writes_}});
  }
  ++writes_;
  write_ = std::move(request);
}

void Change::end(State state, model::Reason why) {
  state_ = state;
  why_ = why;
}

}  // namespace capstan::actuate
