#pragma once

#include <optional>
#include <string_view>

#include "kube/common_views.h"

namespace capstan::kube {

/// A selector as one line, as a Scale's `status.selector` and kubectl's `--selector` have it: "app=chat,tier in (a,b)".
/// Nothing where it is none; an empty line selects nothing here, as nobody means every pod of a namespace.
/// https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#label-selectors
std::optional<Selector> read_selector_text(std::string_view text);

}  // namespace capstan::kube
