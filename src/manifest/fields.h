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
#include "manifest/errors.h"
#include "manifest/yaml.h"

namespace capstan::manifest {

/// The errors of a reading. A value that is wrong leaves its output at the default and the reading goes on, so that a
/// reader is written straight down, without a test after each line, and the caller looks once at the end. Once there
/// are `most` errors, every `Fields` that shares the verdict leaves its outputs alone: the first of many ends a reading
/// where `most` is 1.
struct Verdict {
  /// Enough to tell all that is wrong with a file written by hand, and a bound on what a hopeless one costs.
  static constexpr std::size_t kMost = 1000;

  std::optional<Error> error{};  ///< the first
  std::vector<Error> others{};   ///< those after it
  std::size_t most = 1;          ///< errors that are kept before the reading gives up

  bool ok() const { return !error.has_value(); }
  std::size_t count() const { return others.size() + (error ? 1 : 0); }
  bool gives_up() const { return count() >= most; }

  void fail(Error found);
  void fail(const Place& place, std::string message, ErrorKind kind = ErrorKind::input) {
    fail(error_at(place, std::move(message), kind));
  }

  Errors all() const;
};

/// Tells whether a part of a reading went well: no error was found since the mark was made.
class Mark {
 public:
  explicit Mark(const Verdict& verdict) : verdict_(verdict), count_(verdict.count()) {}
  bool ok() const { return verdict_.count() == count_ && !verdict_.gives_up(); }

 private:
  const Verdict& verdict_;
  std::size_t count_;
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
  /// The same, but refuses an empty list, which would be read as if the key were absent.
  std::span<const Node> list_of_some(std::string_view key);

  // Each returns true if it read a value into `out`.
  bool text(std::string_view key, std::string& out);
  bool boolean(std::string_view key, bool& out);
  bool duration(std::string_view key, Duration& out, Duration low, Duration high);
  bool bytes(std::string_view key, Bytes& out, Bytes low, Bytes high);
  bool bytes_per_second(std::string_view key, std::int64_t& out, std::int64_t low, std::int64_t high);
  bool usd(std::string_view key, MicroUsd& out, MicroUsd low, MicroUsd high);
  bool number(std::string_view key, double& out, double low, double high);

  template <typename Integer>
  bool integer(std::string_view key, Integer& out, std::int64_t low, std::int64_t high) {
    std::int64_t wide = static_cast<std::int64_t>(out);
    const bool read = integer64(key, wide, low, high);
    out = static_cast<Integer>(wide);
    return read;
  }

  /// A share: "80%" or 0.8, in millionths.
  template <typename Integer>
  bool share_ppm(std::string_view key, Integer& out, std::int64_t low, std::int64_t high) {
    std::int64_t wide = static_cast<std::int64_t>(out);
    const bool read = share64(key, wide, low, high);
    out = static_cast<Integer>(wide);
    return read;
  }

  template <typename Enum>
  using Names = std::initializer_list<std::pair<std::string_view, Enum>>;

  /// One of a closed set of names.
  /// @param others  names that another reader takes: an error says that they are possible as well
  template <typename Enum>
  void choice(std::string_view key, Enum& out, Names<Enum> names, std::span<const std::string_view> others = {}) {
    std::vector<std::string_view> known;
    for (const auto& [name, value] : names) known.push_back(name);
    known.insert(known.end(), others.begin(), others.end());
    const std::size_t picked = pick(key, known);
    if (picked < names.size()) out = (names.begin() + static_cast<std::ptrdiff_t>(picked))->second;
  }

  /// Anything else: `read(node, verdict)` is called with the key's value where there is one.
  template <typename Read>
  void check(std::string_view key, Read read) {
    if (const Node* value = take(key)) read(*value, verdict_);
  }

  /// Says that the keys depend on what this one says, so that a refusal names it: "under policy karpenter". Where that
  /// one is wrong, no key is refused: which are right is not known.
  void keys_depend_on(std::string_view key) { decided_by_ = key; }
  /// Refuses the keys that were not asked for.
  void finish();

  /// True while nothing is wrong with this mapping or anything in it: only then can values be held against each other.
  bool ok() const { return mark_.ok(); }

  const Node& node() const { return node_; }
  /// Where to point when several keys do not fit together: at the one that a command line set, else at the first that
  /// the file has, else at the mapping.
  const Place& blame(std::initializer_list<std::string_view> keys) const;
  const std::string& what() const { return what_; }

 private:
  bool integer64(std::string_view key, std::int64_t& out, std::int64_t low, std::int64_t high);
  bool share64(std::string_view key, std::int64_t& out, std::int64_t low, std::int64_t high);
  std::size_t pick(std::string_view key, std::span<const std::string_view> names);
  const Node* scalar(std::string_view key, std::string_view expected);
  /// @return false, what a reader says of a value that it did not take
  bool wrong(const Node& value, std::string_view key, std::string_view expected);

  template <typename Value, typename Read, typename Show>
  bool measured(std::string_view key, Value& out, Value low, Value high, std::string_view expected, Read read,
                Show show);

  const Node& node_;
  std::string what_;
  Verdict& verdict_;
  Mark mark_;
  std::vector<std::string_view> known_;
  std::vector<std::string_view> wrong_;  ///< keys that are not as they should be, or not there
  std::string_view decided_by_;
};

/// The name that was probably meant: the nearest within two single-letter edits (a third of a long word), or empty.
std::string_view did_you_mean(std::string_view word, std::span<const std::string_view> names);

/// "a, b or c".
std::string one_of(std::span<const std::string_view> names);

/// A duration as a person writes it: "1h30m", "250ms", "0s". Exact.
std::string duration_text(Duration duration);

}  // namespace capstan::manifest
