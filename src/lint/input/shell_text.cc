#include "lint/input/shell_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>

#include "lint/contains.h"
#include "lint/rules.h"

namespace capstan::lint {
namespace {

/// The profile of each number in `nvidia-smi mig -cgi` on GPUs with eight memory slots: A100, H100, H200, B200.
struct ProfileId {
  int id;
  std::string_view name;
  int max_count;
};
constexpr std::array<ProfileId, 7> kProfiles = {{{19, "1g", 7},
                                                 {20, "1g+me", 1},
                                                 {15, "1g with twice the memory", 4},
                                                 {14, "2g", 3},
                                                 {9, "3g", 2},
                                                 {5, "4g", 1},
                                                 {0, "7g", 1}}};

/// Counts the numbers in a list such as "9,9,9". Returns nothing if the list has anything else.
std::map<int, int> counts_of(std::string_view list) {
  std::map<int, int> counts;
  while (!list.empty()) {
    const std::string_view word = list.substr(0, list.find(','));
    int id = 0;
    const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), id);
    if (error != std::errc() || end != word.data() + word.size()) return {};
    ++counts[id];
    list.remove_prefix(std::min(list.size(), word.size() + 1));
  }
  return counts;
}

void check_instances(std::size_t at, std::string_view list, Reading& out) {
  for (const auto& [id, count] : counts_of(list)) {
    const auto profile = std::ranges::find(kProfiles, id, &ProfileId::id);
    if (profile == kProfiles.end() || count <= profile->max_count) continue;
    const auto begin = static_cast<std::uint32_t>(at);
    add_finding(out, "mig-profile-id-wrong", {begin, begin + static_cast<std::uint32_t>(list.size())},
                fmt::format("{} is profile {}; a GPU takes at most {} of it, not {}. For seven slices use 19 (1g)", id,
                            profile->name, profile->max_count, count));
  }
}

/// Reports a slice that is requested by profile name in a text that also sets the single strategy. Nodes with this
/// strategy offer no slices by profile name. The text is not a manifest, so a plain text search finds both.
void check_strategy(const File& file, Reading& out) {
  const std::size_t strategy = file.text.find("mig.strategy=single");
  const std::size_t slice = file.text.find("nvidia.com/mig-");
  if (strategy == std::string::npos || slice == std::string::npos) return;
  std::size_t end = slice;
  while (end < file.text.size() && std::string_view(" :\"'\n,}").find(file.text[end]) == std::string_view::npos) ++end;
  if (file.text[slice + 15] < '0' || file.text[slice + 15] > '9') return;
  add_finding(out, "mig-strategy-resource-mismatch",
              {static_cast<std::uint32_t>(slice), static_cast<std::uint32_t>(end)},
              "mig.strategy=single offers slices as nvidia.com/gpu, so no node offers this resource");
}

}  // namespace

void search_commands(const File& file, Reading& out) {
  constexpr std::string_view kCreate = "nvidia-smi mig ";
  const std::string_view text = file.text;
  for (std::size_t at = find_word(text, kCreate); at != text.npos; at = find_word(text, kCreate, at + 1)) {
    const std::string_view line = text.substr(at, text.find('\n', at) - at);
    const std::size_t flag = line.find("-cgi ");
    if (flag == line.npos) continue;
    const std::size_t begin = line.find_first_not_of(' ', flag + 5);
    if (begin == line.npos) continue;
    const std::size_t end = std::min(line.find_first_not_of("0123456789,", begin), line.size());
    check_instances(at + begin, line.substr(begin, end - begin), out);
  }
  if (!contains(text, "apiVersion")) check_strategy(file, out);
}

}  // namespace capstan::lint
