#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "net/http.h"

namespace capstan::cli {

/// The credentials that a load sends to a server, and the certificates that it trusts, as its user stated them.
struct LoadAccessArguments {
  std::string api_key;               ///< sent as a bearer token; empty: none
  std::vector<std::string> headers;  ///< "Name: value"
  std::string ca_file;               ///< PEM; empty: the system's authorities
  bool insecure = false;             ///< accept any certificate
};

/// The headers of each request of a load, and the certificates that it trusts.
struct LoadAccess {
  std::vector<net::Header> headers;
  std::shared_ptr<const net::Tls> tls;  ///< null: trust the system's authorities
};

/// Reads and checks the arguments. No error quotes a key or the value of a header, because they may be secrets.
Result<LoadAccess> load_access(const LoadAccessArguments& arguments);

}  // namespace capstan::cli
