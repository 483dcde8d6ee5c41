#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/error.h"
#include "base/time.h"
#include "kube/config.h"
#include "kube/wall_clock.h"
#include "net/http.h"

namespace capstan::kube {

/// An exec plugin that runs. `ChildProcess` is the implementation outside of tests.
class Plugin {
 public:
  virtual ~Plugin() = default;
  virtual Result<void> start(const ExecConfig& config, const std::string& cluster_info) = 0;
  /// Returns nothing while the plugin runs, and then its standard output or an error.
  virtual std::optional<Result<std::string>> poll() = 0;
  virtual void stop() = 0;
};

/// The credentials of this process, kept up to date: a token file is read again once a minute (a bound service account
/// token lives about an hour), and an exec plugin runs again shortly before its credentials expire. Nothing blocks.
class Credentials {
 public:
  /// Kubernetes rotates a bound token after 80 % of its lifetime, so one read per minute is enough.
  static constexpr Duration kReadAgainAfter = std::chrono::seconds(60);
  static constexpr Duration kPluginMax = std::chrono::seconds(30);
  /// Time before the expiry at which the plugin runs again.
  static constexpr Duration kExpiryMargin = std::chrono::seconds(30);
  static constexpr Duration kRetryAfterFailure = std::chrono::seconds(10);  ///< wait after a failed read or run

  Credentials(Config config, ReadFile read_file, std::unique_ptr<Plugin> plugin, WallClock wall_clock);

  /// Reads or renews the credentials if that is due.
  void run_once(Instant now);
  /// Returns true if there are credentials. If not, `error` may have the reason.
  bool ready() const { return ready_; }
  const std::optional<Error>& error() const { return error_; }
  /// Returns the time at which `run_once` has to be called next.
  Instant next_deadline() const { return next_; }

  /// Records that the server refused the credentials. The next `run_once` renews them if they come from a file or a
  /// plugin.
  void refused();

  void sign(net::Request& request) const;
  const Config& config() const { return config_; }

 private:
  void read_token_file(Instant now);
  void run_plugin(Instant now);
  void take(const Result<std::string>& output, Instant now);
  void failed(Error error, Instant now);
  void use(std::string token, const std::string& certificate, const std::string& key);

  Config config_;
  ReadFile read_file_;
  std::unique_ptr<Plugin> plugin_;
  WallClock wall_clock_;
  bool ready_ = false;
  bool plugin_runs_ = false;
  Instant plugin_until_;
  std::optional<Error> error_;
  Instant next_{};
  std::string authorization_;
  std::shared_ptr<const net::Tls> tls_;
};

}  // namespace capstan::kube
