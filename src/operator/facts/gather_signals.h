#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/error.h"
#include "explain/signal_report.h"
#include "kube/session.h"

namespace capstan::op {

/// The service whose signals are explained, or the page of metrics.
struct SignalQuestion {
  std::string service{};             ///< name of an InferenceScaler, "chat" or "ns/chat"; unused with a page or a URL
  std::string page{};                ///< file with a page of metrics
  std::string url{};                 ///< address of a page of metrics
  kube::ClusterArguments cluster{};  ///< used without a page and a URL
  std::string model{};               ///< expected model of the page or URL; empty: any
  std::string engine{};              ///< engine of the page or URL; empty: recognized
  std::int64_t max_sequences = 0;    ///< sequences that the engine of the page may run; 0: its default
  std::string prometheus{};          ///< server to ask for GPU duty and the gateway's queue; empty: the service's
};

/// Gathers the facts from a cluster: its objects, the pages of the pods (or the answers of the Prometheus server, if
/// the service names one), and the metrics API. It writes nothing.
/// @param is_stopped  returns true if the user has interrupted the command
Result<explain::GatheredSignals> gather_from_cluster(const SignalQuestion& question,
                                                     const std::function<bool()>& is_stopped);
/// Gathers the facts from one page in a file, or at a URL that is read twice.
Result<explain::GatheredSignals> gather_from_page(const SignalQuestion& question);

}  // namespace capstan::op
