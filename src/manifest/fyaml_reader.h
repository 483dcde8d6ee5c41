#pragma once

#include <string_view>

#include "manifest/document_builder.h"

namespace capstan::manifest {

/// Reads one document of any YAML with libfyaml and passes its events, or an error, to the builder.
/// @param base  offset of `text` in the builder's text
void read_with_libfyaml(std::string_view text, std::uint32_t base, DocumentBuilder& builder);

}  // namespace capstan::manifest
