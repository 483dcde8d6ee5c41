#pragma once

#include <cstdint>
#include <string_view>

#include "manifest/document.h"

namespace capstan::manifest {

/// Which of the two readers has a document first.
enum class FirstReader : std::uint8_t { plain, libfyaml };

/// As `Documents::parse`, which begins with the plain one; both give the same documents.
Documents read_documents(std::string_view text, const DocumentLimits& limits, FirstReader first);

}  // namespace capstan::manifest
