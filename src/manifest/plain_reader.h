#pragma once

#include <cstdint>
#include <string_view>

#include "manifest/document_builder.h"

namespace capstan::manifest {

/// Treatment of empty list items (`-` alone). libfyaml reads them only in an indented list.
enum class EmptyItems : std::uint8_t { refuse, read };

/// Reads one document in JSON or in the common subset of YAML: block and flow collections, plain and quoted scalars,
/// literal blocks. It returns false for anything else (anchors, tags, folded blocks, tabs, carriage returns) and for
/// every fault; libfyaml must then read the document again. Otherwise the result is the same as that of libfyaml.
/// @param base  offset of `text` in the builder's text
bool read_plain(std::string_view text, std::uint32_t base, DocumentBuilder& builder,
                EmptyItems empty_items = EmptyItems::refuse);

}  // namespace capstan::manifest
