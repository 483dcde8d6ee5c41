#include "kube/child_process.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <vector>

namespace capstan::kube {
namespace {

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> out;
  for (std::string& text : texts) out.push_back(text.data());
  out.push_back(nullptr);
  return out;
}

/// Returns the environment of this process plus the variables of the config. A variable of the config replaces one of
/// the same name.
std::vector<std::string> environment_of(const ExecConfig& config, const std::string& cluster_info) {
  std::vector<std::string> out;
  std::vector<std::pair<std::string, std::string>> added = config.env;
  if (!cluster_info.empty()) added.emplace_back("KUBERNETES_EXEC_INFO", cluster_info);
  for (char** variable = environ; *variable != nullptr; ++variable) {
    const std::string_view text = *variable;
    const bool replaced = std::ranges::any_of(added, [&](const auto& a) { return text.starts_with(a.first + "="); });
    if (!replaced) out.emplace_back(text);
  }
  for (const auto& [name, value] : added) out.push_back(name + "=" + value);
  return out;
}

}  // namespace

Error ChildProcess::error(std::string message) const {
  Error error;
  error.message = "exec plugin " + command_ + ": " + std::move(message);
  return error;
}

Result<void> ChildProcess::start(const ExecConfig& config, const std::string& cluster_info) {
  stop();
  command_ = config.command;
  output_.clear();
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) return std::unexpected(error(std::strerror(errno)));
  std::vector<std::string> arguments = {config.command};
  arguments.insert(arguments.end(), config.args.begin(), config.args.end());
  std::vector<std::string> environment = environment_of(config, cluster_info);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  sigset_t defaults;
  sigemptyset(&defaults);
  sigaddset(&defaults, SIGPIPE);  // this process ignores SIGPIPE; the plugin must not inherit that
  posix_spawnattr_setsigdefault(&attributes, &defaults);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
  const int code = posix_spawnp(&pid_, config.command.c_str(), &actions, &attributes, pointers(arguments).data(),
                                pointers(environment).data());
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  if (code != 0) {
    pid_ = -1;
    close(ends[0]);
    const std::string hint = config.install_hint.empty() ? "" : "; " + config.install_hint;
    return std::unexpected(error("cannot be started: " + std::string(std::strerror(code)) + hint));
  }
  pipe_ = ends[0];
  fcntl(pipe_, F_SETFL, O_NONBLOCK);
  return {};
}

/// Reads the available output. Returns true if the output has ended or is too large.
bool ChildProcess::read_output() {
  char bytes[4096];
  for (;;) {
    const ssize_t count = read(pipe_, bytes, sizeof bytes);
    if (count < 0) return errno != EAGAIN && errno != EINTR;
    if (count == 0) return true;
    output_.append(bytes, static_cast<std::size_t>(count));
    if (output_.size() > kOutputMax) return true;
  }
}

std::optional<Result<std::string>> ChildProcess::poll() {
  if (pid_ < 0) return std::unexpected(error("it is not running"));
  const bool ended = read_output();
  if (output_.size() > kOutputMax) {
    stop();
    return std::unexpected(error("wrote more than 1 MiB to standard output"));
  }
  int status = 0;
  if (!ended || waitpid(pid_, &status, WNOHANG) == 0) return std::nullopt;
  pid_ = -1;
  stop();
  if (WIFSIGNALED(status)) return std::unexpected(error("ended by signal " + std::to_string(WTERMSIG(status))));
  if (WEXITSTATUS(status) != 0) {
    return std::unexpected(error("ended with status " + std::to_string(WEXITSTATUS(status))));
  }
  return output_;
}

void ChildProcess::stop() {
  if (pipe_ >= 0) close(pipe_);
  pipe_ = -1;
  if (pid_ < 0) return;
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
  pid_ = -1;
}

}  // namespace capstan::kube
