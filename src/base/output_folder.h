#pragma once

#include <map>
#include <optional>
#include <string>

#include "base/error.h"

// A folder that receives the files of one result. It must be new or empty. Otherwise files of an earlier result could
// be mistaken for files of this one.
namespace capstan {

/// Returns an error if the files could not be written: the path is not a folder, the folder is not empty, or the
/// process may not write into it. For a new folder, checks the nearest existing folder above it. Changes nothing.
std::optional<Error> check_output_folder(const std::string& folder);

/// Writes all files; each key of `files` is a path below `folder`. If one file cannot be written, deletes every file
/// that was written, and the folder if this call created it.
std::optional<Error> write_output_folder(const std::string& folder, const std::map<std::string, std::string>& files);

}  // namespace capstan
