#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kube/client.h"
#include "net/monotonic.h"

namespace capstan::kube {

/// The answer to the question whether the owner of a token may read a path.
struct AccessVerdict {
  enum class Kind : std::uint8_t {
    allowed,
    unknown_token,  ///< the API server knows no owner of the token
    forbidden,      ///< the owner is known and has no permission
    unavailable,    ///< the API server gave no verdict or was not asked, so nothing may be shown
  };
  Kind kind = Kind::unavailable;
  std::string user;  ///< name of the owner; empty if it is not known
  std::string why;   ///< reason of a verdict that is not `allowed`, for people
};

/// Asks the API server whether the owner of a bearer token may read a path of this process: a TokenReview names the
/// owner, and a SubjectAccessReview with the path as a nonResourceURL and the verb get says whether RBAC allows it.
/// Answers are kept for a few seconds. Tokens themselves are not kept, only their SHA-256.
class AccessReviewer {
 public:
  using Handler = std::function<void(const AccessVerdict&)>;
  struct Options {
    std::string path;                                     ///< the nonResourceURL, such as "/ui"
    Duration answer_lifetime = std::chrono::seconds(5);   ///< time for which an answer is used again
    std::size_t entries_max = 256;                        ///< largest number of kept answers and open questions
    std::size_t waiting_max = 64;                         ///< largest number of requests that wait for one answer
    Duration timeout = std::chrono::seconds(5);           ///< time limit for each request to the API server
    std::size_t token_bytes_max = std::size_t{16} << 10;  ///< longer tokens are unknown
  };

  /// @param client  outlives the reviewer. Use it for nothing else, because many unknown tokens can delay it.
  AccessReviewer(Client& client, net::Clock clock, Options options);
  /// Drops the questions without an answer.
  ~AccessReviewer();
  AccessReviewer(const AccessReviewer&) = delete;

  /// Calls the handler a single time: immediately if an answer is kept, if the token is empty or too long, or if
  /// too many requests wait; otherwise when the API server has answered.
  void review(std::string_view token, Handler handler);
  std::size_t size() const { return entries_.size(); }  ///< number of answers and questions

 private:
  struct Entry {
    std::optional<AccessVerdict> verdict;  ///< empty: the API server has not answered yet
    Instant until = Instant::never();      ///< time up to which the verdict is used
    std::vector<Handler> waiting;
    Client::CallId call = 0;
  };
  using Key = std::string;  ///< SHA-256 of a token

  bool make_room();
  void ask_owner(const Key& key, std::string_view token);
  void take_owner(const Key& key, const Outcome& outcome);
  void take_permission(const Key& key, const std::string& user, const Outcome& outcome);
  void answer(const Key& key, AccessVerdict verdict);
  ApiRequest request(std::string_view group, std::string_view plural, std::string_view kind, std::string spec) const;

  Client& client_;
  net::Clock clock_;
  Options options_;
  std::map<Key, Entry> entries_;
};

}  // namespace capstan::kube
