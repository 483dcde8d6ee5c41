#pragma once

#include <optional>
#include <string>

#include "kube/credentials.h"

namespace capstan::kube {

/// An exec plugin as a process of its own: standard input is empty, standard error goes where ours goes.
/// It gets our environment, the variables of its config, and KUBERNETES_EXEC_INFO where it asked for it.
class ChildProcess final : public Plugin {
 public:
  static constexpr std::size_t kOutputMax = 1u << 20;

  ChildProcess() = default;
  ~ChildProcess() override { stop(); }
  ChildProcess(const ChildProcess&) = delete;

  Result<void> start(const ExecConfig& config, const std::string& cluster_info) override;
  std::optional<Result<std::string>> poll() override;
  void stop() override;

 private:
  bool read_output();
  Error error(std::string what) const;

  std::string command_;
  std::string output_;
  int pid_ = -1;
  int pipe_ = -1;
};

}  // namespace capstan::kube
