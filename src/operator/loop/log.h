#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "kube/wall_time.h"

namespace capstan::op {

/// A message for the people who run Capstan.
struct LogLine {
  enum class Level : std::uint8_t { info, warning, error };
  Level level = Level::info;
  std::string message;
  std::string object{};  ///< "InferenceScaler ns/chat"; empty: none
  std::string reason{};  ///< a code; empty: none
};

/// Takes the log lines of the library. The program provides it and writes them.
using Log = std::function<void(const LogLine&)>;

/// Returns one JSON object without an end of line. Its keys are ts, level and msg, and object and reason if not empty.
std::string json_line(const LogLine& line, kube::WallTime wall);

}  // namespace capstan::op
