#include "kube/config.h"

#include <gtest/gtest.h>

#include <map>

#include "kube/base64.h"
#include "net/testing/tls.h"

namespace capstan::kube {
namespace {

using net::Certificate;

const Certificate kMe = net::make_certificate("me", "", nullptr);
const Certificate kOther = net::make_certificate("other", "", nullptr);
const std::string kPem = kMe.pem();

struct ConfigTest : testing::Test {
  std::map<std::string, std::string> files = {
      {"/k/ca.pem", kPem},
      {"/k/token", "t"},
      {"/k/key.pem", kMe.key_pem()},
      {"/k/other-key.pem", kOther.key_pem()},
      {"/k/half.pem", kPem + "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"}};

  ReadFile read() {
    return [this](const std::string& path) -> Result<std::string> {
      if (const auto found = files.find(path); found != files.end()) return found->second;
      Error error;
      error.file = path;
      error.message = "cannot be read";
      return std::unexpected(error);
    };
  }
};

/// Returns a kubeconfig with one cluster and one user with these fields.
std::string kubeconfig(const std::string& cluster, const std::string& user) {
  return "apiVersion: v1\nkind: Config\ncurrent-context: c\ncontexts:\n- name: c\n  context: {cluster: k, user: u, "
         "namespace: ml}\n"
         "clusters:\n- name: k\n  cluster: {" +
         cluster + "}\nusers:\n- name: u\n  user: {" + user + "}\n";
}

TEST_F(ConfigTest, ReadsCertificatesFromFilesAndInline) {
  const std::string inline_pem = base64_encode(kPem);
  const std::string inline_key = base64_encode(kMe.key_pem());
  files["/k/config"] =
      kubeconfig("server: 'https://1.2.3.4:6443/', certificate-authority: ca.pem, tls-server-name: api",
                 "client-certificate-data: " + inline_pem + ", client-key-data: " + inline_key);
  const Result<Config> config = read_kubeconfig({"/k/config"}, "", read());
  ASSERT_TRUE(config) << config.error().text();
  EXPECT_EQ(config->server, "https://1.2.3.4:6443");
  EXPECT_EQ(config->ca, kPem);
  EXPECT_EQ(config->certificate, kPem);
  EXPECT_EQ(config->key, kMe.key_pem());
  EXPECT_EQ(config->server_name, "api");
  EXPECT_EQ(config->trust_from, "/k/config:9:69: cluster \"k\": certificate-authority");
  EXPECT_TRUE(config->identity_from.ends_with(": user \"u\": client-certificate-data"));
  EXPECT_EQ(config->ns, "ml");
  EXPECT_EQ(config->context, "c");
  EXPECT_TRUE(config->verify);
}

TEST_F(ConfigTest, ReadsTokensAndPlugins) {
  files["/k/config"] = kubeconfig("server: https://a", "token: x, tokenFile: token");
  Result<Config> config = read_kubeconfig({"/k/config"}, "", read());
  ASSERT_TRUE(config) << config.error().text();
  EXPECT_EQ(config->token, "x");
  EXPECT_EQ(config->token_file, "/k/token");

  files["/k/config"] = kubeconfig("server: https://a",
                                  "exec: {apiVersion: client.authentication.k8s.io/v1, command: bin/get, args: [a, b], "
                                  "env: [{name: X, value: y}], interactiveMode: Never, provideClusterInfo: true}");
  config = read_kubeconfig({"/k/config"}, "", read());
  ASSERT_TRUE(config) << config.error().text();
  EXPECT_EQ(*config->exec, (ExecConfig{.api_version = "client.authentication.k8s.io/v1",
                                       .command = "/k/bin/get",
                                       .args = {"a", "b"},
                                       .env = {{"X", "y"}},
                                       .provide_cluster_info = true,
                                       .install_hint = {}}));
}

TEST_F(ConfigTest, TheFirstFileWithANameCounts) {
  files["/a/config"] = "current-context: one\nclusters: [{name: k, cluster: {server: 'https://first'}}]\n";
  files["/b/config"] =
      "current-context: two\nclusters: [{name: k, cluster: {server: 'https://second'}}, {name: l, cluster: {server: "
      "'https://l'}}]\n"
      "contexts: [{name: one, context: {cluster: k}}, {name: two, context: {cluster: l}}]\n";
  const std::vector<std::string> paths = {"/gone", "/a/config", "/b/config"};
  EXPECT_EQ(read_kubeconfig(paths, "", read())->server, "https://first");
  EXPECT_EQ(read_kubeconfig(paths, "two", read())->server, "https://l");
  EXPECT_EQ(read_kubeconfig(paths, "", read())->ns, "default");
}

TEST_F(ConfigTest, FindsTheConfigByFlagVariablePodAndHome) {
  std::map<std::string, std::string> set = {{"HOME", "/home-of-me"}};
  const Environment environment = [&](const std::string& name) {
    const auto found = set.find(name);
    return found == set.end() ? std::nullopt : std::optional(found->second);
  };
  const std::string text =
      "current-context: c\ncontexts: [{name: c, context: {cluster: k}}]\nclusters: [{name: k, cluster: {server: ";
  files["/home-of-me/.kube/config"] = text + "'https://home'}}]\n";
  files["/x"] = text + "'https://variable'}}]\n";
  files["/y"] = text + "'https://flag'}}]\n";
  EXPECT_EQ(find_config("", "", environment, read())->server, "https://home");
  set["KUBERNETES_SERVICE_HOST"] = "fd00::1";
  set["KUBERNETES_SERVICE_PORT"] = "443";
  EXPECT_EQ(find_config("", "", environment, read()).error().text(),
            "/var/run/secrets/kubernetes.io/serviceaccount/token: cannot be read");
  files["/var/run/secrets/kubernetes.io/serviceaccount/token"] = "t";
  files["/var/run/secrets/kubernetes.io/serviceaccount/ca.crt"] = kPem;
  files["/var/run/secrets/kubernetes.io/serviceaccount/namespace"] = "capstan-system";
  const Result<Config> pod = find_config("", "", environment, read());
  ASSERT_TRUE(pod);
  EXPECT_EQ(pod->server, "https://[fd00::1]:443");
  EXPECT_EQ(pod->ns, "capstan-system");
  EXPECT_EQ(pod->ca, kPem);
  set["KUBECONFIG"] = "/nowhere:/x";
  EXPECT_EQ(find_config("", "", environment, read())->server, "https://variable");
  EXPECT_EQ(find_config("/y", "", environment, read())->server, "https://flag");
}

TEST_F(ConfigTest, SaysWhatToDoWithoutACluster) {
  const Environment environment = [](const std::string& name) {
    return name == "HOME" ? std::optional<std::string>("/home-of-me") : std::nullopt;
  };
  const std::string text = find_config("", "", environment, read()).error().text();
  EXPECT_TRUE(text.starts_with("/home-of-me/.kube/config: cannot be read")) << text;
  EXPECT_NE(text.find("--kubeconfig or KUBECONFIG"), text.npos) << text;
  EXPECT_NE(text.find("`capstan compare`"), text.npos) << text;
}

struct Wrong {
  const char* cluster;
  const char* user;
  const char* error;
};

// Line 9 has the fields of the cluster, and line 12 has the fields of the user.
constexpr Wrong kWrong[] = {
    {"", "", "cluster \"k\": server is missing, expected a URL"},
    {"server: 1.2.3.4", "", "cluster \"k\": server is \"1.2.3.4\", expected a URL of https or http"},
    {"server: [a]", "", "cluster \"k\": server is a list, expected a string"},
    {"server: https://a, certificate-authority: no.pem", "",
     "cluster \"k\": certificate-authority: cannot read \"/k/no.pem\""},
    {"server: https://a, certificate-authority: token", "", "cluster \"k\": certificate-authority is not a PEM text"},
    {"server: https://a, certificate-authority-data: '!'", "",
     "cluster \"k\": certificate-authority-data is not base64"},
    {"server: https://a, insecure-skip-tls-verify: 1", "",
     "cluster \"k\": insecure-skip-tls-verify is \"1\", expected true or false"},
    {"server: https://a, insecure-skip-tls-verify: true, certificate-authority: ca.pem", "",
     "cluster \"k\": insecure-skip-tls-verify and certificate-authority exclude each other"},
    {"server: https://a", "client-certificate: ca.pem",
     "user \"u\": only one of client-certificate and client-key is set, expected both"},
    {"server: https://a, certificate-authority-data: aGVsbG8=", "",
     "cluster \"k\": certificate-authority-data is not a PEM text"},
    {"server: https://a, certificate-authority: key.pem", "",
     "cluster \"k\": certificate-authority has no certificate or an invalid one, expected valid certificates"},
    {"server: https://a, certificate-authority: half.pem", "",
     "cluster \"k\": certificate-authority has no certificate or an invalid one, expected valid certificates"},
    {"server: https://a, tls-server-name: 'https://b'", "",
     "cluster \"k\": tls-server-name is \"https://b\", expected the name of a host"},
    {"server: https://a, tls-server-name: 'b:443'", "",
     "cluster \"k\": tls-server-name is \"b:443\", expected the name of a host"},
    {"server: https://a, tls-server-name: [b]", "", "cluster \"k\": tls-server-name is a list, expected a string"},
    {"server: https://a, proxy-url: 'proxy:3128'", "",
     "cluster \"k\": proxy-url is \"proxy:3128\", expected a URL of https, http or socks5"},
    {"server: https://a, proxy-url: 'http://'", "",
     "cluster \"k\": proxy-url is \"http://\", expected a URL of https, http or socks5"},
    {"server: https://a", "client-certificate-data: '!', client-key: key.pem",
     "user \"u\": client-certificate-data is not base64"},
    {"server: https://a", "client-certificate: ca.pem, client-key-data: '!'",
     "user \"u\": client-key-data is not base64"},
    {"server: https://a",
     "client-certificate: ca.pem, client-key-data: aGVsbG8=", "user \"u\": client-key-data is not a PEM text"},
    {"server: https://a", "client-certificate: token, client-key: key.pem",
     "user \"u\": client-certificate is not a PEM text"},
    {"server: https://a", "client-certificate: key.pem, client-key: key.pem",
     "user \"u\": client-certificate has no certificate or an invalid one, expected valid certificates"},
    {"server: https://a", "client-certificate: ca.pem, client-key: ca.pem",
     "user \"u\": client-key has no private key or one with a password, expected a key without a password"},
    {"server: https://a", "client-certificate: ca.pem, client-key: other-key.pem",
     "user \"u\": client-key is not the key of client-certificate"},
    {"server: https://a", "username: me", "user \"u\": only one of username and password is set, expected both"},
    {"server: https://a", "password: secret", "user \"u\": only one of username and password is set, expected both"},
    {"server: https://a", "tokenFile: no", "user \"u\": tokenFile: cannot read \"/k/no\""},
    {"server: https://a", "token: {a: b}", "user \"u\": token is a mapping, expected a string"},
    {"server: https://a", "exec: get", "user \"u\": exec is \"get\", expected a mapping"},
    {"server: https://a", "exec: {apiVersion: client.authentication.k8s.io/v1alpha1, command: x}",
     "user \"u\": exec.apiVersion is \"client.authentication.k8s.io/v1alpha1\", expected "
     "client.authentication.k8s.io/v1"},
    {"server: https://a", "exec: {apiVersion: client.authentication.k8s.io/v1}", "user \"u\": exec.command is missing"},
    {"server: https://a", "exec: {apiVersion: client.authentication.k8s.io/v1, command: x, args: y}",
     "user \"u\": exec.args is \"y\", expected a list"},
    {"server: https://a", "exec: {apiVersion: client.authentication.k8s.io/v1, command: x, env: [{value: y}]}",
     "user \"u\": exec.env has an entry without a name"},
    {"server: https://a", "exec: {apiVersion: client.authentication.k8s.io/v1, command: x, interactiveMode: Always}",
     "user \"u\": exec.interactiveMode is Always, but there is no terminal; expected Never or IfAvailable"},
    {"server: https://a", "auth-provider: {name: gcp}",
     "user \"u\": auth-provider was removed from Kubernetes, expected exec"},
    {"server: https://a", "as: admin", "user \"u\": as: impersonation is not supported"},
};

TEST_F(ConfigTest, ErrorsNameThePlaceAndTheField) {
  for (const Wrong& row : kWrong) {
    SCOPED_TRACE(row.error);
    files["/k/config"] = kubeconfig(row.cluster, row.user);
    const Result<Config> config = read_kubeconfig({"/k/config"}, "", read());
    ASSERT_FALSE(config);
    EXPECT_EQ(config.error().message, row.error);
    EXPECT_EQ(config.error().file, "/k/config");
    EXPECT_GT(config.error().line, 6u);
  }
}

TEST_F(ConfigTest, AcceptsHostNamesAddressesAndProxies) {
  for (const char* fields : {"tls-server-name: api.cluster.local", "tls-server-name: 10.0.0.1",
                             "tls-server-name: 'fd00::1'", "proxy-url: 'socks5://me:secret@proxy:1080'"}) {
    files["/k/config"] = kubeconfig(std::string("server: https://a, ") + fields, "username: me, password: secret");
    const Result<Config> config = read_kubeconfig({"/k/config"}, "", read());
    EXPECT_TRUE(config) << config.error().text();
  }
}

struct WrongFile {
  const char* text;
  const char* error;
};

constexpr WrongFile kWrongFiles[] = {
    {"[", "/k/config:"},
    {"[]", "/k/config:1:1: not a kubeconfig, expected a mapping"},
    {"kind: Pod", "/k/config:1:7: kind is \"Pod\", expected Config"},
    {"", "/k/config: current-context is missing: the kubeconfig has none"},
    {"contexts: [{name: a, context: {}}]", "/k/config: current-context is missing: expected a"},
    {"current-context: b\ncontexts: [{name: a, context: {}}]", "/k/config: context \"b\" does not exist, expected a"},
    {"current-context: a\ncontexts: [{name: a, context: {}}]", "/k/config:2:31: context \"a\": cluster is missing"},
    {"current-context: a\ncontexts: [{name: a, context: {cluster: k}}]",
     "/k/config:2:31: context \"a\": cluster \"k\" does not exist, the kubeconfig has none"},
    {"current-context: a\ncontexts: [{name: a, context: {cluster: k, user: u}}]\nclusters: [{name: k, cluster: "
     "{server: 'https://a'}}]",
     "/k/config:2:31: context \"a\": user \"u\" does not exist, the kubeconfig has none"},
    {"clusters: {}", "/k/config:1:11: clusters is a mapping, expected a list"},
    {"clusters: [{cluster: {}}]", "/k/config:1:12: an entry of clusters has no name, expected one"},
    {"users: [{name: a}]", "/k/config:1:9: user \"a\": user is missing, expected a mapping"},
};

TEST_F(ConfigTest, RefusesInvalidFiles) {
  for (const WrongFile& row : kWrongFiles) {
    SCOPED_TRACE(row.text);
    files["/k/config"] = row.text;
    const Result<Config> config = read_kubeconfig({"/k/config"}, "", read());
    ASSERT_FALSE(config);
    EXPECT_TRUE(config.error().text().starts_with(row.error)) << config.error().text();
  }
  EXPECT_EQ(read_kubeconfig({"/nowhere"}, "", read()).error().text(), "/nowhere: cannot be read");
  EXPECT_FALSE(read_kubeconfig({"/nowhere", "/neither"}, "", read()));
}

}  // namespace
}  // namespace capstan::kube
