#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "lint/object.h"
#include "lint/set.h"
#include "lint/settings.h"

namespace capstan::lint {

enum class Severity : std::uint8_t { off, info, warning, error };
std::string_view name_of(Severity severity);

/// One change of a file's bytes.
struct Edit {
  Span span;
  std::string text;
};

/// What would mend a finding, in words, and as edits where a machine can do it.
struct Fix {
  std::string words;
  std::vector<Edit> edits;
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

  /// Mends it by other words in place of a value. Nothing happens where the value is written elsewhere (an alias).
  Finding& replace(const Value& value, std::string text);
  /// Mends it by taking a whole entry out of its mapping, with its lines.
  Finding& remove_entry(const Value& mapping, const Value& entry);
  /// Mends it by a new entry before an existing one of a block mapping, in the same indentation.
  Finding& insert_before(const Value& entry, std::string text);
  Finding& suggest(std::string words);
  Finding& as(Severity severity_in);
  /// It is about something that is not there: advice in an excerpt, where much is left out, and of an object that a
  /// kustomization changes, which may add it.
  Finding& of_absence();
  /// It holds only if this other object is deployed too: names its file, and is advice without edits where `sure` is
  /// false.
  Finding& joined_with(const Object& other, bool sure);
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
  std::string_view title;   ///< one line: what is wrong
  std::string_view why;     ///< what it costs: money, latency, requests
  std::string_view fix;     ///< what to do instead
  std::string_view source;  ///< where it is written
  std::string_view bad;     ///< manifests in which it finds something
  std::string_view good;    ///< the same, mended
  void (*check)(const Subject&) = nullptr;
};

}  // namespace capstan::lint
