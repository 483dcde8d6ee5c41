#include "kube/service_endpoints.h"

#include <gtest/gtest.h>

namespace capstan::kube {
namespace {

struct NameRow {
  const char* text;
  ServiceName name;  ///< expected name; empty: the text is refused
};

TEST(ServiceName, HasAnOptionalNamespaceAndPort) {
  const NameRow rows[] = {
      {"engine", {"", "engine", ""}},
      {"llm/engine", {"llm", "engine", ""}},
      {"engine:8000", {"", "engine", "8000"}},
      {"llm/engine:http", {"llm", "engine", "http"}},
      {"", {}},
      {"/engine", {}},
      {"llm/", {}},
      {"engine:", {}},
      {":80", {}},
      {"a/b/c", {}},
      {"http://engine:80", {}},
  };
  for (const NameRow& row : rows) {
    SCOPED_TRACE(row.text);
    const Result<ServiceName> name = parse_service_name(row.text);
    EXPECT_EQ(name.has_value(), !row.name.name.empty());
    EXPECT_EQ(name.value_or(ServiceName()), row.name);
  }
}

/// Returns a store with these EndpointSlices, given as JSON.
StoreSnapshot<EndpointSlice> slices_of(const std::vector<std::string>& objects) {
  Store<EndpointSlice> store(read_endpoint_slice);
  JsonDocument document;
  for (const std::string& object : objects) EXPECT_TRUE(store.set(document.parse(object).value()));
  return store.snapshot();
}

std::string slice(const std::string& name, const std::string& service, const std::string& ports,
                  const std::string& endpoints) {
  return R"({"metadata":{"namespace":"llm","name":")" + name + R"(","labels":{"kubernetes.io/service-name":")" +
         service + R"("}},"ports":[)" + ports + R"(],"endpoints":[)" + endpoints + "]}";
}

const std::string kHttp = R"({"name":"http","port":8000})";

TEST(ReadyUrls, CoverTheReadyAddressesOfAllSlices) {
  const auto slices = slices_of({
      slice("b", "engine", kHttp, R"({"addresses":["10.0.0.2"],"conditions":{"ready":true}})"),
      slice("a", "engine", kHttp,
            R"({"addresses":["10.0.0.1"]},{"addresses":["10.0.0.9"],"conditions":{"ready":false}},)"
            R"({"addresses":["10.0.0.2"]})"),
      slice("c", "other", kHttp, R"({"addresses":["10.0.0.3"]})"),
      slice("d", "engine", kHttp, R"({"addresses":["fd00::1"]})"),
  });
  const auto urls = ready_urls(slices, {"llm", "engine", ""});
  ASSERT_TRUE(urls) << urls.error().text();
  EXPECT_EQ(*urls, (std::vector<std::string>{"http://10.0.0.1:8000", "http://10.0.0.2:8000", "http://[fd00::1]:8000"}));
  EXPECT_TRUE(ready_urls(slices, {"elsewhere", "engine", ""})->empty());
}

TEST(ReadyUrls, ThePortIsFoundByNameOrNumber) {
  const auto slices =
      slices_of({slice("a", "engine", kHttp + R"(,{"name":"metrics","port":9090})", R"({"addresses":["10.0.0.1"]})")});
  EXPECT_EQ(ready_urls(slices, {"llm", "engine", "metrics"})->front(), "http://10.0.0.1:9090");
  EXPECT_EQ(ready_urls(slices, {"llm", "engine", "8000"})->front(), "http://10.0.0.1:8000");
  EXPECT_EQ(ready_urls(slices, {"llm", "engine", ""}).error().text(),
            "service llm/engine: no port is named, expected one of http (8000), metrics (9090)");
  EXPECT_EQ(ready_urls(slices, {"llm", "engine", "grpc"}).error().text(),
            "service llm/engine: it has no port 'grpc', expected one of http (8000), metrics (9090)");
}

}  // namespace
}  // namespace capstan::kube
