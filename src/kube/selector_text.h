#pragma once

#include <optional>
#include <string_view>

#include "kube/common_views.h"

namespace capstan::kube {

/// Parses a selector in one line, as in `status.selector` of a Scale and in kubectl's `--selector`:
/// "app=chat,tier in (a,b)". Returns nothing if the text is not valid. An empty text is not valid here: it would select
/// every pod of a namespace, which no scaler wants.
/// https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#label-selectors
std::optional<Selector> read_selector_text(std::string_view text);

}  // namespace capstan::kube
