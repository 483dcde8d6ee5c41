#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "manifest/yaml.h"

namespace capstan::schema {

/// One field of a description, read; the shape that both writers walk.
struct Field {
  struct Rule {
    std::string check;    ///< CEL
    std::string message;  ///< what is wrong when it is false
  };
  std::string name;
  std::string type;    ///< object, array, string, integer, boolean; date-time and duration are formats of string
  std::string format;  ///< "duration", "date-time" or empty
  std::string about;
  std::string pattern;
  const manifest::Node* default_value = nullptr;
  std::vector<std::string> values;                          ///< enum
  std::vector<std::pair<std::string, std::string>> bounds;  ///< minimum, maxItems ... and their number
  std::string list_key;
  std::vector<Rule> rules;
  std::vector<std::string> required;
  std::vector<Field> children;  ///< of an object; of an array one, its items
  std::string map_of;           ///< the type of an object's values where its keys are free
  bool conditions = false;      ///< the standard list of conditions
};

/// A described kind.
struct Kind {
  std::string kind;
  std::string plural;
  std::string short_name;
  std::string scope;
  std::string about;
  struct Column {
    std::string name;
    std::string type;
    std::string path;
    bool wide = false;  ///< shown with `--output wide` only
  };
  std::vector<Column> columns;
  Field root;  ///< spec and status are its children
};

/// Reads a description strictly. The result points into it.
Result<Kind> read_kind(const manifest::Node& description);

}  // namespace capstan::schema
