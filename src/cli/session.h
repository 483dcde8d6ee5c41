#pragma once

#include <memory>
#include <string>

#include "base/error.h"
#include "base/random.h"
#include "kube/client.h"
#include "kube/credentials.h"
#include "kube/wall_clock.h"
#include "net/http_client.h"

namespace capstan::cli {

/// Which cluster, as the command line says; what it leaves out, kubectl's rules give.
struct ClusterArguments {
  std::string kubeconfig;  ///< empty: KUBECONFIG, the pod's service account, ~/.kube/config
  std::string context;     ///< empty: the file's current one
  std::string ns;          ///< empty: the configuration's
};

/// A client of one API server, with all that it stands on.
struct Session {
  explicit Session(kube::Config config);

  kube::WallClock wall;
  kube::WallTime started;
  net::Clock clock;  ///< counts from the Unix epoch as it was at the start, and never goes back
  net::HttpClient http;
  std::string ns;
  kube::Credentials credentials;
  RandomStream random;
  kube::Client client;
};

/// @return an error where no configuration is found, or it is wrong
Result<std::unique_ptr<Session>> open_session(const ClusterArguments& arguments);

}  // namespace capstan::cli
