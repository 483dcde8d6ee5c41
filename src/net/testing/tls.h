#pragma once

// Creates certificates, and a TLS server with them, to test TLS clients.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <sys/socket.h>
#include <unistd.h>

#include <memory>
#include <string>

namespace capstan::net {

/// A certificate with its key.
struct Certificate {
  std::shared_ptr<EVP_PKEY> key;
  std::shared_ptr<X509> x509;

  std::string pem() const {
    const std::unique_ptr<BIO, decltype(&BIO_free)> out(BIO_new(BIO_s_mem()), BIO_free);
    PEM_write_bio_X509(out.get(), x509.get());
    return text_of(out.get());
  }
  std::string key_pem() const {
    const std::unique_ptr<BIO, decltype(&BIO_free)> out(BIO_new(BIO_s_mem()), BIO_free);
    PEM_write_bio_PrivateKey(out.get(), key.get(), nullptr, nullptr, 0, nullptr, nullptr);
    return text_of(out.get());
  }
  static std::string text_of(BIO* bio) {
    char* bytes = nullptr;
    const long size = BIO_get_mem_data(bio, &bytes);
    return {bytes, static_cast<std::size_t>(size)};
  }
};

inline void extend(X509* x509, int nid, const std::string& value) {
  X509_EXTENSION* extension = X509V3_EXT_conf_nid(nullptr, nullptr, nid, value.c_str());
  X509_add_ext(x509, extension, -1);
  X509_EXTENSION_free(extension);
}

/// Creates a certificate with this name, signed by `issuer`. Without an issuer it is a self-signed authority.
inline Certificate make_certificate(const std::string& name, const std::string& alternative_names,
                                    const Certificate* issuer) {
  static int serial = 0;
  Certificate made{{EVP_EC_gen("P-256"), EVP_PKEY_free}, {X509_new(), X509_free}};
  X509* x509 = made.x509.get();
  X509_set_version(x509, X509_VERSION_3);
  ASN1_INTEGER_set(X509_get_serialNumber(x509), ++serial);
  X509_gmtime_adj(X509_getm_notBefore(x509), -3600);
  X509_gmtime_adj(X509_getm_notAfter(x509), 3600);
  X509_set_pubkey(x509, made.key.get());
  X509_NAME_add_entry_by_txt(X509_get_subject_name(x509), "CN", MBSTRING_ASC,
                             reinterpret_cast<const unsigned char*>(name.c_str()), -1, -1, 0);
  X509_set_issuer_name(x509, X509_get_subject_name(issuer != nullptr ? issuer->x509.get() : x509));
  if (issuer == nullptr) extend(x509, NID_basic_constraints, "critical,CA:TRUE");
  if (!alternative_names.empty()) extend(x509, NID_subject_alt_name, alternative_names);
  X509_sign(x509, issuer != nullptr ? issuer->key.get() : made.key.get(), EVP_sha256());
  return made;
}

/// A TLS server on loopback. It answers the requests of one connection with the verified name of the client.
class TlsServer {
 public:
  TlsServer(const Certificate& certificate, const Certificate& client_authority)
      : context_(SSL_CTX_new(TLS_server_method()), SSL_CTX_free), fd_(socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0)) {
    SSL_CTX_use_certificate(context_.get(), certificate.x509.get());
    SSL_CTX_use_PrivateKey(context_.get(), certificate.key.get());
    X509_STORE_add_cert(SSL_CTX_get_cert_store(context_.get()), client_authority.x509.get());
    SSL_CTX_set_verify(context_.get(), SSL_VERIFY_PEER, nullptr);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof address;
    EXPECT_EQ(bind(fd_, reinterpret_cast<sockaddr*>(&address), size), 0);
    EXPECT_EQ(listen(fd_, 8), 0);
    getsockname(fd_, reinterpret_cast<sockaddr*>(&address), &size);
    url = "https://127.0.0.1:" + std::to_string(ntohs(address.sin_port)) + "/";
  }
  ~TlsServer() {
    for (const int fd : {connection_, fd_}) {
      if (fd >= 0) close(fd);
    }
  }

  void run_once() {
    if (!tls_) {
      if ((connection_ = accept4(fd_, nullptr, nullptr, SOCK_NONBLOCK)) < 0) return;
      tls_ = {SSL_new(context_.get()), SSL_free};
      SSL_set_fd(tls_.get(), connection_);
    }
    if (SSL_accept(tls_.get()) != 1) return;
    char bytes[4096];
    const int count = SSL_read(tls_.get(), bytes, sizeof bytes);
    if (count > 0) received_.append(bytes, static_cast<std::size_t>(count));
    if (!received_.ends_with("\r\n\r\n")) return;
    received_.clear();
    const std::string body = client_name() + " at " + requested_host();
    const std::string length = std::to_string(body.size());
    const std::string answer = "HTTP/1.1 " + status + "\r\nContent-Length: " + length + "\r\n\r\n" + body;
    EXPECT_GT(SSL_write(tls_.get(), answer.data(), static_cast<int>(answer.size())), 0);
  }

  std::string url;
  std::string status = "200 OK";  ///< status of the answers

 private:
  std::string client_name() const {
    const std::unique_ptr<X509, decltype(&X509_free)> peer(SSL_get1_peer_certificate(tls_.get()), X509_free);
    char name[64] = "no client";
    if (peer) X509_NAME_get_text_by_NID(X509_get_subject_name(peer.get()), NID_commonName, name, sizeof name);
    return name;
  }
  std::string requested_host() const {
    const char* name = SSL_get_servername(tls_.get(), TLSEXT_NAMETYPE_host_name);
    return name != nullptr ? name : "an address";
  }

  std::shared_ptr<SSL_CTX> context_;
  std::shared_ptr<SSL> tls_;
  int fd_;
  int connection_ = -1;
  std::string received_;
};

}  // namespace capstan::net
