#include "kube/session.h"

#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <optional>
#include <utility>

#include "kube/child_process.h"
#include "kube/config.h"

namespace capstan::kube {
namespace {

net::Clock epoch_clock(WallTime wall) {
  const net::Clock machine = net::machine_clock();
  const Duration offset = std::chrono::microseconds(wall.unix_us) - machine().since_start;
  return [machine, offset] { return machine() + offset; };
}

std::optional<std::string> environment(const std::string& name) {
  const char* value = std::getenv(name.c_str());
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

net::HttpClient::Options http_options() {
  net::HttpClient::Options options;
  options.connections_max = 16'384;
  return options;
}

}  // namespace

Session::Session(Config config)
    : wall(machine_wall_clock()),
      started(wall()),
      clock(epoch_clock(started)),
      http(clock, http_options()),
      ns(config.ns),
      credentials(std::move(config), read_file_from_disk, std::make_unique<ChildProcess>(), wall),
      random(static_cast<std::uint64_t>(started.unix_us) ^ static_cast<std::uint64_t>(getpid()), "session"),
      client(http, credentials, clock, RandomStream(random.bits(), "client"), Client::Options()) {}

Result<std::unique_ptr<Session>> open_session(const ClusterArguments& arguments) {
  Result<Config> config = find_config(arguments.kubeconfig, arguments.context, environment, read_file_from_disk);
  if (!config) return std::unexpected(config.error());
  if (!arguments.ns.empty()) config->ns = arguments.ns;
  return std::make_unique<Session>(std::move(*config));
}

}  // namespace capstan::kube
