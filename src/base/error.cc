#include "base/error.h"

namespace capstan {

std::string Error::text() const {
  std::string place = file;
  if (line > 0) place += (place.empty() ? "" : ":") + std::to_string(line);
  if (line > 0 && column > 0) place += ":" + std::to_string(column);
  return place.empty() ? message : place + ": " + message;
}

}  // namespace capstan
