#include "lint/sharing.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace capstan::lint::sharing_test {
namespace {

TEST(Sharing, FindsTimeSlicingAndMpsOnly) {
  File file(
      "a.yaml",
      "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a}\ndata:\n  any: |\n    sharing:\n      timeSlicing: {x: 1}\n"
      "      mps: {y: 2}\n      other: {z: 3}\n  text: sharing\n");
  file.documents = manifest::Documents::parse(file.text);
  std::vector<Object> objects;
  find_objects(file, file.documents.all()[0].root, objects);
  std::string seen;
  for_each_sharing(objects.at(0), [&](const Value& sharing) { seen += std::string(sharing.key) + " "; });
  EXPECT_EQ(seen, "timeSlicing mps ");
}

}  // namespace
}  // namespace capstan::lint::sharing_test
