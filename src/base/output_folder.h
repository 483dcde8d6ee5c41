#pragma once

#include <map>
#include <optional>
#include <string>

#include "base/error.h"

// A folder for the files of one result. It is new or empty, because files of an earlier result would be used with those
// of this one.
namespace capstan {

/// Returns an error if the files could not be written: the path is no folder, the folder has entries, or it or the
/// nearest folder above it that exists cannot be written. Changes nothing.
std::optional<Error> check_output_folder(const std::string& folder);

/// Writes all files, by path below the folder. If one cannot be written, none stays, and neither does a new folder.
std::optional<Error> write_output_folder(const std::string& folder, const std::map<std::string, std::string>& files);

}  // namespace capstan
