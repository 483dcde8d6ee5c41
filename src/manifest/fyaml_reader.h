#pragma once

#include <string_view>

#include "manifest/document_builder.h"

namespace capstan::manifest {

/// Reads one document, all of YAML, with libfyaml, and tells the builder what it holds or why it cannot be read.
/// @param base  where `text` begins in the builder's text
void read_with_libfyaml(std::string_view text, std::uint32_t base, DocumentBuilder& builder);

}  // namespace capstan::manifest
