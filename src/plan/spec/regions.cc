#include "plan/spec/regions.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "manifest/fields.h"

namespace capstan::plan {
namespace {

constexpr std::array kRegionsOfAws = std::to_array<std::string_view>(
    {"us-east-1",      "us-east-2",      "us-west-1",      "us-west-2",      "us-gov-east-1",  "us-gov-west-1",
     "af-south-1",     "ap-east-1",      "ap-east-2",      "ap-northeast-1", "ap-northeast-2", "ap-northeast-3",
     "ap-south-1",     "ap-south-2",     "ap-southeast-1", "ap-southeast-2", "ap-southeast-3", "ap-southeast-4",
     "ap-southeast-5", "ap-southeast-6", "ap-southeast-7", "ca-central-1",   "ca-west-1",      "cn-north-1",
     "cn-northwest-1", "eu-central-1",   "eu-central-2",   "eu-north-1",     "eu-south-1",     "eu-south-2",
     "eu-west-1",      "eu-west-2",      "eu-west-3",      "il-central-1",   "me-central-1",   "me-south-1",
     "mx-central-1",   "sa-east-1"});

constexpr std::array kRegionsOfGcp = std::to_array<std::string_view>({"us-central1",
                                                                      "us-east1",
                                                                      "us-east4",
                                                                      "us-east5",
                                                                      "us-south1",
                                                                      "us-west1",
                                                                      "us-west2",
                                                                      "us-west3",
                                                                      "us-west4",
                                                                      "africa-south1",
                                                                      "asia-east1",
                                                                      "asia-east2",
                                                                      "asia-northeast1",
                                                                      "asia-northeast2",
                                                                      "asia-northeast3",
                                                                      "asia-south1",
                                                                      "asia-south2",
                                                                      "asia-southeast1",
                                                                      "asia-southeast2",
                                                                      "asia-southeast3",
                                                                      "australia-southeast1",
                                                                      "australia-southeast2",
                                                                      "europe-central2",
                                                                      "europe-north1",
                                                                      "europe-north2",
                                                                      "europe-southwest1",
                                                                      "europe-west1",
                                                                      "europe-west2",
                                                                      "europe-west3",
                                                                      "europe-west4",
                                                                      "europe-west6",
                                                                      "europe-west8",
                                                                      "europe-west9",
                                                                      "europe-west10",
                                                                      "europe-west12",
                                                                      "me-central1",
                                                                      "me-central2",
                                                                      "me-west1",
                                                                      "northamerica-northeast1",
                                                                      "northamerica-northeast2",
                                                                      "northamerica-south1",
                                                                      "southamerica-east1",
                                                                      "southamerica-west1"});

constexpr std::array kRegionsOfAzure = std::to_array<std::string_view>({"eastus",
                                                                        "eastus2",
                                                                        "centralus",
                                                                        "northcentralus",
                                                                        "southcentralus",
                                                                        "westcentralus",
                                                                        "westus",
                                                                        "westus2",
                                                                        "westus3",
                                                                        "australiacentral",
                                                                        "australiacentral2",
                                                                        "australiaeast",
                                                                        "australiasoutheast",
                                                                        "austriaeast",
                                                                        "belgiumcentral",
                                                                        "brazilsouth",
                                                                        "brazilsoutheast",
                                                                        "canadacentral",
                                                                        "canadaeast",
                                                                        "centralindia",
                                                                        "chilecentral",
                                                                        "chinaeast2",
                                                                        "chinaeast3",
                                                                        "chinanorth2",
                                                                        "chinanorth3",
                                                                        "denmarkeast",
                                                                        "eastasia",
                                                                        "francecentral",
                                                                        "francesouth",
                                                                        "germanynorth",
                                                                        "germanywestcentral",
                                                                        "indonesiacentral",
                                                                        "israelcentral",
                                                                        "italynorth",
                                                                        "japaneast",
                                                                        "japanwest",
                                                                        "jioindiacentral",
                                                                        "jioindiawest",
                                                                        "koreacentral",
                                                                        "koreasouth",
                                                                        "malaysiawest",
                                                                        "mexicocentral",
                                                                        "newzealandnorth",
                                                                        "northeurope",
                                                                        "norwayeast",
                                                                        "norwaywest",
                                                                        "polandcentral",
                                                                        "qatarcentral",
                                                                        "southafricanorth",
                                                                        "southafricawest",
                                                                        "southeastasia",
                                                                        "southindia",
                                                                        "spaincentral",
                                                                        "swedencentral",
                                                                        "swedensouth",
                                                                        "switzerlandnorth",
                                                                        "switzerlandwest",
                                                                        "uaecentral",
                                                                        "uaenorth",
                                                                        "uksouth",
                                                                        "ukwest",
                                                                        "usgovarizona",
                                                                        "usgovtexas",
                                                                        "usgovvirginia",
                                                                        "westeurope",
                                                                        "westindia"});

std::string_view name_of(Cloud cloud) {
  switch (cloud) {
    case Cloud::aws:
      return "AWS";
    case Cloud::gcp:
      return "Google Cloud";
    case Cloud::azure:
      return "Azure";
    case Cloud::on_premises:
      break;
  }
  return "the cluster";
}

}  // namespace

std::span<const std::string_view> known_regions(Cloud cloud) {
  switch (cloud) {
    case Cloud::aws:
      return kRegionsOfAws;
    case Cloud::gcp:
      return kRegionsOfGcp;
    case Cloud::azure:
      return kRegionsOfAzure;
    case Cloud::on_premises:
      break;
  }
  return {};
}

std::string unknown_region_words(Cloud cloud, const std::string& region) {
  const std::span<const std::string_view> known = known_regions(cloud);
  if (known.empty() || std::ranges::find(known, region) != known.end()) return {};
  const std::string_view meant = manifest::did_you_mean(region, known);
  return fmt::format("{} is not one of the regions of {} that Capstan knows{}", region, name_of(cloud),
                     meant.empty() ? "" : fmt::format(" (did you mean {}?)", meant));
}

}  // namespace capstan::plan
