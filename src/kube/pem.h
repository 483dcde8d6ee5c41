#pragma once

#include <string>
#include <string_view>

namespace capstan::kube {

/// Whether every certificate of a PEM text can be read, and there is at least one.
bool holds_certificates(std::string_view pem);

/// Whether a PEM text holds a private key that can be read; one behind a password cannot: there is nobody to ask.
bool holds_private_key(std::string_view pem);

/// Whether the key is that of the first certificate, the one we show. False too where either cannot be read.
bool key_fits(std::string_view certificate_pem, std::string_view key_pem);

}  // namespace capstan::kube
