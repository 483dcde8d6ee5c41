#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "manifest/yaml.h"

namespace capstan::schema {

/// One field of a description.
struct Field {
  struct Rule {
    std::string check;    ///< a CEL expression
    std::string message;  ///< error of the API server if the check is false
  };
  std::string name;
  std::string type;    ///< object, array, string, integer, boolean; date-time and duration are formats of string
  std::string format;  ///< "duration", "date-time" or empty
  std::string description;
  std::string pattern;
  const manifest::Node* default_value = nullptr;
  std::vector<std::string> values;                          ///< values of `enum`
  std::vector<std::pair<std::string, std::string>> bounds;  ///< names and values, such as minimum and maxItems
  std::string list_key;
  std::vector<Rule> rules;
  std::vector<std::string> required;
  std::vector<Field> children;  ///< properties of an object, or the item type of an array
  std::string map_of;           ///< type of the values, for an object whose keys are not fixed
  bool conditions = false;      ///< true: the field is the standard list of conditions
};

/// The description of a kind.
struct Kind {
  std::string kind;
  std::string plural;
  std::string short_name;
  std::string scope;
  std::string description;
  struct Column {
    std::string name;
    std::string type;
    std::string path;
    bool wide = false;  ///< shown with `--output wide` only
  };
  std::vector<Column> columns;
  Field root;  ///< object with the children spec and status
};

/// Reads a description. An unknown key is an error. The result points into `description`.
Result<Kind> read_kind(const manifest::Node& description);

}  // namespace capstan::schema
