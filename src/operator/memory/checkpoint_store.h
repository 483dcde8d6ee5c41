#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "base/time.h"
#include "kube/client.h"
#include "kube/request.h"
#include "net/monotonic.h"
#include "operator/memory/checkpoint.h"

namespace capstan::op {

/// Reads and writes the checkpoint's ConfigMaps.
class CheckpointStore {
 public:
  /// At most so often is a part written for what changes all the time. A recommendation that changed is written at
  /// once: a successor of a process that is killed shall know what was asked for.
  static constexpr Duration kPeriod = std::chrono::seconds(10);
  static constexpr Duration kRetryAfter = std::chrono::seconds(3);

  /// @param may_write  asked when a write is sent; `client` outlives the store
  CheckpointStore(kube::Client& client, net::Clock clock, std::string ns, std::function<bool()> may_write);
  ~CheckpointStore();
  CheckpointStore(const CheckpointStore&) = delete;

  /// Asks for all parts, anew; `read` has them once they are there.
  void start_reading();
  /// Asks again where there was no answer.
  void turn();
  Instant next_deadline() const;
  /// Nothing while something is not known. What the server refuses to show is as if it was not there: `refusal` says
  /// so.
  std::optional<Checkpoint> read() const;
  const std::string& refusal() const { return refusal_; }

  /// Writes the parts that changed, where it is time to.
  void write(const Checkpoint& checkpoint, bool at_once);
  bool writing() const;
  std::size_t left_out() const { return left_out_; }  ///< rows without a place in the last one
  std::uint64_t writes() const { return writes_; }

 private:
  using Recommended = std::map<std::string, ReplicaCount>;  // by row
  struct Part {
    kube::Client::CallId call = 0;
    bool read = false;
    Instant retry_at{};
    std::string written;
    Recommended recommended;  // as written
    Instant written_at{};
  };

  void ask(std::size_t at);
  void answered(std::size_t at, const kube::Outcome& outcome);
  kube::ObjectRef place(std::size_t at) const { return {kConfigMaps, ns_, checkpoint_name(at)}; }

  kube::Client& client_;
  net::Clock clock_;
  std::string ns_;
  std::function<bool()> may_write_;
  std::array<Part, Checkpoint::kParts> parts_;
  Checkpoint gathered_;
  std::string refusal_;
  std::size_t left_out_ = 0;
  std::uint64_t writes_ = 0;
};

}  // namespace capstan::op
