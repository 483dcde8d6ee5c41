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
  /// Shortest time between two writes of a part, for values that change all the time. A changed recommendation is
  /// written at once, so that the next leader knows it even if this process is killed.
  static constexpr Duration kPeriod = std::chrono::seconds(10);
  static constexpr Duration kRetryAfter = std::chrono::seconds(3);

  /// @param client     outlives the store
  /// @param may_write  called when a write is sent; the write is dropped if it returns false
  CheckpointStore(kube::Client& client, net::Clock clock, std::string ns, std::function<bool()> may_write);
  ~CheckpointStore();
  CheckpointStore(const CheckpointStore&) = delete;

  /// Requests all parts again. `read` returns them when all have arrived.
  void start_reading();
  /// Repeats the requests that have failed.
  void run_once();
  Instant next_deadline() const;
  /// Returns the checkpoint, or nothing while a part is missing. A part that the server refuses to return counts as
  /// empty; `refusal` then holds the error.
  std::optional<Checkpoint> read() const;
  const std::string& refusal() const { return refusal_; }

  /// Writes the parts that have changed and are due.
  /// @param at_once  writes every part that has changed
  void write(const Checkpoint& checkpoint, bool at_once);
  bool writing() const;
  std::size_t left_out() const { return left_out_; }  ///< rows that did not fit into the last checkpoint
  std::uint64_t writes() const { return writes_; }

 private:
  using Recommended = std::map<std::string, ReplicaCount>;  // recommended replicas by key of the row
  struct Part {
    kube::Client::CallId call = 0;
    bool read = false;
    Instant retry_at{};
    std::string written;
    Recommended recommended;  // recommended replicas as last written
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
