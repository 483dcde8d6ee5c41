#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.h"
#include "lint/file.h"
#include "lint/object.h"
#include "lint/rule.h"
#include "lint/run.h"

namespace capstan::lint {

/// The objects and findings of one text.
struct Reading {
  std::unique_ptr<File> file;
  std::vector<Object> objects;
  std::vector<Finding> findings;  ///< findings about the text itself, such as its syntax
  Summary summary;
  std::optional<Error> broken;  ///< syntax error of a `.json` file that was named (Text::named)
};

/// Adds a finding about the text itself, not about an object in it.
void add_finding(Reading& reading, std::string_view rule, Span span, std::string message);

/// Reads the objects of a text, counts the documents that are skipped, and reports syntax errors.
Reading read_text(Text text);

}  // namespace capstan::lint
