#include "kube/access_review.h"

#include <openssl/evp.h>

#include <array>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/assert.h"
#include "base/known_row.h"
#include "kube/request.h"

namespace capstan::kube {
namespace {

using ReviewJson = nlohmann::json;
using VerdictKind = AccessVerdict::Kind;

std::string sha256(std::string_view bytes) {
  std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
  unsigned int size = 0;
  const int ok = EVP_Digest(bytes.data(), bytes.size(), digest.data(), &size, EVP_sha256(), nullptr);
  CAPSTAN_ASSERT(ok == 1);
  return {digest.begin(), digest.begin() + size};
}

/// Returns a field of an object, or null.
ReviewJson field(const ReviewJson& object, const char* name) {
  return object.is_object() ? object.value(name, ReviewJson()) : ReviewJson();
}

std::string text_field(const ReviewJson& object, const char* name) {
  const ReviewJson value = field(object, name);
  return value.is_string() ? value.get<std::string>() : std::string();
}

/// Returns true only for the value true.
bool is_set(const ReviewJson& object, const char* name) { return field(object, name) == ReviewJson(true); }

AccessVerdict no_answer(const char* kind, const Outcome& outcome) {
  const bool may_not = outcome.kind == Outcome::Kind::refused && outcome.error.code == 403;
  std::string why = may_not ? std::string("the controller has no permission to create a ") + kind
                            : std::string("the API server did not answer a ") + kind;
  if (!outcome.error.message.empty()) why += ": " + outcome.error.message;
  return {.kind = VerdictKind::unavailable, .user = {}, .why = std::move(why)};
}

AccessVerdict unknown_token() {
  return {.kind = VerdictKind::unknown_token, .user = {}, .why = "the cluster does not know the token"};
}

}  // namespace

AccessReviewer::AccessReviewer(Client& client, net::Clock clock, Options options)
    : client_(client), clock_(std::move(clock)), options_(std::move(options)) {}

AccessReviewer::~AccessReviewer() {
  for (const auto& [key, entry] : entries_) client_.cancel(entry.call);
}

void AccessReviewer::review(std::string_view token, Handler handler) {
  if (token.empty() || token.size() > options_.token_bytes_max) return handler(unknown_token());
  const Key key = sha256(token);
  const auto found = entries_.find(key);
  if (found != entries_.end() && found->second.verdict && clock_() < found->second.until) {
    const AccessVerdict kept = *found->second.verdict;  // the handler may change the entries
    return handler(kept);
  }
  const bool is_asked = found != entries_.end() && !found->second.verdict;
  const bool has_room = is_asked ? found->second.waiting.size() < options_.waiting_max : make_room();
  if (!has_room) return handler({.kind = VerdictKind::unavailable, .user = {}, .why = "too many logins at a time"});
  if (is_asked) return found->second.waiting.push_back(std::move(handler));
  Entry& entry = entries_[key];
  entry = {};
  entry.waiting.push_back(std::move(handler));
  ask_owner(key, token);
}

/// Drops the expired answers and, if there are still too many entries, the answers that expire next. Returns true if
/// there is room for another question.
bool AccessReviewer::make_room() {
  const Instant now = clock_();
  std::erase_if(entries_, [&](const auto& entry) { return entry.second.verdict && entry.second.until <= now; });
  while (entries_.size() >= options_.entries_max) {
    auto first = entries_.end();
    for (auto at = entries_.begin(); at != entries_.end(); ++at) {
      if (at->second.verdict && (first == entries_.end() || at->second.until < first->second.until)) first = at;
    }
    if (first == entries_.end()) return false;
    entries_.erase(first);
  }
  return true;
}

ApiRequest AccessReviewer::request(std::string_view group, std::string_view plural, std::string_view kind,
                                   std::string spec) const {
  const Resource resource{std::string(group), "v1", std::string(plural), std::string(kind), false};
  const std::string head =
      R"({"apiVersion":)" + json_quote(resource.api_version()) + R"(,"kind":)" + json_quote(resource.kind);
  ApiRequest made = create({resource, {}, {}}, head + R"(,"spec":)" + spec + "}");
  made.timeout = options_.timeout;
  made.retry_when_busy = false;
  return made;
}

void AccessReviewer::ask_owner(const Key& key, std::string_view token) {
  ApiRequest asked =
      request("authentication.k8s.io", "tokenreviews", "TokenReview", R"({"token":)" + json_quote(token) + "}");
  known_row(entries_, key).call =
      client_.call(std::move(asked), [this, key](const Outcome& outcome) { take_owner(key, outcome); });
}

void AccessReviewer::take_owner(const Key& key, const Outcome& outcome) {
  if (!outcome.ok()) return answer(key, no_answer("TokenReview", outcome));
  const ReviewJson status = field(ReviewJson::parse(outcome.body, nullptr, false), "status");
  if (!status.is_object()) return answer(key, no_answer("TokenReview", outcome));
  const ReviewJson owner = field(status, "user");
  const std::string user = text_field(owner, "username");
  if (!is_set(status, "authenticated") || user.empty()) return answer(key, unknown_token());
  ReviewJson spec = {{"nonResourceAttributes", {{"path", options_.path}, {"verb", "get"}}}, {"user", user}};
  for (const char* name : {"uid", "groups", "extra"}) {
    if (const ReviewJson value = field(owner, name); !value.is_null()) spec[name] = value;
  }
  ApiRequest asked = request("authorization.k8s.io", "subjectaccessreviews", "SubjectAccessReview",
                             spec.dump(-1, ' ', false, ReviewJson::error_handler_t::replace));
  known_row(entries_, key).call =
      client_.call(std::move(asked), [this, key, user](const Outcome& got) { take_permission(key, user, got); });
}

void AccessReviewer::take_permission(const Key& key, const std::string& user, const Outcome& outcome) {
  if (!outcome.ok()) return answer(key, no_answer("SubjectAccessReview", outcome));
  const ReviewJson status = field(ReviewJson::parse(outcome.body, nullptr, false), "status");
  if (!status.is_object()) return answer(key, no_answer("SubjectAccessReview", outcome));
  if (is_set(status, "allowed") && !is_set(status, "denied")) {
    return answer(key, {.kind = VerdictKind::allowed, .user = user, .why = {}});
  }
  std::string why = "the user " + user + " has no permission to get the path " + options_.path;
  if (const std::string reason = text_field(status, "reason"); !reason.empty()) why += ": " + reason;
  answer(key, {.kind = VerdictKind::forbidden, .user = user, .why = std::move(why)});
}

/// Keeps the verdict and passes it on. A missing answer is not kept, so that the next request asks again.
void AccessReviewer::answer(const Key& key, AccessVerdict verdict) {
  Entry& entry = known_row(entries_, key);
  const std::vector<Handler> waiting = std::exchange(entry.waiting, {});
  entry.call = 0;
  if (verdict.kind == VerdictKind::unavailable) {
    entries_.erase(key);
  } else {
    entry.until = clock_() + options_.answer_lifetime;
    entry.verdict = verdict;
  }
  for (const Handler& handler : waiting) handler(verdict);
}

}  // namespace capstan::kube
