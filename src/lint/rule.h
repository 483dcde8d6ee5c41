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

/// Whether the edits of a fix keep what the manifest means. An API version, a metric that was renamed and a key that
/// does nothing are safe to edit; everything else changes what runs, and a person should agree to it first.
enum class FixSafety : std::uint8_t { none, safe, unsafe };
/// "safe", "unsafe"; "none" where only a person can mend it.
std::string_view name_of(FixSafety safety);
/// The option that makes fixes of this safety: "--fix", "--unsafe-fixes"; empty for none.
std::string_view option_for(FixSafety safety);

/// What would mend a finding. With edits, the words are made together with them and promise exactly what they do.
struct Fix {
  std::string words;
  std::string caution;  ///< what else happens to a cluster when the edits are applied; mostly empty
  std::vector<Edit> edits;
  bool is_unsafe = false;  ///< unsafe here, though its rule's edits are safe elsewhere
};

struct Rule;

/// Something that a rule found.
struct Finding {
  const Rule* rule = nullptr;
  Severity severity = Severity::warning;
  const File* file = nullptr;
  const Object* object = nullptr;
  Span span;
  std::string message;
  Fix fix;

  // Each of these adds an edit and says so in the words of the fix. Where the edit cannot be made without touching
  // something else, for example because the value is an alias, nothing is added and the fix stays words.

  /// Sets a scalar to another text, inside the quotes that it has.
  Finding& replace(const Value& value, std::string_view text);
  /// Replaces bytes of the file, `span`, with others: a part of a value.
  Finding& replace_part(const Value& value, Span span, std::string_view text);
  /// Writes a number without the quotes around it.
  Finding& unquote(const Value& value, std::string number);
  /// Replaces an entry's key and value.
  Finding& replace_entry(const Value& entry, std::string_view key, std::string_view text);
  /// Deletes an entry of a mapping; comments on its line stay.
  Finding& remove_entry(const Value& mapping, const Value& entry);
  /// Adds an entry to a mapping, behind one that it has.
  Finding& add_entry(const Value& mapping, const Value& after, std::string_view key, std::string_view value);

  /// Its edits change what the manifest means, though others of its rule do not.
  Finding& unsafe();
  /// What else the edits cause, shown with the fix and when it is made.
  Finding& caution(std::string words);
  /// Words for a fix without edits, in place of the rule's.
  Finding& suggest(std::string words);
  Finding& as(Severity severity_in);
  /// It is about something that is not there: advice in an excerpt, where much is left out, and of an object that a
  /// kustomization changes, which may add it.
  Finding& of_absence();
  /// It holds only if this other object is deployed too: names its file, and is advice without edits where `sure` is
  /// false.
  Finding& joined_with(const Object& other, bool sure);

  FixSafety safety() const;
  /// What would mend it: what its edits do, else what the rule advises.
  std::string_view fix_words() const;

 private:
  void add_edit(std::optional<Edit> edit, std::string words);
};

class ScalerQueries;

/// What several rules make of one object, made by the first that asks.
struct Views {
  std::shared_ptr<const ScalerQueries> queries;
};

/// What a rule looks at: one object, what it stands among, and where its findings go.
class Subject {
 public:
  Subject(const Object& object, const Set& set, const Settings& settings, const Rule& rule, Views& views,
          std::vector<Finding>& out)
      : object(object), set(set), settings(settings), rule_(rule), views_(views), out_(out) {}

  const Object& object;
  const Set& set;
  const Settings& settings;

  /// Of an object that scales something.
  const ScalerQueries& queries() const;

  /// Points at a value.
  Finding& report(const Value& value, std::string message) const;
  /// Points at the key of an entry.
  Finding& report_key(const Value& value, std::string message) const;
  Finding& report_span(Span span, std::string message) const;
  /// Points at what names the object: its name, else its kind.
  Finding& report_object(std::string message) const;
  /// Grades a finding that holds only if `other` is deployed with this object, which refers to it by `name` or not at
  /// all.
  Finding& join(Finding& finding, const Object& other, std::string_view name = {}) const;

 private:
  const Rule& rule_;
  Views& views_;
  std::vector<Finding>& out_;
};

/// A rule is one file below rules/: what it is about, how it sees it, and an example of each that is its test.
struct Rule {
  std::string_view id;
  Severity severity = Severity::warning;
  /// Kinds of objects, between spaces; `@pods` is all that make pods, `@gpu` those of them that ask for a GPU,
  /// `@serving` those of these that go on; `@scaler` is all that scale something, `@pool` what buys nodes, `@adapter`
  /// what may hold rules of prometheus-adapter, `*` all.
  std::string_view kinds;
  std::string_view title;  ///< one line: what is wrong
  std::string_view why;    ///< what it costs: money, latency, requests
  std::string_view fix;    ///< what to do instead
  /// Of the edits that it makes: by them alone the bad example becomes the good one.
  FixSafety fix_safety = FixSafety::none;
  std::string_view source;  ///< where it is written
  std::string_view bad;     ///< manifests in which it finds something
  std::string_view good;    ///< the same, mended
  void (*check)(const Subject&) = nullptr;
};

}  // namespace capstan::lint
