#pragma once

#include <optional>
#include <string>

#include "kube/credentials.h"

namespace capstan::kube {

/// Runs an exec plugin as a child process. Its standard input is empty, and it inherits standard error. Its environment
/// is that of this process, plus the variables of its config, plus KUBERNETES_EXEC_INFO if the config asks for it.
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
  Error error(std::string message) const;

  std::string command_;
  std::string output_;
  int pid_ = -1;
  int pipe_ = -1;
};

}  // namespace capstan::kube
