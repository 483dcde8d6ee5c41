// Reads any bytes as a kubeconfig. The result must be a usable configuration or an error with a message.
#include "base/assert.h"
#include "kube/config.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace capstan;
  const std::string text(reinterpret_cast<const char*>(data), size);
  const kube::ReadFile read_file = [&](const std::string& path) -> Result<std::string> {
    if (path == "/k/config") return text;
    if (path == "/k/pem") return "-----BEGIN CERTIFICATE-----";
    Error error;
    error.file = path;
    error.message = "cannot be read";
    return std::unexpected(error);
  };
  const Result<kube::Config> config = kube::read_kubeconfig({"/k/config"}, "", read_file);
  if (config) {
    CAPSTAN_ASSERT(config->server.starts_with("http"));
    CAPSTAN_ASSERT(config->certificate.empty() == config->key.empty());
    CAPSTAN_ASSERT(!config->exec || !config->exec->command.empty());
  } else {
    CAPSTAN_ASSERT(!config.error().message.empty());
    CAPSTAN_ASSERT(config.error().file == "/k/config");
  }
  return 0;
}
