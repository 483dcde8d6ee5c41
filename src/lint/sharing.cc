#include "lint/sharing.h"

#include <algorithm>
#include <string_view>

namespace capstan::lint {

void for_each_sharing(const Object& object, const std::function<void(const Value& sharing)>& visit) {
  const Value& data = object["data"] ? object["data"] : at(object, "devicePlugin.config.data");
  for (const Embedded& file : embedded_with(*object.file, data, "sharing")) {
    for (const std::string_view kind : {"timeSlicing", "mps"}) {
      const Value& sharing = file.root()["sharing"][kind];
      if (sharing.is_mapping()) visit(sharing);
    }
  }
}

std::int64_t max_shares(const Subject& s) {
  std::int64_t max = 0;
  for (const std::string_view kind : {"ConfigMap", "GpuOperatorValues"}) {
    for (const Object* object : s.set.in_folder(kind, s.object)) {
      for_each_sharing(*object, [&](const Value& sharing) {
        for (const Value& resource : sharing["resources"].children()) {
          if (resource["name"].is("nvidia.com/gpu")) max = std::max(max, resource["replicas"].integer().value_or(0));
        }
      });
    }
  }
  return max;
}

}  // namespace capstan::lint
