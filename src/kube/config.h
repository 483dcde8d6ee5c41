#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"

namespace capstan::kube {

/// How files are read; tests hand in their own.
using ReadFile = std::function<Result<std::string>(const std::string& path)>;
Result<std::string> read_file_from_disk(const std::string& path);

/// A program that gives credentials (`client.authentication.k8s.io`, exec plugins).
struct ExecConfig {
  std::string api_version;
  std::string command;  ///< a path relative to its kubeconfig is made absolute to it; a bare name is searched in PATH
  std::vector<std::string> args;
  std::vector<std::pair<std::string, std::string>> env;  ///< added to ours
  bool provide_cluster_info = false;
  std::string install_hint;  ///< what to tell a user who does not have it
  friend bool operator==(const ExecConfig&, const ExecConfig&) = default;
};

/// Where the API server is and who we are to it. Certificates and keys are PEM texts, read when the config was.
struct Config {
  std::string context;  ///< its name; "in-cluster" inside a pod
  std::string ns = "default";

  std::string server;  ///< URL without a slash at its end
  std::string ca;      ///< empty: the system's authorities
  std::string server_name;
  std::string proxy;
  bool verify = true;

  std::string certificate;
  std::string key;
  std::string token;
  std::string token_file;  ///< read again and again; wins over `token`
  std::string username;
  std::string password;
  std::optional<ExecConfig> exec;

  // Where it was said, for a server that is not trusted and one that does not know us: file, place, object and field.
  std::string trust_from;
  std::string identity_from;
};

/// The environment as far as it matters: the value of a variable, or nothing.
using Environment = std::function<std::optional<std::string>(const std::string& name)>;

/// Reads one or more kubeconfig files and merges them as kubectl does: of every name, and of `current-context`, the
/// first file that has it wins; relative paths are relative to their file. Every part that is wrong is one error with
/// the file, the place, the object and the field.
/// https://kubernetes.io/docs/concepts/configuration/organize-cluster-access-kubeconfig/
/// @param paths    files that do not exist are left out, unless it is the only one
/// @param context  instead of `current-context`; empty: that
Result<Config> read_kubeconfig(const std::vector<std::string>& paths, const std::string& context,
                               const ReadFile& read_file);

/// The service account that Kubernetes gives every pod.
Result<Config> in_cluster_config(const Environment& environment, const ReadFile& read_file);

/// What a command uses: the files given; else those of KUBECONFIG; else the service account of the pod; else
/// ~/.kube/config.
Result<Config> find_config(const std::string& path, const std::string& context, const Environment& environment,
                           const ReadFile& read_file);

}  // namespace capstan::kube
