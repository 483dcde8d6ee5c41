#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "manifest/document.h"

namespace capstan::plan::testing {

/// Compares objects with the CustomResourceDefinitions of a folder, as `lint::crd_faults` does. It does not check rules
/// in CEL, which need an API server: tests/e2e/plan_test.py does. crd_check_test.cc implements this class.
class CrdSchemas {
 public:
  /// Reads all definitions of a folder.
  explicit CrdSchemas(const std::filesystem::path& folder);

  /// Returns true if a definition describes the kind in any version. If this is not the version of the object, the
  /// version is a fault in `faults_of`.
  bool knows(const manifest::Value& object) const;

  /// Returns the faults of an object, such as "spec.minReplicas is 0, expected at least 1".
  std::vector<std::string> faults_of(const manifest::Value& object) const;

 private:
  struct File {
    std::string text;
    manifest::Documents documents;
  };

  void read(const std::filesystem::path& path);

  std::vector<std::unique_ptr<File>> files_;
  std::map<std::string, const manifest::Value*> schemas_;  ///< schemas by apiVersion and kind
  std::map<std::string, bool> kinds_;                      ///< known kinds by group and kind
};

}  // namespace capstan::plan::testing
