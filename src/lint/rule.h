#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lint/edits.h"
#include "lint/object.h"
#include "lint/set.h"
#include "lint/settings.h"

namespace capstan::lint {

enum class Severity : std::uint8_t { off, info, warning, error };
std::string_view name_of(Severity severity);

/// The safety of a fix. A safe fix keeps the meaning of the manifest: for example, it sets a new API version, renames a
/// metric or removes a key without effect. An unsafe fix changes what runs, so a person should review it first.
enum class FixSafety : std::uint8_t { none, safe, unsafe };
/// Returns "safe" or "unsafe"; "none" if only a person can repair the finding.
std::string_view name_of(FixSafety safety);
/// Returns the option that applies fixes of this safety: "--fix" or "--unsafe-fixes"; empty for none.
std::string_view option_for(FixSafety safety);

/// The repair of a finding. If there are edits, the text describes exactly what they do.
struct Fix {
  std::string text;
  std::string caution;  ///< warning about further effects on a cluster; usually empty
  std::vector<Edit> edits;
  bool is_unsafe = false;  ///< true if these edits are unsafe although the rule's edits are safe in general
};

struct Rule;

/// One violation that a rule found.
struct Finding {
  const Rule* rule = nullptr;
  Severity severity = Severity::warning;
  const File* file = nullptr;
  const Object* object = nullptr;
  Span span;
  std::string message;
  Fix fix;
  std::string meant_name{};  ///< name that was misspelt: "resources", "--tensor-parallel-size"; usually empty

  // Each of the following functions adds an edit and describes it in the text of the fix. The function adds nothing if
  // the edit would change other values too, for example because the value is an alias. The fix is then the rule's
  // advice.

  /// Replaces the text of a scalar and keeps its quotes.
  Finding& replace(const Value& value, std::string_view text);
  /// Replaces the bytes of `span` in the file, which are a part of the value.
  Finding& replace_part(const Value& value, Span span, std::string_view text);
  /// Replaces a quoted number with the plain number.
  Finding& unquote(const Value& value, std::string number);
  /// Puts quotes around a number or a boolean, which is then a text with the same letters.
  Finding& quote(const Value& value);
  /// Replaces the key of an entry.
  Finding& rename_key(const Value& entry, std::string_view key);
  /// Replaces an entry's key and value.
  Finding& replace_entry(const Value& entry, std::string_view key, std::string_view text);
  /// Deletes an entry of a mapping. Comments on its line stay.
  Finding& remove_entry(const Value& mapping, const Value& entry);
  /// Adds an entry to a mapping, after the entry `after`.
  Finding& add_entry(const Value& mapping, const Value& after, std::string_view key, std::string_view value);

  /// States the name that was most likely meant. Findings that something with this name is missing are then left out.
  Finding& set_meant_name(std::string_view name);
  /// Marks the edits as unsafe, although the rule's edits are safe in general.
  Finding& mark_unsafe();
  /// Sets a warning about further effects of the edits. It is shown with the fix and when the fix is applied.
  Finding& set_caution(std::string text);
  /// Sets the text of a fix without edits, in place of the rule's text.
  Finding& suggest(std::string text);
  /// Sets the severity.
  Finding& set_severity(Severity severity_in);
  /// Marks the finding as one about a missing value. It becomes advice in an excerpt, which may be shortened, and for
  /// an object that a kustomization changes, because the kustomization may add the value.
  Finding& mark_absence();
  /// Marks the finding as true only if `other` is deployed too. The message then names the file of `other`, if it is
  /// another file. If `is_certain` is false, the finding becomes advice without edits.
  Finding& require_object(const Object& other, bool is_certain);

  FixSafety safety() const;
  /// Returns the text of the repair: what the edits do, or the rule's advice if there are no edits.
  std::string_view fix_text() const;

 private:
  void add_edit(std::optional<Edit> edit, std::string text);
};

class ScalerQueries;
struct TypeFault;

/// Data about one object that several rules use. The first rule that needs an item computes it.
struct Views {
  std::shared_ptr<const ScalerQueries> queries;
  std::shared_ptr<const std::vector<TypeFault>> type_faults;
};

/// The input of a rule: one object, the objects around it, and the list that receives the findings.
class Subject {
 public:
  Subject(const Object& object, const Set& set, const Settings& settings, const Rule& rule, Views& views,
          std::vector<Finding>& out)
      : object(object), set(set), settings(settings), rule_(rule), views_(views), out_(out) {}

  const Object& object;
  const Set& set;
  const Settings& settings;

  /// Returns the signals of the object with their parsed queries. The object must be a scaler, a PrometheusRule or the
  /// rules of an adapter.
  const ScalerQueries& queries() const;
  /// Returns where the object differs from the fields and types of its kind in Kubernetes.
  const std::vector<TypeFault>& type_faults() const;

  /// Reports a finding at a value.
  Finding& report(const Value& value, std::string message) const;
  /// Reports a finding at the key of an entry.
  Finding& report_key(const Value& value, std::string message) const;
  /// Reports a finding at a place in the file.
  Finding& report_span(Span span, std::string message) const;
  /// Reports a finding at the name of the object, or at its kind if it has no name.
  Finding& report_object(std::string message) const;
  /// Marks a finding as true only if `other` is deployed together with this object. `name` is the name by which the
  /// object refers to `other`; empty if there is no reference. Without evidence, the finding becomes advice.
  Finding& require_object(Finding& finding, const Object& other, std::string_view name = {}) const;

 private:
  const Rule& rule_;
  Views& views_;
  std::vector<Finding>& out_;
};

/// A lint rule. Each rule is one file below rules/ with its texts, its check, and a bad and a good example. A test runs
/// the examples.
struct Rule {
  std::string_view id;
  Severity severity = Severity::warning;
  /// The kinds of objects that the rule checks, separated by spaces. `@pods` stands for all kinds that make pods,
  /// `@gpu` for objects whose pods ask for a GPU, `@serving` for GPU workloads that serve requests (not jobs),
  /// `@scaler` for all autoscalers, `@pool` for node pools, `@adapter` for objects that may hold rules of
  /// prometheus-adapter, and `*` for all kinds.
  std::string_view kinds;
  std::string_view title;  ///< defect, in one line
  std::string_view why;    ///< cost of the defect: money, latency or requests
  std::string_view fix;    ///< repair, for the whole rule
  /// The safety of the edits that the rule makes. The edits alone turn the bad example into the good one.
  FixSafety fix_safety = FixSafety::none;
  std::string_view source;  ///< document that shows that this is a defect
  std::string_view bad;     ///< manifests in which the rule finds the defect
  std::string_view good;    ///< same manifests after the repair
  void (*check)(const Subject&) = nullptr;
};

}  // namespace capstan::lint
