// Reads any bytes, in pieces of any size, as the answer of an API server to a list or a watch.
#include "base/assert.h"
#include "kube/client.h"
#include "kube/network_views.h"
#include "kube/node_views.h"
#include "kube/pod_view.h"
#include "kube/scheduling_views.h"
#include "kube/watcher.h"
#include "kube/workload_views.h"

namespace capstan::kube {
namespace {

/// A transport that answers the first request with the given bytes and no later request.
struct Feeder : net::Transport {
  net::Handler handler;
  net::RequestId last = 0;
  bool open = false;

  net::RequestId start(net::Request, net::Handler h) override {
    if (++last == 1) {
      handler = std::move(h);
      open = true;
    }
    return last;
  }
  void cancel(net::RequestId id) override { open = open && id != 1; }

  void feed(std::string_view bytes, std::size_t piece) {
    if (!open) return;
    net::Exchange exchange;
    exchange.sent = true;
    exchange.response.status = 200;
    if (handler.on_headers) handler.on_headers(exchange.response);
    if (!handler.on_body) exchange.response.body = bytes;
    for (std::size_t at = 0; handler.on_body && open && at < bytes.size(); at += piece) {
      handler.on_body(bytes.substr(at, piece));
    }
    if (std::exchange(open, false)) handler.on_done(std::move(exchange));
  }
};

template <typename View>
void run(View (*read)(Json), bool watch_list, std::string_view bytes, std::size_t piece) {
  Config config;
  config.server = "https://a";
  Credentials credentials(config, read_file_from_disk, nullptr, [] { return WallTime{1}; });
  const net::Clock clock = [] { return Instant{}; };
  Feeder feeder;
  Client client(feeder, credentials, clock, RandomStream(1, "client"), Client::Options());
  JsonDocument document;
  Store<View> store(read);
  Reflector::Options options;
  options.watch_list = watch_list;
  Watcher watcher(client, document, {resources::kPods}, store, options, RandomStream(1, "watcher"), clock);
  watcher.run_once();
  client.run_once();
  feeder.feed(bytes, piece);
  store.snapshot().for_each([](RowId, const View& view) { CAPSTAN_ASSERT(!view.meta.name.empty()); });
  CAPSTAN_ASSERT(store.take_changes().size() <= bytes.size());
}

}  // namespace
}  // namespace capstan::kube

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace capstan::kube;
  if (size < 2) return 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 2, size - 2);
  const std::size_t piece = 1 + data[1];
  const bool watch_list = (data[0] & 1) != 0;
  switch (data[0] / 2 % 12) {
    case 0:
      run(read_pod, watch_list, bytes, piece);
      break;
    case 1:
      run(read_node, watch_list, bytes, piece);
      break;
    case 2:
      run(read_node_claim, watch_list, bytes, piece);
      break;
    case 3:
      run(read_node_pool, watch_list, bytes, piece);
      break;
    case 4:
      run(read_workload, watch_list, bytes, piece);
      break;
    case 5:
      run(read_leader_worker_set, watch_list, bytes, piece);
      break;
    case 6:
      run(read_scaled_object, watch_list, bytes, piece);
      break;
    case 7:
      run(read_horizontal_pod_autoscaler, watch_list, bytes, piece);
      break;
    case 8:
      run(read_endpoint_slice, watch_list, bytes, piece);
      break;
    case 9:
      run(read_kai_pod_group, watch_list, bytes, piece);
      break;
    case 10:
      run(read_kai_queue, watch_list, bytes, piece);
      break;
    default:
      run(read_pod_disruption_budget, watch_list, bytes, piece);
      break;
  }
  return 0;
}
