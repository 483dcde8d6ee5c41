#pragma once

#include <string>
#include <vector>

#include "base/error.h"
#include "cli/commands.h"
#include "explain/signal_path.h"
#include "explain/slow_replica.h"
#include "kube/session.h"

namespace capstan::cli {

struct ExplainSignalsArguments {
  std::string service{};             ///< name of an InferenceScaler, "chat" or "ns/chat"; unused with a page or a URL
  std::string page{};                ///< file with a page of metrics
  std::string url{};                 ///< address of a page of metrics
  kube::ClusterArguments cluster{};  ///< used without a page and a URL
  std::string model{};               ///< expected model of the page or URL; empty: any
  std::string engine{};              ///< engine of the page or URL; empty: recognized
  std::int64_t max_sequences = 0;    ///< sequences that the engine of the page may run; 0: its default
  std::string prometheus{};          ///< server to ask for GPU duty and the gateway's queue; empty: the service's
  Output output = Output::text;
};
/// Prints the stages that the signals of a service pass, the first stage at which a signal is lost, and the bottleneck
/// of the slowest replica. Returns exit code 2 if a signal is lost.
ExitCode explain_signals(const ExplainSignalsArguments& arguments);

/// The load of one pod.
struct PodLoad {
  std::string pod;
  explain::ReplicaLoad load;
};

/// Facts about a service and about the load of its pods.
struct GatheredSignals {
  explain::SignalFacts facts;
  std::vector<PodLoad> loads;
};

/// Gathers the facts from a cluster: objects, pages of the pods, and the Prometheus server if the service names one.
/// It writes nothing.
Result<GatheredSignals> gather_from_cluster(const ExplainSignalsArguments& arguments);
/// Gathers the facts from one page in a file, or at a URL that is read twice.
Result<GatheredSignals> gather_from_page(const ExplainSignalsArguments& arguments);

/// Returns the load with the most waiting requests, which is the most likely to be slow; null without any.
const PodLoad* slowest(const std::vector<PodLoad>& loads);
/// Returns the answer as text or as a JSON document, with an end of line.
std::string signals_text(const GatheredSignals& gathered);
std::string signals_json(const GatheredSignals& gathered);

}  // namespace capstan::cli
