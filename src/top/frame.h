#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "top/facts.h"
#include "top/lines.h"

namespace capstan::top {

/// The order of the nodes.
enum class NodeOrder : std::uint8_t {
  id,     ///< in the order in which they joined the cluster
  free,   ///< most free GPUs first
  price,  ///< highest price first
  age,    ///< youngest first
};
inline constexpr std::size_t kNodeOrders = 4;
/// Returns "id", "free", "price" or "age".
std::string_view name(NodeOrder sort);

/// The part of the facts that a frame shows, and the form in which it shows them.
struct View {
  Output output{};
  std::size_t height = 0;  ///< lines; 0: as many as there are
  std::size_t scroll = 0;  ///< lines of the tables above the first one in view
  NodeOrder sort = NodeOrder::id;
  std::string source{};     ///< name of the file or cluster
  std::string state{};      ///< "paused"; may be empty
  std::string notice{};     ///< an error; may be empty
  bool takes_keys = false;  ///< true: the last line names the keys
};

/// Returns a frame with at most `height` lines of at most `output.width` columns. Each line ends with a newline. It
/// depends on nothing but its arguments.
std::string frame(const Facts& facts, const View& view);

/// Returns the greatest useful `scroll`: the last line of the tables is then in view.
std::size_t max_scroll(const Facts& facts, const View& view);

}  // namespace capstan::top
