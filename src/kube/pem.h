#pragma once

#include <string>
#include <string_view>

namespace capstan::kube {

/// Returns true if a PEM text has at least one certificate and all its certificates can be read.
bool has_valid_certificates(std::string_view pem);

/// Returns true if a PEM text has a readable private key. A key with a password is not readable.
bool has_private_key(std::string_view pem);

/// Returns true if the private key belongs to the first certificate, which is the one sent to the server. Returns false
/// if either cannot be read.
bool key_matches(std::string_view certificate_pem, std::string_view key_pem);

}  // namespace capstan::kube
