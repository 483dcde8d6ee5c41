#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"

namespace capstan::kube {

/// Reads a file. Tests replace it.
using ReadFile = std::function<Result<std::string>(const std::string& path)>;
Result<std::string> read_file_from_disk(const std::string& path);

/// An exec plugin: a program that gives credentials (`client.authentication.k8s.io`).
struct ExecConfig {
  std::string api_version;
  std::string command;  ///< a path with a slash is relative to the kubeconfig; a bare name is searched in PATH
  std::vector<std::string> args;
  std::vector<std::pair<std::string, std::string>> env;  ///< variables added to the environment of this process
  bool provide_cluster_info = false;
  std::string install_hint;  ///< text to show if the program cannot be started
  friend bool operator==(const ExecConfig&, const ExecConfig&) = default;
};

/// Address of the API server and credentials for it. Certificates and keys are PEM texts, read together with the
/// config.
struct Config {
  std::string context;  ///< name of the context; "in-cluster" inside a pod
  std::string ns = "default";

  std::string server;  ///< URL without a slash at the end
  std::string ca;      ///< trusted certificates; empty: the system's authorities
  std::string server_name;
  std::string proxy;
  bool verify = true;

  std::string certificate;
  std::string key;
  std::string token;
  std::string token_file;  ///< path of a file that is read again regularly; takes precedence over `token`
  std::string username;
  std::string password;
  std::optional<ExecConfig> exec;

  // File, line, object and field that set the trusted certificates and the credentials, for error messages.
  std::string trust_from;
  std::string identity_from;
};

/// Returns the value of an environment variable, or nothing if it is not set.
using Environment = std::function<std::optional<std::string>(const std::string& name)>;

/// Reads one or more kubeconfig files and merges them as kubectl does: of several entries with the same name, and of
/// several values of `current-context`, the one in the first file counts. Paths are relative to their file. An error
/// names the file, the line, the object and the field.
/// https://kubernetes.io/docs/concepts/configuration/organize-cluster-access-kubeconfig/
/// @param paths    files to read; a file that cannot be read is skipped, but at least one must be readable
/// @param context  name of the context; empty: `current-context`
Result<Config> read_kubeconfig(const std::vector<std::string>& paths, const std::string& context,
                               const ReadFile& read_file);

/// Returns the config for the service account that Kubernetes gives every pod.
Result<Config> in_cluster_config(const Environment& environment, const ReadFile& read_file);

/// Returns the config that a command uses: the given file, else the files in KUBECONFIG, else the service account of
/// the pod if no context is named, else ~/.kube/config.
Result<Config> find_config(const std::string& path, const std::string& context, const Environment& environment,
                           const ReadFile& read_file);

}  // namespace capstan::kube
