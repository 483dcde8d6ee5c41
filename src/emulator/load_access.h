#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/error.h"
#include "net/http.h"

namespace capstan::emulator {

/// The credentials that a load sends to a server, and the certificates that it trusts, as the user stated them.
struct LoadAccessArguments {
  std::string api_key;               ///< key to send as a bearer token; empty: none
  std::vector<std::string> headers;  ///< headers to send, as "Name: value"
  std::string ca_file;               ///< trusted authorities in PEM; empty: the system's
  bool insecure = false;             ///< accept any certificate
};

/// The headers of each request of a load, and the certificates that it trusts.
struct LoadAccess {
  std::vector<net::Header> headers;
  std::shared_ptr<const net::Tls> tls;  ///< trusted authorities; null: the system's
};

/// Reads and checks the arguments. No error quotes a key or the value of a header, because they may be secrets.
Result<LoadAccess> load_access(const LoadAccessArguments& arguments);

}  // namespace capstan::emulator
