#pragma once

#include <string>
#include <string_view>

namespace capstan::lint {

/// Returns true for a template of Helm or Jinja. A template is not YAML, so it cannot be checked.
bool is_template(std::string_view text);

/// Returns true if the bytes are UTF-8 with only characters that YAML allows, which excludes binary files.
bool is_text(std::string_view bytes);

/// Returns true if the text may hold Kubernetes objects: it has the words `apiVersion` and `kind`.
bool mentions_objects(std::string_view text);

/// Returns the Markdown text with everything except its fenced YAML blanked. The opening line of each fence becomes
/// `---`, so that each fence is one document. The length and the line numbers stay the same. Returns an empty text if
/// the fences together do not mention `apiVersion` and `kind`.
std::string fenced_yaml(std::string_view markdown);

}  // namespace capstan::lint
