#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace capstan::explain {

/// Stages that a signal passes on its way from the API server to the snapshot. A signal can be lost at each stage. The
/// comment of a stage states the condition under which a signal passes it.
enum class SignalStage : std::uint8_t {
  access,      ///< the API server allows Capstan to read the objects (RBAC)
  target,      ///< the InferenceScaler and the workload that it names exist
  pod,         ///< pods of the workload run and are ready
  port,        ///< a pod answers on the port and path that are scraped
  page,        ///< the answer is a readable page of metrics
  names,       ///< the page has the metrics of the needed signals
  model,       ///< the series belong to the model and the pod of the service
  prometheus,  ///< the Prometheus server answers, and its target is up; only if the service reads from one
  adapter,     ///< the metrics API serves the metric of an HPA; only if an HPA is involved
  snapshot,    ///< the values are usable: fresh and in range
};
inline constexpr std::size_t kSignalStages = 10;
std::string_view name(SignalStage stage);

/// A metric that a signal needs and that the page does not have under any known name.
struct LostMetric {
  std::string signal;              ///< signal in words: "KV cache use"
  std::vector<std::string> known;  ///< names of the metric that Capstan knows, newest first
  std::string similar;             ///< a metric on the page with a similar name; empty: none
  std::string custom_field{};      ///< its field in spec.signals.custom, such as "kvUsage"; empty: none
};

/// Facts about one pod and the page of its engine.
struct PodFacts {
  std::string name;
  bool ready = true;
  std::string not_ready{};                    ///< reason why it is not ready, such as "CrashLoopBackOff"; may be empty
  std::string url{};                          ///< address that is scraped; empty: the pod has none
  std::vector<std::string> declared_ports{};  ///< ports of its containers: "8000 (http)"
  std::string error{};                        ///< error of the connection; empty: the pod answered
  int http_status = 200;
  std::string bad_page{};           ///< error of the page with its line; empty: it is readable
  std::string engine{};             ///< engine, recognized from the metric names; empty: unknown
  std::string expected_engine{};    ///< engine that the service states; empty: none
  std::size_t metrics = 0;          ///< metric names on the page
  std::vector<LostMetric> lost{};   ///< needed signals without a metric
  std::vector<std::string> models;  ///< models whose series are on the page
  std::string other_pod{};          ///< pod that the series name, if it is not this one; empty otherwise
};

/// Facts about a Prometheus server.
struct PrometheusFacts {
  std::string url;
  std::string error{};  ///< error of the connection or of the query; empty: the server answered
  int http_status = 200;
  std::int64_t targets_up = 0;
  std::int64_t targets_down = 0;
  std::string down_target{};  ///< one target that is down, with its last error
  bool has_series = true;     ///< true: the server has series of the service, inside the lookback
  std::string selector{};     ///< matchers of the query
};

/// Facts about the metric that an HPA reads.
struct AdapterFacts {
  std::string metric;
  bool api_registered = true;  ///< an APIService for the custom or external metrics API exists and is available
  bool metric_served = true;   ///< the adapter has a rule for the metric
  bool has_value = true;       ///< the API gives a value for the pods of the target
  std::string error{};         ///< answer of the API, if it is an error
  std::string unread{};        ///< reason why the API could not be asked, such as RBAC; empty: it was asked
};

/// A signal whose value cannot be used.
struct UnusableSignal {
  std::string pod;
  std::string signal;  ///< signal in words: "KV cache use"
  std::string why;     ///< "the value is NaN or infinite"
};

/// A request to the API server that failed, or was not answered in time.
struct UnreadObjects {
  std::string objects;  ///< "pods" or "deployments.apps"
  int http_status = 0;  ///< status of the answer; 0: there was no answer
  std::string error;    ///< answer of the server, or error of the connection
};

/// Everything that was gathered about the signals of one service.
struct SignalFacts {
  std::string service;
  std::string model{};                  ///< name that the service expects; empty: any
  std::vector<UnreadObjects> unread{};  ///< objects that could not be read, each with the reason
  std::string target{};                 ///< "Deployment ns/chat"; empty: only a page or a URL was given
  std::string target_missing{};         ///< reason why the target does not exist; empty: it exists
  std::vector<PodFacts> pods;
  std::optional<PrometheusFacts> prometheus{};
  std::optional<AdapterFacts> adapter{};
  std::vector<UnusableSignal> unusable;
};

/// One stage, and whether the signal passes it.
struct StageResult {
  enum class State : std::uint8_t { passed, failed, unknown };
  SignalStage stage{};
  State state = State::unknown;
  std::string text;
};

/// The stages in order, and the remedy for the first broken one.
struct SignalPath {
  std::vector<StageResult> stages;
  std::optional<SignalStage> broken{};
  std::string remedy{};  ///< instruction; empty: no stage is broken
};

/// Finds the first stage at which a signal is lost. Later stages are unknown, because no signal reached them.
SignalPath signal_path(const SignalFacts& facts);

/// Returns one line for each stage, with a mark, and the remedy if a stage is broken. Ends with an end of line.
std::string text(const SignalPath& path);

}  // namespace capstan::explain
