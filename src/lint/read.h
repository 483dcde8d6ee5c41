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

/// What was read of one text.
struct Reading {
  std::unique_ptr<File> file;
  std::vector<Object> objects;
  std::vector<Finding> findings;  ///< of the text itself: its syntax
  Summary summary;
  std::optional<Error> broken;  ///< why a `.json` that was named cannot be read
};

/// Adds a finding that is of the text and of no object.
void add_finding(Reading& reading, std::string_view rule, Span span, std::string message);

/// Reads a text: which documents are objects, what is left alone, what is broken.
Reading read_text(Text text);

}  // namespace capstan::lint
