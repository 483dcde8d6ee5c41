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

/// A program that runs beside us. `ChildProcess` is the real one.
class Plugin {
 public:
  virtual ~Plugin() = default;
  virtual Result<void> start(const ExecConfig& config, const std::string& cluster_info) = 0;
  /// Its standard output once it has ended well; nothing while it runs.
  virtual std::optional<Result<std::string>> poll() = 0;
  virtual void stop() = 0;
};

/// Who we are, kept up to date: a token file is read again at least once a minute (a bound service account token lives
/// about an hour), an exec plugin runs again shortly before what it gave expires. Nothing blocks.
class Credentials {
 public:
  /// A bound token is rotated when 80 % of its life are over; to read it once a minute is often enough for all of them.
  static constexpr Duration kReadAgainAfter = std::chrono::seconds(60);
  static constexpr Duration kPluginMax = std::chrono::seconds(30);
  /// What a plugin gave is replaced so long before it expires.
  static constexpr Duration kExpiryMargin = std::chrono::seconds(30);
  static constexpr Duration kFailureMax = std::chrono::seconds(10);  ///< until a failed source is asked again

  Credentials(Config config, ReadFile read_file, std::unique_ptr<Plugin> plugin, WallClock wall_clock);

  /// Brings them up to date.
  void turn(Instant now);
  /// There is something to send; if not, `error` may say why.
  bool ready() const { return ready_; }
  const std::optional<Error>& error() const { return error_; }
  /// When `turn` has something to do, if nothing else happens.
  Instant next_deadline() const { return next_; }

  /// The server refused them: get new ones, as far as there is a source.
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
