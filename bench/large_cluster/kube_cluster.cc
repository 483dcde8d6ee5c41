#include "large_cluster/kube_cluster.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <string>

#include "base/assert.h"
#include "kube/json.h"
#include "kube/store.h"
#include "model/signal_names.h"
#include "operator/view/scaler_view.h"

namespace capstan::bench {
namespace {

constexpr const char* kCreated = "2026-11-21T16:00:00Z";

/// Returns the two node classes of a pod class as a list of JSON strings.
std::string classes_of(std::uint32_t pod_class) {
  return fmt::format(R"("c{}","c{}")", pod_class, (pod_class + 1) % kClasses);
}

std::string pod_spec(std::uint32_t service, const std::string& node) {
  const std::string bound = node.empty() ? "" : fmt::format(R"("nodeName":"{}",)", node);
  return fmt::format(
      R"({{{}"schedulerName":"capstan","affinity":{{"nodeAffinity":{{"requiredDuringSchedulingIgnoredDuringExecution":)"
      R"({{"nodeSelectorTerms":[{{"matchExpressions":[{{"key":"node-class","operator":"In","values":[{}]}}]}}]}}}}}},)"
      R"("containers":[{{"name":"engine","image":"vllm","ports":[{{"name":"http","containerPort":8000}}],"resources":)"
      R"({{"requests":{{"nvidia.com/gpu":"{}m","cpu":"4","memory":"32Gi"}}}}}}]}})",
      bound, classes_of(service % kClasses), shape_of(service).gpus_per_pod.count);
}

std::string pod_name(const Gang& gang, std::uint32_t index) {
  return fmt::format("s{}-{}-{}", gang.service, gang.ordinal, index);
}

/// Returns the annotation that keeps a gang inside one domain of the level. Returns an empty text for level `cluster`,
/// because a gang that may be anywhere in the cluster needs no annotation.
std::string topology_of(model::TopologyLevel level) {
  using enum model::TopologyLevel;
  const char* label = level == node     ? "kubernetes.io/hostname"
                      : level == nvlink ? "nvidia.com/gpu.clique"
                      : level == rack   ? "topology.kubernetes.io/rack"
                      : level == zone   ? "topology.kubernetes.io/zone"
                                        : "";
  return *label == '\0' ? "" : fmt::format(R"(,"capstan.dev/gang-topology":"{}")", label);
}

template <typename View>
class Objects {
 public:
  using Read = View (*)(kube::Json);
  explicit Objects(Read read) : store_(read) {}
  void set(const std::string& text) {
    const Result<kube::Json> object = document_.parse(text);
    CAPSTAN_ASSERT(object.has_value() && store_.set(*object));
  }
  void erase(const std::string& ns, const std::string& name) {
    const Result<kube::Json> object =
        document_.parse(fmt::format(R"({{"metadata":{{"name":"{}","namespace":"{}"}}}})", name, ns));
    CAPSTAN_ASSERT(object.has_value());
    store_.erase(*object);
  }
  const kube::StoreSnapshot<View>& snapshot() const { return store_.snapshot(); }

 private:
  kube::Store<View> store_;
  kube::JsonDocument document_;
};

}  // namespace

struct KubeCluster::Stores {
  Objects<op::InferenceScaler> scalers{op::read_inference_scaler};
  Objects<op::FleetPolicy> fleet{op::read_fleet_policy};
  Objects<kube::Workload> leader_worker_sets{kube::read_leader_worker_set};
  Objects<kube::Pod> pods{kube::read_pod};
  Objects<kube::Node> nodes{kube::read_node};
};

KubeCluster::KubeCluster(const Layout& layout) : layout_(layout), stores_(std::make_unique<Stores>()) {
  stores_->fleet.set(
      R"({"metadata":{"name":"default"},"spec":{"layers":{"replicas":"Active","placement":"Active","nodes":"Off"}}})");
  add_services();
  add_nodes();
  add_pods();
}

KubeCluster::~KubeCluster() = default;

op::ClusterView KubeCluster::view() const {
  op::ClusterView view;
  view.scalers = stores_->scalers.snapshot();
  view.fleet = stores_->fleet.snapshot();
  view.leader_worker_sets = stores_->leader_worker_sets.snapshot();
  view.pods = stores_->pods.snapshot();
  view.nodes = stores_->nodes.snapshot();
  view.scaled = std::make_shared<const op::ScaledTargets>();
  return view;
}

void KubeCluster::add_services() {
  std::map<std::uint32_t, std::uint32_t> replicas;
  for (const Gang& gang : layout_.gangs) ++replicas[gang.service];
  for (std::uint32_t s = 0; s < kServices; ++s) {
    const std::string meta = fmt::format(R"("metadata":{{"name":"s{0}","namespace":"ns","uid":"service-{0}",)"
                                         R"("resourceVersion":"{1}","creationTimestamp":"{2}")",
                                         s, ++version_, kCreated);
    stores_->leader_worker_sets.set(fmt::format(
        R"({{"kind":"LeaderWorkerSet",{}}},"spec":{{"replicas":{},"leaderWorkerTemplate":{{"size":{},"workerTemplate":)"
        R"({{"metadata":{{"labels":{{"app":"s{}"}}}},"spec":{}}}}}}}}})",
        meta, replicas[s], shape_of(s).pods, s, pod_spec(s, "")));
    stores_->scalers.set(fmt::format(
        R"({{{}}},"spec":{{"model":"Llama-3.1-8B","mode":"Active","slo":{{"ttft":"1s"}},"roles":[{{"role":"both",)"
        R"("variants":[{{"gpu":"H100","minReplicas":1,"maxReplicas":100000,"targetRef":{{"apiVersion":)"
        R"("leaderworkerset.x-k8s.io/v1","kind":"LeaderWorkerSet","name":"s{}"}}}}]}}]}}}})",
        meta, s));
  }
}

void KubeCluster::add_nodes() {
  for (std::uint32_t n = 0; n < layout_.nodes; ++n) set_node(n);
}

/// Sets a node. A node after the last node of the layout has the labels of the first node.
void KubeCluster::set_node(std::uint32_t n) {
  const std::uint32_t like = n % layout_.nodes;
  stores_->nodes.set(fmt::format(
      R"({{"metadata":{{"name":"node-{0}","uid":"node-{0}","resourceVersion":"{1}",)"
      R"("creationTimestamp":"{2}","labels":)"
      R"({{"node-class":"c{3}","karpenter.sh/nodepool":"class-{3}",)"
      R"("node.kubernetes.io/instance-type":"gpu8.class-{3}",)"
      R"("nvidia.com/gpu.product":"NVIDIA-H100-80GB-HBM3","nvidia.com/gpu.clique":"block-{4}",)"
      R"("topology.kubernetes.io/rack":"rack-{5}","topology.kubernetes.io/zone":"zone-{6}",)"
      R"("kubernetes.io/hostname":"node-{0}"}}}},"spec":{{}},"status":{{"allocatable":{{"nvidia.com/gpu":"8",)"
      R"("cpu":"192","memory":"2000Gi","pods":"110"}},"conditions":[{{"type":"Ready","status":"True"}}]}}}})",
      n, ++version_, kCreated, class_of_node(like), block_of(like), rack_of(like), zone_of(like, layout_.nodes)));
}

void KubeCluster::add_pods() {
  op::Readings::Map readings;
  for (std::uint32_t g = 0; g < layout_.gangs.size(); ++g) {
    const Gang& gang = layout_.gangs[g];
    for (std::uint32_t p = 0; p < shape_of(gang.service).pods; ++p) set_pod(gang, p, !gang.nodes.empty());
    if (gang.nodes.empty()) continue;
    model::ReplicaSignals& signals = readings[fmt::format("pod-{}-{}-0", gang.service, gang.ordinal)];
    for (const model::ReplicaSignal& signal : model::kReplicaSignals) {
      signals.*signal.field = model::Signal::measured(g % 50, std::chrono::seconds(1));
    }
  }
  readings_ = op::Readings(std::move(readings));
}

void KubeCluster::set_pod(const Gang& gang, std::uint32_t index, bool is_ready) {
  const Shape& shape = shape_of(gang.service);
  const std::string node = gang.nodes.empty() ? "" : fmt::format("node-{}", gang.nodes[index]);
  const char* status = gang.nodes.empty() ? R"({"phase":"Pending"})"
                       : is_ready         ? R"({"phase":"Running","conditions":[{"type":"Ready","status":"True"}]})"
                                          : R"({"phase":"Running","conditions":[{"type":"Ready","status":"False"}]})";
  stores_->pods.set(fmt::format(
      R"({{"metadata":{{"name":"s{0}-{1}-{2}","namespace":"ns","uid":"pod-{0}-{1}-{2}","resourceVersion":"{3}",)"
      R"("creationTimestamp":"{4}","labels":{{"app":"s{0}","leaderworkerset.sigs.k8s.io/name":"s{0}",)"
      R"("leaderworkerset.sigs.k8s.io/group-index":"{1}","leaderworkerset.sigs.k8s.io/worker-index":"{2}"}},)"
      R"("annotations":{{"leaderworkerset.sigs.k8s.io/size":"{5}"{6}}}}},"spec":{7},"status":{8}}})",
      gang.service, gang.ordinal, index, ++version_, kCreated, shape.pods, topology_of(shape.required_level),
      pod_spec(gang.service, node), status));
}

void KubeCluster::change_pods(std::uint32_t pods) {
  if (pods > 0) changed_pods_are_ready_ = !changed_pods_are_ready_;
  for (const Gang& gang : layout_.gangs) {
    if (gang.nodes.size() != 1) continue;
    if (pods-- == 0) return;
    set_pod(gang, 0, changed_pods_are_ready_);
  }
}

void KubeCluster::create_pods(std::uint32_t pods) {
  constexpr std::uint32_t kSmallShapes[] = {0, 1, 2, 10};  // shapes of one or two pods
  constexpr std::uint32_t kFirstOrdinal = 1'000'000;       // ordinal above all ordinals of the layout
  while (pods > 0) {
    const std::uint32_t turn = created_count_++;
    const std::uint32_t shape = kSmallShapes[turn % std::size(kSmallShapes)];
    const std::uint32_t service = service_of(shape, turn / 4 % kClasses);
    const Gang& gang = created_.emplace_back(Gang{service, kFirstOrdinal + turn, {}});
    const std::uint32_t in_gang = shape_of(service).pods;
    for (std::uint32_t p = 0; p < in_gang; ++p) set_pod(gang, p, false);
    pods -= std::min(pods, in_gang);
  }
}

void KubeCluster::bind_created_gangs(std::uint32_t pods) {
  for (Gang& gang : created_) {
    if (pods == 0) return;
    if (!gang.nodes.empty()) continue;
    const std::uint32_t in_gang = shape_of(gang.service).pods;
    gang.nodes.assign(in_gang, gang.ordinal * 97 % layout_.nodes);
    for (std::uint32_t p = 0; p < in_gang; ++p) set_pod(gang, p, false);
    pods -= std::min(pods, in_gang);
  }
}

void KubeCluster::delete_created_gangs(std::uint32_t pods) {
  while (pods > 0 && !created_.empty()) {
    const Gang& gang = created_.front();
    const std::uint32_t in_gang = shape_of(gang.service).pods;
    for (std::uint32_t p = 0; p < in_gang; ++p) stores_->pods.erase("ns", pod_name(gang, p));
    created_.pop_front();
    pods -= std::min(pods, in_gang);
  }
}

void KubeCluster::create_foreign_pods(std::uint32_t pods) {
  for (std::uint32_t p = 0; p < pods; ++p) {
    const std::string& name = foreign_pods_.emplace_back(fmt::format("job-{}", p));
    stores_->pods.set(
        fmt::format(R"({{"metadata":{{"name":"{0}","namespace":"jobs","uid":"{0}-{1}","resourceVersion":"{1}",)"
                    R"("creationTimestamp":"{2}"}},"spec":{{"nodeName":"node-{3}","schedulerName":"default-scheduler",)"
                    R"("containers":[{{"name":"job","resources":)"
                    R"({{"requests":{{"nvidia.com/gpu":"1","cpu":"4","memory":"32Gi"}}}}}}]}},)"
                    R"("status":{{"phase":"Running"}}}})",
                    name, ++version_, kCreated, p * 97 % layout_.nodes));
  }
}

void KubeCluster::delete_foreign_pods() {
  for (const std::string& name : foreign_pods_) stores_->pods.erase("jobs", name);
  foreign_pods_.clear();
}

void KubeCluster::add_node() { set_node(layout_.nodes); }
void KubeCluster::remove_node() { stores_->nodes.erase("", fmt::format("node-{}", layout_.nodes)); }

}  // namespace capstan::bench
