#include "operator/loop/log.h"

#include <string_view>

#include "kube/json.h"

namespace capstan::op {

std::string json_line(const LogLine& line, kube::WallTime wall) {
  constexpr std::string_view kLevels[] = {"info", "warning", "error"};
  std::string out = R"({"ts":")" + kube::wall_time_micros(wall) + R"(","level":")" +
                    std::string(kLevels[static_cast<std::size_t>(line.level)]) + R"(","msg":)" +
                    kube::json_quote(line.message);
  if (!line.object.empty()) out += R"(,"object":)" + kube::json_quote(line.object);
  if (!line.reason.empty()) out += R"(,"reason":)" + kube::json_quote(line.reason);
  return out + "}";
}

}  // namespace capstan::op
