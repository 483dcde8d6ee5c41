#pragma once

#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/cron.h"
#include "base/quantity.h"
#include "base/time.h"
#include "manifest/errors.h"
#include "manifest/yaml.h"

namespace capstan::manifest {

/// The errors found while reading a tree. A wrong value leaves its output at the default and reading goes on, so that a
/// reader needs no check after each field; the caller checks once at the end. After `max_errors` errors, every `Fields`
/// that shares the list leaves its outputs unchanged.
struct ErrorList {
  /// Enough for every error in a file written by hand; it bounds the cost of a file that is wrong throughout.
  static constexpr std::size_t kMaxErrors = 1000;

  std::optional<Error> error{};  ///< first error
  std::vector<Error> others{};   ///< later errors
  std::size_t max_errors = 1;    ///< number of errors after which reading stops

  bool ok() const { return !error.has_value(); }
  std::size_t count() const { return others.size() + (error ? 1 : 0); }
  bool gives_up() const { return count() >= max_errors; }

  void fail(Error found);
  void fail(const Place& place, std::string message, ErrorKind kind = ErrorKind::input) {
    fail(error_at(place, std::move(message), kind));
  }

  Errors all() const;
};

/// Checks whether errors were found since the mark was made.
class Mark {
 public:
  explicit Mark(const ErrorList& errors) : errors_(errors), count_(errors.count()) {}
  bool ok() const { return errors_.count() == count_ && !errors_.gives_up(); }

 private:
  const ErrorList& errors_;
  std::size_t count_;
};

/// Reads one mapping strictly. An absent key leaves its output unchanged, and `finish` refuses all keys that were not
/// read.
///
///   Fields slo(node, "slo", errors);
///   slo.duration("ttft", out.ttft, 0s, 1h);
///   slo.finish();
class Fields {
 public:
  /// @param what  name of the mapping in messages, for example "slo"
  Fields(const Node& node, std::string what, ErrorList& errors);

  /// Returns the value of a key, or null if it is absent or null in the file.
  const Node* take(std::string_view key);
  /// Returns the value of a required key. If it is absent, reports an error and returns null.
  const Node* take_required(std::string_view key);
  /// Returns the elements of a list, none if the key is absent.
  std::span<const Node> list(std::string_view key);
  /// Returns the elements of a list and refuses an empty one, which would read like an absent key.
  std::span<const Node> non_empty_list(std::string_view key);

  // These functions return true if they read a value into `out`.
  bool text(std::string_view key, std::string& out);
  bool boolean(std::string_view key, bool& out);
  bool cron(std::string_view key, Cron& out);
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

  /// Reads a share, "80%" or 0.8, into millionths.
  template <typename Integer>
  bool share_ppm(std::string_view key, Integer& out, std::int64_t low, std::int64_t high) {
    std::int64_t wide = static_cast<std::int64_t>(out);
    const bool read = share64(key, wide, low, high);
    out = static_cast<Integer>(wide);
    return read;
  }

  template <typename Enum>
  using Names = std::initializer_list<std::pair<std::string_view, Enum>>;

  /// Reads one of a closed set of names.
  /// @param others  names that another reader accepts; an error lists them too
  template <typename Enum>
  void choice(std::string_view key, Enum& out, Names<Enum> names, std::span<const std::string_view> others = {}) {
    std::vector<std::string_view> known;
    for (const auto& [name, value] : names) known.push_back(name);
    known.insert(known.end(), others.begin(), others.end());
    const std::size_t picked = pick(key, known);
    if (picked < names.size()) out = (names.begin() + static_cast<std::ptrdiff_t>(picked))->second;
  }

  /// Calls `read(node, errors)` with the value of a key, if it is present.
  template <typename Read>
  void check(std::string_view key, Read read) {
    if (const Node* value = take(key)) read(*value, errors_);
  }

  /// Declares that the value of `key` decides which other keys are valid. The error for an unknown key then names it:
  /// "under policy karpenter". If that value is wrong, no unknown key is refused, because the valid keys are not known.
  void keys_depend_on(std::string_view key) { decided_by_ = key; }
  /// Refuses all keys that were not read.
  void finish();

  /// Returns true while this mapping and everything in it is valid. Only then can values be checked against each other.
  bool ok() const { return mark_.ok(); }

  const Node& node() const { return node_; }
  /// Returns the place for an error about several keys: the key that the command line set, else the first key in the
  /// file, else the mapping.
  const Place& place_for_error(std::initializer_list<std::string_view> keys) const;
  const std::string& what() const { return what_; }

 private:
  bool integer64(std::string_view key, std::int64_t& out, std::int64_t low, std::int64_t high);
  bool share64(std::string_view key, std::int64_t& out, std::int64_t low, std::int64_t high);
  std::size_t pick(std::string_view key, std::span<const std::string_view> names);
  const Node* scalar(std::string_view key, std::string_view expected);
  /// Reports a wrong value. Always returns false, so that a reader can return the result.
  bool wrong(const Node& value, std::string_view key, std::string_view expected);

  template <typename Value, typename Read, typename Show>
  bool read_bounded(std::string_view key, Value& out, Value low, Value high, std::string_view expected, Read read,
                    Show show);

  const Node& node_;
  std::string what_;
  ErrorList& errors_;
  Mark mark_;
  std::vector<std::string_view> known_;
  std::vector<std::string_view> wrong_;  ///< keys with a wrong value, and required keys that are absent
  std::string_view decided_by_;
};

/// Returns the most similar name within two edits, or within a third of the length of a long word; else an empty name.
std::string_view did_you_mean(std::string_view word, std::span<const std::string_view> names);

/// Returns the names as "a, b or c".
std::string one_of(std::span<const std::string_view> names);

/// Returns a duration as a person writes it, without rounding: "1h30m", "250ms", "0s".
std::string duration_text(Duration duration);
/// Returns an amount >= 0 with all its decimals: "12.290000".
std::string usd_text(MicroUsd amount);

}  // namespace capstan::manifest
