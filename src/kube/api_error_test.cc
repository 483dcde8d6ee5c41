#include "kube/api_error.h"

#include <gtest/gtest.h>

namespace capstan::kube {
namespace {

using namespace std::chrono_literals;

TEST(ApiError, ReadsAStatusObject) {
  const ApiError error = error_of({.status = 422, .headers = {}, .body = R"({
    "kind": "Status", "apiVersion": "v1", "status": "Failure", "message": "Pod \"x\" is invalid", "reason": "Invalid",
    "details": {"name": "x", "kind": "Pod", "causes": [
      {"reason": "FieldValueRequired", "message": "Required value", "field": "spec.containers"}]}, "code": 422})"});
  EXPECT_EQ(error.text(), "422 Invalid: Pod \"x\" is invalid; spec.containers: Required value");
  EXPECT_EQ(error.retry_after, Duration{});
}

TEST(ApiError, ReadsHowLongToWait) {
  EXPECT_EQ(error_of({.status = 429, .headers = {{"Retry-After", "7"}}, .body = "Too many"}).retry_after, 7s);
  EXPECT_EQ(error_of({.status = 429, .headers = {{"Retry-After", "99999"}}, .body = ""}).retry_after, 60s);
  EXPECT_EQ(error_of({.status = 429, .headers = {{"Retry-After", "soon"}}, .body = ""}).retry_after, 0s);
  EXPECT_EQ(error_of({.status = 504, .headers = {}, .body = R"({"kind":"Status","details":{"retryAfterSeconds":2}})"})
                .retry_after,
            2s);
}

TEST(ApiError, ShortensABodyThatIsNotAStatus) {
  const ApiError error = error_of({.status = 502, .headers = {}, .body = "<html>\n" + std::string(1000, 'x')});
  EXPECT_EQ(error.text().size(), 205u);
  EXPECT_TRUE(error.text().starts_with("502: <html> xxx"));
}

TEST(ApiError, DistinguishesTheTwoKindsOf409) {
  EXPECT_TRUE((ApiError{.code = 409, .reason = "Conflict", .message = {}, .causes = {}, .retry_after = {}}).conflict());
  EXPECT_TRUE((ApiError{.code = 409, .reason = "AlreadyExists", .message = {}, .causes = {}, .retry_after = {}})
                  .already_exists());
}

}  // namespace
}  // namespace capstan::kube
