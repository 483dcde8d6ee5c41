#pragma once

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string>

/// A real Prometheus server on loopback, for tests.
namespace capstan::test {

/// Returns the path of Prometheus: Debian's, which scripts/setup unpacks, or the one on PATH. Empty if there is none.
inline std::string find_prometheus() {
  const std::filesystem::path unpacked =
      std::filesystem::path(CAPSTAN_SOURCE_DIR) / "build/prometheus/usr/bin/prometheus";
  if (std::filesystem::exists(unpacked)) return unpacked;
  const char* path = std::getenv("PATH");
  std::string folders = path == nullptr ? "" : path;
  while (!folders.empty()) {
    const std::size_t colon = folders.find(':');
    const std::filesystem::path program = std::filesystem::path(folders.substr(0, colon)) / "prometheus";
    if (std::filesystem::exists(program)) return program;
    folders.erase(0, colon == std::string::npos ? folders.size() : colon + 1);
  }
  return {};
}

inline std::string read_text(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// A Prometheus process. It ends with this object, or when the test process dies.
class Prometheus {
 public:
  Prometheus(const std::filesystem::path& folder, const std::string& config, const std::string& web_config)
      : folder_(folder) {
    std::ofstream(folder / "prometheus.yml") << config;
    std::ofstream(folder / "web.yml") << web_config;
    const std::string program = find_prometheus();
    pid_ = fork();
    if (pid_ == 0) {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      const int log = open((folder / "log").c_str(), O_CREAT | O_WRONLY | O_TRUNC, 0600);
      dup2(log, 1);
      dup2(log, 2);
      execl(program.c_str(), "prometheus", ("--config.file=" + (folder / "prometheus.yml").string()).c_str(),
            ("--web.config.file=" + (folder / "web.yml").string()).c_str(),
            ("--storage.tsdb.path=" + (folder / "data").string()).c_str(), "--web.listen-address=127.0.0.1:0", nullptr);
      _exit(127);
    }
  }
  ~Prometheus() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  Prometheus(const Prometheus&) = delete;
  Prometheus& operator=(const Prometheus&) = delete;

  /// Returns the address, such as "127.0.0.1:41231", once the server is ready.
  std::optional<std::string> address() const {
    const std::string log = read_text(folder_ / "log");
    const std::string mark = "msg=\"Listening on\" address=";
    const std::size_t at = log.find(mark);
    const std::size_t end = log.find('\n', at);
    const bool ready = log.find("Server is ready to receive web requests") != std::string::npos;
    if (at == std::string::npos || end == std::string::npos || !ready) return std::nullopt;
    return log.substr(at + mark.size(), end - at - mark.size());
  }
  std::string log() const { return read_text(folder_ / "log"); }

 private:
  std::filesystem::path folder_;
  pid_t pid_ = -1;
};

}  // namespace capstan::test
