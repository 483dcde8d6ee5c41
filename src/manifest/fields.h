#pragma once

#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/quantity.h"
#include "base/time.h"
#include "manifest/yaml.h"

namespace capstan::manifest {

/// The first error of a reading. Once there is one, every `Fields` that shares it leaves its outputs alone: a reader is
/// written straight down, without a test after each line, and the caller looks once at the end.
struct Verdict {
  std::optional<Error> error;

  bool ok() const { return !error.has_value(); }
  void fail(const Place& place, std::string message, ErrorKind kind = ErrorKind::input) {
    if (!error) error = error_at(place, std::move(message), kind);
  }
};

/// Reads one mapping strictly: each key that is asked for becomes known, absent ones keep the output's value, and
/// `finish` refuses the keys that nobody asked for.
///
///   Fields slo(node, "slo", verdict);
///   slo.duration("ttft", out.ttft, 0s, 1h);
///   slo.finish();
class Fields {
 public:
  /// @param what  the mapping's name in messages, "slo"
  Fields(const Node& node, std::string what, Verdict& verdict);

  /// The value of a key, or null where it is absent (or null in the file).
  const Node* take(std::string_view key);
  /// The same where the key must be there.
  const Node* need(std::string_view key);
  /// The elements of a list; empty where the key is absent.
  std::span<const Node> list(std::string_view key);

  void text(std::string_view key, std::string& out);
  void boolean(std::string_view key, bool& out);
  void duration(std::string_view key, Duration& out, Duration low, Duration high);
  void bytes(std::string_view key, Bytes& out, Bytes low, Bytes high);
  void bytes_per_second(std::string_view key, std::int64_t& out, std::int64_t low, std::int64_t high);
  void usd(std::string_view key, MicroUsd& out, MicroUsd low, MicroUsd high);
  void number(std::string_view key, double& out, double low, double high);

  template <typename Integer>
  void integer(std::string_view key, Integer& out, std::int64_t low, std::int64_t high) {
    std::int64_t wide = static_cast<std::int64_t>(out);
    integer64(key, wide, low, high);
    out = static_cast<Integer>(wide);
  }

  /// A share: "80%" or 0.8, in millionths.
  template <typename Integer>
  void share_ppm(std::string_view key, Integer& out, std::int64_t low, std::int64_t high) {
    std::int64_t wide = static_cast<std::int64_t>(out);
    share64(key, wide, low, high);
    out = static_cast<Integer>(wide);
  }

  template <typename Enum>
  using Names = std::initializer_list<std::pair<std::string_view, Enum>>;

  /// One of a closed set of names.
  template <typename Enum>
  void choice(std::string_view key, Enum& out, Names<Enum> names) {
    std::vector<std::string_view> known;
    for (const auto& [name, value] : names) known.push_back(name);
    const std::size_t picked = pick(key, known);
    if (picked < known.size()) out = (names.begin() + static_cast<std::ptrdiff_t>(picked))->second;
  }

  /// Anything else: `read(node, verdict)` is called with the key's value where there is one.
  template <typename Read>
  void check(std::string_view key, Read read) {
    if (const Node* value = take(key)) read(*value, verdict_);
  }

  /// Says that the keys depend on what this one says, so that a refusal names it: "under policy karpenter".
  void keys_depend_on(std::string_view key) { decided_by_ = key; }
  /// Refuses the keys that were not asked for.
  void finish();

  const Node& node() const { return node_; }
  /// Where to point when several keys do not fit together: at the one that a command line set, else at the first that
  /// the file has, else at the mapping.
  const Place& blame(std::initializer_list<std::string_view> keys) const;
  const std::string& what() const { return what_; }

 private:
  void integer64(std::string_view key, std::int64_t& out, std::int64_t low, std::int64_t high);
  void share64(std::string_view key, std::int64_t& out, std::int64_t low, std::int64_t high);
  std::size_t pick(std::string_view key, std::span<const std::string_view> names);
  const Node* scalar(std::string_view key, std::string_view expected);
  void wrong(const Node& value, std::string_view key, std::string_view expected);

  template <typename Value, typename Read, typename Show>
  void measured(std::string_view key, Value& out, Value low, Value high, std::string_view expected, Read read,
                Show show);

  const Node& node_;
  std::string what_;
  Verdict& verdict_;
  std::vector<std::string_view> known_;
  std::string_view decided_by_;
};

/// The name that was probably meant: the nearest within two single-letter edits (a third of a long word), or empty.
std::string_view did_you_mean(std::string_view word, std::span<const std::string_view> names);

/// "a, b or c".
std::string one_of(std::span<const std::string_view> names);

/// A duration as a person writes it: "1h30m", "250ms", "0s". Exact.
std::string duration_text(Duration duration);

}  // namespace capstan::manifest
