#pragma once

#include <string_view>

namespace capstan::lint {

/// Returns true if one name of an object or value of a label is probably a misspelling of the other: "vllm-chat" and
/// "vllm_chat", "llama" and "lama", "inference" and "infernece". Returns false for names with different numbers and for
/// short words, such as "llama-8b" and "llama-70b", "chat-a" and "chat-b": these are names of different models or
/// variants.
bool is_misspelling(std::string_view a, std::string_view b);

}  // namespace capstan::lint
