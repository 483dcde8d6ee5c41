#pragma once

#include <cstdint>
#include <string_view>

#include "manifest/document.h"

namespace capstan::manifest {

/// The reader that tries a document first.
enum class FirstReader : std::uint8_t { plain, libfyaml };

/// Reads documents like `Documents::parse`, which tries the plain reader first. Either order gives the same documents.
Documents read_documents(std::string_view text, const DocumentLimits& limits, FirstReader first);

}  // namespace capstan::manifest
