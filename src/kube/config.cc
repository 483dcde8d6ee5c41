#include "kube/config.h"

#include <algorithm>
#include <map>

#include "base/file.h"
#include "kube/base64.h"
#include "kube/pem.h"
#include "manifest/fields.h"
#include "manifest/yaml.h"
#include "net/socket_address.h"

namespace capstan::kube {
namespace {

using manifest::ErrorList;

/// A named entry of a kubeconfig's list: a cluster, a user or a context.
struct Entry {
  const manifest::Node* body = nullptr;  // mapping under "cluster", "user" or "context"
  std::string directory;                 // directory of the file, with a slash at the end
};
using Entries = std::map<std::string, Entry>;

struct Merged {
  std::vector<manifest::Node> files;  // parsed files, which own the nodes of the entries
  Entries clusters;
  Entries users;
  Entries contexts;
  std::string current_context;
};

std::string in_quotes(std::string_view text) { return "\"" + std::string(text) + "\""; }

std::string directory_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == path.npos ? std::string() : path.substr(0, slash + 1);
}

std::string relative_to(const std::string& directory, const std::string& path) {
  return path.starts_with('/') ? path : directory + path;
}

/// Reads the fields of one object. Errors name the object: `user "a": token is a list, expected a string`.
class Object {
 public:
  Object(std::string title, const Entry& entry, ErrorList& errors)
      : title_(std::move(title)), entry_(entry), errors_(errors) {}

  void fail(const manifest::Node& at, const std::string& message) { errors_.fail(at.place, title_ + ": " + message); }
  void fail(const std::string& message) { fail(*entry_.body, message); }

  const manifest::Node* find(std::string_view key) const { return find_in(*entry_.body, key); }
  static const manifest::Node* find_in(const manifest::Node& node, std::string_view key) {
    const manifest::Node* value = node.find(key);
    return value != nullptr && !value->is_null() ? value : nullptr;
  }

  std::string text(std::string_view key) { return text_in(*entry_.body, key); }
  std::string text_in(const manifest::Node& node, std::string_view key) {
    const manifest::Node* value = find_in(node, key);
    if (value == nullptr) return {};
    if (value->kind != manifest::Node::Kind::scalar)
      fail(*value, std::string(key) + " is " + value->words() + ", expected a string");
    return value->text;
  }

  bool boolean(std::string_view key) {
    const manifest::Node* value = find(key);
    if (value == nullptr || value->text == "false") return false;
    if (value->text != "true") fail(*value, std::string(key) + " is " + value->words() + ", expected true or false");
    return true;
  }

  /// Returns a PEM text from the field "KEY-data" in base64, or from the file that the field KEY names.
  std::string pem(const std::string& key, const ReadFile& read_file) {
    std::string pem;
    const manifest::Node* at = find(key + "-data");
    if (at != nullptr) {
      const std::optional<std::string> bytes = base64_decode(text(key + "-data"));
      if (!bytes) fail(*at, key + "-data is not base64");
      pem = bytes.value_or("");
    } else if ((at = find(key)) != nullptr) {
      const std::string path = relative_to(entry_.directory, text(key));
      const Result<std::string> bytes = read_file(path);
      if (!bytes) fail(*at, key + ": cannot read " + in_quotes(path));
      pem = bytes.value_or("");
    }
    if (at != nullptr && !pem.contains("-----BEGIN ")) fail(*at, field_of(key) + " is not a PEM text");
    return pem;
  }

  /// Returns the name of the field that takes effect: "KEY-data" if it is present, else "KEY".
  std::string field_of(const std::string& key) const { return find(key + "-data") != nullptr ? key + "-data" : key; }

  /// Reports an error in the value of "KEY-data" or KEY.
  void fail_pem(const std::string& key, const std::string& message) { fail_at(field_of(key), message); }
  void fail_at(const std::string& field, const std::string& message) { fail(*find(field), field + " " + message); }

  /// Returns the place and the name of the first present field, or of the object if it has none of these fields. The
  /// text has the form of error messages.
  std::string where(std::initializer_list<std::string_view> fields) const {
    for (const std::string_view field : fields) {
      if (const manifest::Node* at = find(field))
        return manifest::error_at(at->place, title_ + ": " + std::string(field)).text();
    }
    return manifest::error_at(entry_.body->place, title_).text();
  }

  const std::string& directory() const { return entry_.directory; }
  ErrorList& errors() { return errors_; }

 private:
  std::string title_;
  const Entry& entry_;
  ErrorList& errors_;
};

/// Returns true if the text is a URL with one of these schemes and a host.
bool is_url(std::string_view text, std::initializer_list<std::string_view> schemes) {
  return std::ranges::any_of(schemes, [&](std::string_view scheme) {
    return text.starts_with(scheme) && text.size() > scheme.size() && text[scheme.size()] != '/';
  });
}

/// Returns true if the text can be the name of a host in a certificate: a DNS name or an IP address.
bool is_host(std::string_view text) {
  const bool plain = std::ranges::all_of(text, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.';
  });
  const bool name = plain && !text.empty() && text.size() <= 253 && text[0] != '-' && text[0] != '.';
  return name || net::parse_socket_address(net::host_and_port(text, "443")).has_value();
}

std::string without_slash(std::string url) {
  while (url.ends_with('/')) url.pop_back();
  return url;
}

void read_entries(const manifest::Node& file, const std::string& list, const std::string& kind,
                  const std::string& directory, Entries& out, ErrorList& errors) {
  const manifest::Node* entries = Object::find_in(file, list);
  if (entries == nullptr) return;
  if (entries->kind != manifest::Node::Kind::sequence) {
    return errors.fail(entries->place, list + " is " + entries->words() + ", expected a list");
  }
  for (const manifest::Node& item : entries->items) {
    const manifest::Node* name = item.find("name");
    const manifest::Node* body = item.find(kind);
    if (name == nullptr || name->kind != manifest::Node::Kind::scalar || name->text.empty()) {
      return errors.fail(item.place, "an entry of " + list + " has no name, expected one");
    }
    if (body == nullptr || (body->kind != manifest::Node::Kind::mapping && !body->is_null())) {
      return errors.fail(item.place,
                         kind + " " + in_quotes(name->text) + ": " + kind + " is missing, expected a mapping");
    }
    out.try_emplace(name->text, Entry{body, directory});
  }
}

void merge_file(const manifest::Node& file, const std::string& path, Merged& out, ErrorList& errors) {
  if (file.is_null()) return;
  if (file.kind != manifest::Node::Kind::mapping)
    return errors.fail(file.place, "not a kubeconfig, expected a mapping");
  if (const manifest::Node* kind = file.find("kind"); kind != nullptr && kind->text != "Config") {
    return errors.fail(kind->place, "kind is " + kind->words() + ", expected Config");
  }
  const std::string directory = directory_of(path);
  read_entries(file, "clusters", "cluster", directory, out.clusters, errors);
  read_entries(file, "users", "user", directory, out.users, errors);
  read_entries(file, "contexts", "context", directory, out.contexts, errors);
  const manifest::Node* current = Object::find_in(file, "current-context");
  if (current != nullptr && out.current_context.empty()) out.current_context = current->text;
}

void read_cluster(Object cluster, const ReadFile& read_file, Config& out) {
  out.server = without_slash(cluster.text("server"));
  if (out.server.empty()) {
    cluster.fail("server is missing, expected a URL");
  } else if (!is_url(out.server, {"https://", "http://"})) {
    cluster.fail("server is " + in_quotes(out.server) + ", expected a URL of https or http");
  }
  out.ca = cluster.pem("certificate-authority", read_file);
  if (!out.ca.empty() && !has_valid_certificates(out.ca)) {
    cluster.fail_pem("certificate-authority", "has no certificate or an invalid one, expected valid certificates");
  }
  out.verify = !cluster.boolean("insecure-skip-tls-verify");
  if (!out.verify && !out.ca.empty()) {
    cluster.fail("insecure-skip-tls-verify and certificate-authority exclude each other");
  }
  out.server_name = cluster.text("tls-server-name");
  if (!out.server_name.empty() && !is_host(out.server_name)) {
    cluster.fail_at("tls-server-name", "is " + in_quotes(out.server_name) + ", expected the name of a host");
  }
  out.proxy = cluster.text("proxy-url");
  if (!out.proxy.empty() && !is_url(out.proxy, {"https://", "http://", "socks5://"})) {
    cluster.fail_at("proxy-url", "is " + in_quotes(out.proxy) + ", expected a URL of https, http or socks5");
  }
  out.trust_from = cluster.where({"certificate-authority-data", "certificate-authority", "server"});
}

std::vector<std::string> read_args(Object& user, const manifest::Node& exec) {
  std::vector<std::string> args;
  if (const manifest::Node* list = Object::find_in(exec, "args")) {
    if (list->kind != manifest::Node::Kind::sequence)
      user.fail(*list, "exec.args is " + list->words() + ", expected a list");
    for (const manifest::Node& arg : list->items) args.push_back(arg.text);
  }
  return args;
}

void read_exec(Object& user, const manifest::Node& node, Config& out) {
  if (node.kind != manifest::Node::Kind::mapping)
    return user.fail(node, "exec is " + node.words() + ", expected a mapping");
  ExecConfig exec;
  exec.api_version = user.text_in(node, "apiVersion");
  if (exec.api_version != "client.authentication.k8s.io/v1" &&
      exec.api_version != "client.authentication.k8s.io/v1beta1") {
    user.fail(node, "exec.apiVersion is " + in_quotes(exec.api_version) + ", expected client.authentication.k8s.io/v1");
  }
  exec.command = user.text_in(node, "command");
  if (exec.command.empty()) user.fail(node, "exec.command is missing");
  if (exec.command.contains('/')) exec.command = relative_to(user.directory(), exec.command);
  exec.args = read_args(user, node);
  if (const manifest::Node* env = Object::find_in(node, "env")) {
    for (const manifest::Node& variable : env->items) {
      exec.env.emplace_back(user.text_in(variable, "name"), user.text_in(variable, "value"));
      if (exec.env.back().first.empty()) user.fail(variable, "exec.env has an entry without a name");
    }
  }
  if (user.text_in(node, "interactiveMode") == "Always") {
    user.fail(node, "exec.interactiveMode is Always, but there is no terminal; expected Never or IfAvailable");
  }
  exec.provide_cluster_info = user.text_in(node, "provideClusterInfo") == "true";
  exec.install_hint = user.text_in(node, "installHint");
  out.exec = std::move(exec);
}

void read_certificate(Object& user, const ReadFile& read_file, Config& out) {
  out.certificate = user.pem("client-certificate", read_file);
  out.key = user.pem("client-key", read_file);
  if (out.certificate.empty() != out.key.empty())
    user.fail("only one of client-certificate and client-key is set, expected both");
  if (out.certificate.empty() || out.key.empty() || !user.errors().ok()) return;
  if (!has_valid_certificates(out.certificate)) {
    user.fail_pem("client-certificate", "has no certificate or an invalid one, expected valid certificates");
  } else if (!has_private_key(out.key)) {
    user.fail_pem("client-key", "has no private key or one with a password, expected a key without a password");
  } else if (!key_matches(out.certificate, out.key)) {
    user.fail_pem("client-key", "is not the key of " + user.field_of("client-certificate"));
  }
}

void read_user(Object user, const ReadFile& read_file, Config& out) {
  read_certificate(user, read_file, out);
  out.token = user.text("token");
  if (const std::string path = user.text("tokenFile"); !path.empty()) {
    out.token_file = relative_to(user.directory(), path);
    if (!read_file(out.token_file)) user.fail("tokenFile: cannot read " + in_quotes(out.token_file));
  }
  out.username = user.text("username");
  out.password = user.text("password");
  if (out.username.empty() != out.password.empty())
    user.fail("only one of username and password is set, expected both");
  if (const manifest::Node* exec = user.find("exec")) read_exec(user, *exec, out);
  if (user.find("auth-provider") != nullptr) user.fail("auth-provider was removed from Kubernetes, expected exec");
  for (const char* as : {"as", "as-uid", "as-groups", "as-user-extra"}) {
    if (user.find(as) != nullptr) user.fail(std::string(as) + ": impersonation is not supported");
  }
  out.identity_from =
      user.where({"tokenFile", "exec", "token", "username", "client-certificate-data", "client-certificate"});
}

std::string names_of(const Entries& entries) {
  std::vector<std::string_view> names;
  for (const auto& [name, entry] : entries) names.push_back(name);
  return names.empty() ? std::string("the kubeconfig has none") : "expected " + manifest::one_of(names);
}

const Entry* find_entry(const Entries& entries, const std::string& kind, const std::string& name, Object* in,
                        ErrorList& errors) {
  const auto found = entries.find(name);
  if (found != entries.end()) return &found->second;
  const std::string message = kind + " " + in_quotes(name) + " does not exist, " + names_of(entries);
  if (in != nullptr) {
    in->fail(message);
  } else {
    errors.fail({}, message);
  }
  return nullptr;
}

void resolve(const Merged& merged, const std::string& context_name, const ReadFile& read_file, Config& out,
             ErrorList& errors) {
  out.context = context_name.empty() ? merged.current_context : context_name;
  if (out.context.empty()) return errors.fail({}, "current-context is missing: " + names_of(merged.contexts));
  const Entry* entry = find_entry(merged.contexts, "context", out.context, nullptr, errors);
  if (entry == nullptr) return;
  Object context("context " + in_quotes(out.context), *entry, errors);
  const std::string cluster = context.text("cluster");
  const std::string user = context.text("user");
  if (const std::string ns = context.text("namespace"); !ns.empty()) out.ns = ns;
  if (cluster.empty()) return context.fail("cluster is missing");
  if (const Entry* found = find_entry(merged.clusters, "cluster", cluster, &context, errors)) {
    read_cluster(Object("cluster " + in_quotes(cluster), *found, errors), read_file, out);
  }
  out.identity_from = context.where({}) + ": no user";
  if (user.empty()) return;  // some clusters allow anonymous requests
  if (const Entry* found = find_entry(merged.users, "user", user, &context, errors)) {
    read_user(Object("user " + in_quotes(user), *found, errors), read_file, out);
  }
}

std::vector<std::string> split_paths(const std::string& list) {
  std::vector<std::string> paths;
  for (std::size_t at = 0; at <= list.size();) {
    const std::size_t end = std::min(list.find(':', at), list.size());
    const std::string path = list.substr(at, end - at);
    if (!path.empty() && std::ranges::find(paths, path) == paths.end()) paths.push_back(path);
    at = end + 1;
  }
  return paths;
}

}  // namespace

Result<std::string> read_file_from_disk(const std::string& path) {
  std::expected<std::string, FileFault> text = read_file(path, std::string::npos);
  if (!text) return std::unexpected(Error::about(path, "cannot be read"));
  return std::move(*text);
}

Result<Config> read_kubeconfig(const std::vector<std::string>& paths, const std::string& context,
                               const ReadFile& read_file) {
  Merged merged;
  ErrorList errors;
  merged.files.reserve(paths.size());
  std::size_t found = 0;
  for (const std::string& path : paths) {
    const Result<std::string> text = read_file(path);
    if (!text && paths.size() == 1) return std::unexpected(text.error());
    if (!text) continue;
    ++found;
    if (text->find_first_not_of(" \t\r\n") == text->npos) continue;
    Result<manifest::Node> file = manifest::parse(*text, path);
    if (!file) return std::unexpected(file.error());
    merged.files.push_back(std::move(*file));
    merge_file(merged.files.back(), path, merged, errors);
  }
  if (found == 0)
    return std::unexpected(Error::about({}, "no kubeconfig: none of the files in KUBECONFIG can be read"));
  Config config;
  if (errors.ok()) resolve(merged, context, read_file, config, errors);
  if (!errors.ok()) {
    if (errors.error->file.empty()) errors.error->file = paths.front();
    return std::unexpected(*errors.error);
  }
  return config;
}

Result<Config> in_cluster_config(const Environment& environment, const ReadFile& read_file) {
  const std::string mount = "/var/run/secrets/kubernetes.io/serviceaccount/";
  const std::optional<std::string> host = environment("KUBERNETES_SERVICE_HOST");
  const std::optional<std::string> port = environment("KUBERNETES_SERVICE_PORT");
  if (!host || host->empty() || !port || port->empty()) {
    return std::unexpected(
        Error::about({}, "not in a pod: KUBERNETES_SERVICE_HOST or KUBERNETES_SERVICE_PORT is not set"));
  }
  Config config;
  config.context = "in-cluster";
  config.server = "https://" + net::host_and_port(*host, *port);
  config.token_file = mount + "token";
  if (const Result<std::string> token = read_file(config.token_file); !token) return std::unexpected(token.error());
  const Result<std::string> ca = read_file(mount + "ca.crt");
  if (!ca) return std::unexpected(ca.error());
  config.ca = *ca;
  config.trust_from = mount + "ca.crt";
  config.identity_from = config.token_file;
  if (const Result<std::string> ns = read_file(mount + "namespace"); ns && !ns->empty()) config.ns = *ns;
  return config;
}

Result<Config> find_config(const std::string& path, const std::string& context, const Environment& environment,
                           const ReadFile& read_file) {
  if (!path.empty()) return read_kubeconfig({path}, context, read_file);
  if (const auto list = environment("KUBECONFIG"); list && !split_paths(*list).empty()) {
    return read_kubeconfig(split_paths(*list), context, read_file);
  }
  if (context.empty() && environment("KUBERNETES_SERVICE_HOST")) return in_cluster_config(environment, read_file);
  const std::string usual = environment("HOME").value_or("") + "/.kube/config";
  if (!read_file(usual)) {
    // Without a stated file the user may not expect that a cluster is needed.
    return std::unexpected(Error::about(
        usual,
        "cannot be read, expected access to a cluster: name a kubeconfig with --kubeconfig or KUBECONFIG; without a "
        "cluster, `capstan compare` and `capstan top` simulate a scenario"));
  }
  return read_kubeconfig({usual}, context, read_file);
}

}  // namespace capstan::kube
