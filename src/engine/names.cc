#include "engine/names.h"

#include <algorithm>
#include <array>
#include <span>
#include <vector>

#include "base/ascii.h"

namespace capstan::engine {
namespace {

/// Words of a product name that do not tell GPUs of the table apart: the maker, the form factor, the kind and size of
/// the memory, and additions such as SHARED.
constexpr std::array<std::string_view, 16> kGpuWords = {"nvidia", "tesla", "gpu",   "sxm",   "sxm4",  "sxm5",
                                                        "sxm6",   "hbm3",  "hbm3e", "80gb",  "141gb", "180gb",
                                                        "192gb",  "48gb",  "mega",  "shared"};
/// Parts of a model's name that do not change its speed, and the names of weight types.
constexpr std::array<std::string_view, 11> kModelWords = {"instruct", "chat", "it",   "hf",       "base",   "thinking",
                                                          "fp8",      "bf16", "fp16", "bfloat16", "dynamic"};

/// Splits the text into words in lower case; `is_separator` accepts the characters between words.
std::vector<std::string> words_of(std::string_view text, bool (*is_separator)(char)) {
  std::vector<std::string> words(1);
  for (const char c : text) {
    if (!is_separator(c)) {
      words.back() += ascii_lower(c);
    } else if (!words.back().empty()) {
      words.emplace_back();
    }
  }
  if (words.back().empty()) words.pop_back();
  return words;
}

bool is_not_alphanumeric(char c) {
  c = ascii_lower(c);
  return !((c >= '0' && c <= '9') || (c >= 'a' && c <= 'z'));
}

bool is_hyphen_or_underscore(char c) { return c == '-' || c == '_'; }

/// Returns the words of a name without its publisher: "llama", "3.1", "8b" for "meta-llama/Meta-Llama-3.1-8B".
std::vector<std::string> model_words(std::string_view name) {
  const std::size_t slash = name.rfind('/');
  if (slash != name.npos) name.remove_prefix(slash + 1);
  std::vector<std::string> words = words_of(name, is_hyphen_or_underscore);
  if (!words.empty() && words.front() == "meta") words.erase(words.begin());
  return words;
}

/// Returns true for a release of the same model and size: "2507", "v0.1".
bool is_release(std::string_view word) {
  const bool versioned = word.starts_with('v');
  if (versioned) word.remove_prefix(1);
  const auto digit = [](char c) { return c >= '0' && c <= '9'; };
  if (word.empty() || !std::ranges::all_of(word, [&](char c) { return digit(c) || (versioned && c == '.'); })) {
    return false;
  }
  return versioned || word.size() == 4;
}

bool is_known(std::string_view word, std::span<const std::string_view> words) {
  return std::ranges::find(words, word) != words.end();
}

}  // namespace

std::optional<std::string> gpu_of_product(const EngineTable& table, std::string_view product) {
  if (Result<std::string> key = table.gpu_key(product)) return *std::move(key);
  std::optional<std::string> found;
  for (const std::string& word : words_of(product, is_not_alphanumeric)) {
    if (is_known(word, kGpuWords)) continue;
    Result<std::string> key = table.gpu_key(word);
    if (!key || found) return std::nullopt;
    found = *std::move(key);
  }
  return found;
}

std::optional<ServedModel> model_of_name(const EngineTable& table, std::string_view served) {
  const std::vector<std::string> name = model_words(served);
  const EngineRow* best = nullptr;
  std::size_t best_words = 0;
  for (const EngineRow& row : table.rows()) {
    const std::vector<std::string> words = model_words(row.model);
    if (words.size() <= best_words || words.size() > name.size()) continue;
    if (!std::ranges::equal(words, std::span(name).first(words.size()))) continue;
    best = &row;
    best_words = words.size();
  }
  if (best == nullptr) return std::nullopt;
  const std::span rest = std::span(name).subspan(best_words);
  const bool is_understood = std::ranges::all_of(
      rest, [](const std::string& word) { return is_known(word, kModelWords) || is_release(word); });
  if (!is_understood) return std::nullopt;
  const bool fp8 = std::ranges::find(rest, "fp8") != rest.end();
  return ServedModel{best->model, fp8 ? "fp8" : "bfloat16"};
}

}  // namespace capstan::engine
