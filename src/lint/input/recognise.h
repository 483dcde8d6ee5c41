#pragma once

#include <string>
#include <string_view>

namespace capstan::lint {

/// A text that a template engine turns into manifests: Helm, Jinja. It is no YAML yet, and nothing true can be said of
/// what it will be.
bool is_template(std::string_view text);

/// Characters that YAML allows, in UTF-8. A binary file is none, whatever bytes it holds.
bool is_text(std::string_view bytes);

/// Speaks of Kubernetes objects at all: has an `apiVersion` and a `kind`.
bool mentions_objects(std::string_view text);

/// A Markdown text with everything blanked out but its fenced YAML, each fence a document. Of the same length, with the
/// same lines. Empty where it has none that speaks of objects.
std::string fenced_yaml(std::string_view markdown);

}  // namespace capstan::lint
