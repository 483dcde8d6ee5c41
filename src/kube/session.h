#pragma once

#include <memory>
#include <string>

#include "base/error.h"
#include "base/random.h"
#include "kube/client.h"
#include "kube/credentials.h"
#include "kube/wall_clock.h"
#include "net/http_client.h"

namespace capstan::kube {

/// The cluster that a command line names. Empty fields are completed as kubectl does.
struct ClusterArguments {
  std::string kubeconfig;  ///< path; empty: KUBECONFIG, the pod's service account, ~/.kube/config
  std::string context;     ///< context of the kubeconfig; empty: its current context
  std::string ns;          ///< namespace; empty: that of the configuration
};

/// A client of one API server, with the clocks, credentials and connections that it needs.
struct Session {
  explicit Session(Config config);

  WallClock wall;
  WallTime started;
  net::Clock clock;  ///< time since the Unix epoch; never goes back
  net::HttpClient http;
  std::string ns;
  Credentials credentials;
  RandomStream random;
  Client client;
};

/// Opens a session.
/// @return an error if no configuration is found or it is invalid
Result<std::unique_ptr<Session>> open_session(const ClusterArguments& arguments);

}  // namespace capstan::kube
