#include "kube/pem.h"

#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/x509.h>

#include <climits>
#include <memory>

namespace capstan::kube {
namespace {

using Bio = std::unique_ptr<BIO, decltype(&BIO_free)>;
using Certificate = std::unique_ptr<X509, decltype(&X509_free)>;
using Key = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;

Bio reader_of(std::string_view pem) {
  const bool fits = pem.size() <= INT_MAX;
  return {fits ? BIO_new_mem_buf(pem.data(), static_cast<int>(pem.size())) : nullptr, BIO_free};
}

/// Password callback that always fails, so that OpenSSL does not ask at the terminal.
int no_password(char*, int, int, void*) { return -1; }

Certificate next_certificate(BIO* bio) {
  return {bio == nullptr ? nullptr : PEM_read_bio_X509(bio, nullptr, no_password, nullptr), X509_free};
}

Key read_key(std::string_view pem) {
  const Bio bio = reader_of(pem);
  Key key(bio ? PEM_read_bio_PrivateKey(bio.get(), nullptr, no_password, nullptr) : nullptr, EVP_PKEY_free);
  ERR_clear_error();  // the error queue is shared by all OpenSSL users of this thread
  return key;
}

}  // namespace

bool has_valid_certificates(std::string_view pem) {
  const Bio bio = reader_of(pem);
  ERR_clear_error();
  bool has_certificate = false;
  while (next_certificate(bio.get())) has_certificate = true;
  const bool at_end = ERR_GET_REASON(ERR_peek_last_error()) == PEM_R_NO_START_LINE;
  ERR_clear_error();
  return has_certificate && at_end;
}

bool has_private_key(std::string_view pem) { return read_key(pem) != nullptr; }

bool key_matches(std::string_view certificate_pem, std::string_view key_pem) {
  const Bio bio = reader_of(certificate_pem);
  const Certificate certificate = next_certificate(bio.get());
  const Key key = read_key(key_pem);
  const bool fits = certificate && key && X509_check_private_key(certificate.get(), key.get()) == 1;
  ERR_clear_error();
  return fits;
}

}  // namespace capstan::kube
