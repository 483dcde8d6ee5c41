#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "kube/wall_time.h"

namespace capstan::op {

/// Something worth telling whoever runs Capstan.
struct LogLine {
  enum class Level : std::uint8_t { info, warning, error };
  Level level = Level::info;
  std::string message;
  std::string object{};  ///< "InferenceScaler ns/chat"; empty: none
  std::string reason{};  ///< a code; empty: none
};

/// Where lines go. The library tells, the program writes.
using Log = std::function<void(const LogLine&)>;

/// One JSON object without an end of line: ts, level, msg, and where there are any object and reason.
std::string json_line(const LogLine& line, kube::WallTime wall);

}  // namespace capstan::op
