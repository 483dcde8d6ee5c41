#include "cli/endpoint_feed.h"

#include <poll.h>

#include <set>
#include <utility>

#include "cli/stop_signal.h"
#include "cli/terminal.h"
#include "emulator/address_feed.h"
#include "kube/service_endpoints.h"
#include "kube/session.h"
#include "net/monotonic.h"

namespace capstan::cli {
namespace {

/// Follows the EndpointSlices of a Service at an API server.
class ServiceFeed final : public EndpointFeed {
 public:
  ServiceFeed(std::unique_ptr<kube::Session> session, kube::ServiceName service)
      : session_(std::move(session)),
        endpoints_(session_->client, std::move(service), RandomStream(session_->random.bits(), "endpoints"),
                   session_->clock) {}

  Result<std::vector<std::string>> first() override {
    const Instant end = session_->clock() + kFirstMax;
    while (stop_signals() == 0 && !endpoints_.synced()) {
      if (session_->clock() >= end) return std::unexpected(Error{.file = {}, .message = endpoints_.sync_problem()});
      run_once(kPollInterval);
    }
    auto change = endpoints_.take_change();
    if (!change) return std::unexpected(change.error());
    return change->value_or(std::vector<std::string>());
  }

  std::optional<std::vector<std::string>> poll_changes() override {
    run_once(Duration{});
    auto change = endpoints_.take_change();
    if (change) return *change;
    report(change.error());
    return std::nullopt;
  }

 private:
  void run_once(Duration timeout) {
    endpoints_.run_once();
    session_->client.run_once();
    session_->http.run_once(timeout);
  }

  std::unique_ptr<kube::Session> session_;
  kube::ServiceEndpoints endpoints_;
};

/// Follows a list of addresses in a file or on standard input.
class ListFeed final : public EndpointFeed {
 public:
  explicit ListFeed(emulator::AddressFeed addresses) : addresses_(std::move(addresses)) {}

  Result<std::vector<std::string>> first() override {
    const net::Clock clock = net::machine_clock();
    const Instant end = clock() + kFirstMax;
    while (stop_signals() == 0 && known_.empty() && clock() < end) {
      const auto change = addresses_.poll_changes();
      if (!change) return std::unexpected(change.error());
      learn(*change);
      if (known_.empty()) poll(nullptr, 0, static_cast<int>(kPollInterval / std::chrono::milliseconds(1)));
    }
    return urls();
  }

  std::optional<std::vector<std::string>> poll_changes() override {
    const auto change = addresses_.poll_changes();
    if (!change) {
      report(change.error());
      return std::nullopt;
    }
    if (change->added.empty() && change->removed.empty()) return std::nullopt;
    learn(*change);
    return urls();
  }

 private:
  void learn(const emulator::AddressFeed::Change& change) {
    known_.insert(change.added.begin(), change.added.end());
    for (const net::SocketAddress& address : change.removed) known_.erase(address);
  }
  std::vector<std::string> urls() const {
    std::vector<std::string> urls;
    for (const net::SocketAddress& address : known_) urls.push_back("http://" + address.text());
    return urls;
  }

  emulator::AddressFeed addresses_;
  std::set<net::SocketAddress> known_;
};

}  // namespace

Result<std::unique_ptr<EndpointFeed>> open_endpoint_feed(const EngineLoadArguments& arguments) {
  if (!arguments.endpoint_file.empty()) {
    Result<emulator::AddressFeed> addresses = emulator::AddressFeed::open({}, arguments.endpoint_file);
    if (!addresses) return std::unexpected(addresses.error());
    return std::make_unique<ListFeed>(std::move(*addresses));
  }
  if (arguments.service.empty()) return nullptr;
  Result<kube::ServiceName> service = kube::parse_service_name(arguments.service);
  if (!service) {
    service.error().file = "--service";
    return std::unexpected(service.error());
  }
  Result<std::unique_ptr<kube::Session>> session = kube::open_session(arguments.cluster);
  if (!session) return std::unexpected(session.error());
  if (service->ns.empty()) service->ns = (*session)->ns;
  return std::make_unique<ServiceFeed>(std::move(*session), std::move(*service));
}

}  // namespace capstan::cli
