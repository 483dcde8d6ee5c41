#pragma once

#include <cstdint>
#include <string_view>

#include "manifest/document_builder.h"

namespace capstan::manifest {

/// What becomes of list items that hold nothing, `-` alone: libfyaml reads them only where the list is indented.
enum class EmptyItems : std::uint8_t { left, read };

/// Reads one document of the YAML that manifests are mostly written in: mappings and lists in lines, texts plain or in
/// quotes, literal blocks, collections in braces; and JSON. Anchors, tags, folded blocks, tabs, carriage returns and
/// whatever else it does not know make it give up, and so does every fault: then it returns false, and the document is
/// to be read again by libfyaml. What it does read, it reads as libfyaml would.
/// @param base  where `text` begins in the builder's text
bool read_plain(std::string_view text, std::uint32_t base, DocumentBuilder& builder,
                EmptyItems empty_items = EmptyItems::left);

}  // namespace capstan::manifest
