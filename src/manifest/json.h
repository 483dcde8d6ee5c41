#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "manifest/yaml.h"

// A reader of large JSON files. It makes the same values as `manifest/yaml.h`, in a fraction of the time, and leaves
// the rows of long lists as text until they are read one by one. Its memory is therefore little more than that of the
// text.
namespace capstan::manifest {

/// One element of a list that was left as text. Its syntax is already checked.
struct JsonRow {
  std::string_view text;  ///< points into the text of the file
  Place place;
};

struct JsonFile {
  Node root;                                                      ///< the lists that were left as text are empty here
  std::map<std::string, std::vector<JsonRow>, std::less<>> rows;  ///< rows by the key of their list
};

/// Checks the syntax of a whole text and reads it. It refuses what a YAML reader would read differently or refuse:
/// repeated keys, escapes in keys, characters that YAML does not allow. The error then has the place.
/// @param file    name of the text in errors
/// @param limits  `nodes` limits three numbers separately: the values of the root, the rows of each list, and the
///                values of each row
/// @param lists   keys of the top-level lists whose rows are left as text
Result<JsonFile> read_json(std::string_view text, const std::string& file, const Limits& limits,
                           std::span<const std::string_view> lists);

/// Reads a row that `read_json` returned.
Node read_row(const JsonRow& row);
/// Reads only the value of one key of a row that is a mapping. The values of its other keys are empty.
Node read_row(const JsonRow& row, std::string_view key);

}  // namespace capstan::manifest
