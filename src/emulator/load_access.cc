#include "emulator/load_access.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "base/ascii.h"
#include "base/input_file.h"
#include "base/trimmed.h"

namespace capstan::emulator {
namespace {

constexpr std::string_view kOwnHeaders[] = {"content-type", "content-length", "transfer-encoding", "host"};

Error usage(std::string option, std::string message) {
  return {ErrorKind::usage, std::move(option), 0, 0, std::move(message)};
}

bool is_printable(std::string_view text) {
  return std::ranges::all_of(text, [](unsigned char c) { return c >= 0x20 && c != 0x7f; });
}

Result<net::Header> read_header(std::string_view text) {
  const std::size_t colon = text.find(':');
  const std::string_view name = text.substr(0, colon);
  const bool named = !name.empty() && is_printable(name) && name.find(' ') == name.npos;
  if (colon == text.npos || !named) {
    return std::unexpected(usage("--header", "found no name before a colon, expected NAME: VALUE"));
  }
  const std::string_view value = trimmed(text.substr(colon + 1), " ");
  if (!is_printable(value)) {
    return std::unexpected(
        usage("--header", std::string(name) + " has a control character, expected a printable value"));
  }
  if (std::ranges::any_of(kOwnHeaders, [&](std::string_view own) { return equal_any_case(own, name); })) {
    return std::unexpected(usage("--header", std::string(name) + " is set by Capstan itself, expected another header"));
  }
  return net::Header{std::string(name), std::string(value)};
}

Result<std::shared_ptr<const net::Tls>> read_trust(const LoadAccessArguments& arguments) {
  net::Tls tls;
  tls.verify = !arguments.insecure;
  if (!arguments.ca_file.empty()) {
    Result<std::string> pem = read_input(arguments.ca_file, "a PEM file of certificates");
    if (!pem) return std::unexpected(pem.error());
    if (pem->find("-----BEGIN CERTIFICATE-----") == pem->npos) {
      return std::unexpected(
          Error::about(arguments.ca_file, "holds no certificate, expected a PEM file of certificates"));
    }
    tls.ca = std::move(*pem);
  }
  return std::make_shared<const net::Tls>(std::move(tls));
}

}  // namespace

Result<LoadAccess> load_access(const LoadAccessArguments& arguments) {
  LoadAccess access;
  for (const std::string& text : arguments.headers) {
    Result<net::Header> header = read_header(text);
    if (!header) return std::unexpected(header.error());
    access.headers.push_back(std::move(*header));
  }
  if (!arguments.api_key.empty()) {
    if (!is_printable(arguments.api_key)) {
      return std::unexpected(usage("--api-key", "has a control character, expected a printable key"));
    }
    if (net::find_header(access.headers, "Authorization") != nullptr) {
      return std::unexpected(
          usage("--api-key", "found together with --header Authorization, expected only one of the two"));
    }
    access.headers.push_back({"Authorization", "Bearer " + arguments.api_key});
  }
  if (arguments.insecure || !arguments.ca_file.empty()) {
    Result<std::shared_ptr<const net::Tls>> tls = read_trust(arguments);
    if (!tls) return std::unexpected(tls.error());
    access.tls = std::move(*tls);
  }
  return access;
}

}  // namespace capstan::emulator
