#include <gtest/gtest.h>

#include <string>

#include "lint/testing/cases.h"

// Tests of the rules about objects that KEDA or the API server refuses.
namespace capstan::lint::keda_cases_test {
namespace {

using namespace testing_cases;

std::string scaled_object(const std::string& spec, const std::string& api = "keda.sh/v1alpha1") {
  return "apiVersion: " + api + "\nkind: ScaledObject\nmetadata: {name: a}\nspec: {scaleTargetRef: {name: a}, " + spec +
         "}\n";
}

std::string_view trigger(const std::string& type, const std::string& metadata, const std::string& more = "") {
  return found(scaled_object("triggers: [{type: " + type + ", metadata: {" + metadata + "}" + more + "}]"),
               "keda-trigger-incomplete");
}

TEST(KedaCases, ATriggerNeedsTheFieldsOfItsScaler) {
  struct Row {
    const char* type;
    const char* metadata;
    std::string_view severity;
  };
  const Row rows[] = {
      {"prometheus", "serverAddress: 'http://p', query: sum(x), threshold: '5'", "none"},
      {"prometheus", "query: sum(x), threshold: '5'", "error"},
      {"prometheus", "serverAddress: 'http://p', threshold: '5'", "error"},
      {"prometheus", "serverAddress: 'http://p', query: sum(x)", "error"},
      {"prometheus", "serverAddressFromEnv: P, query: sum(x), threshold: '5'", "none"},
      {"cron", "timezone: UTC, start: 0 8 * * *, end: 0 20 * * *, desiredReplicas: '2'", "none"},
      {"cron", "start: 0 8 * * *, end: 0 20 * * *, desiredReplicas: '2'", "error"},
      {"cron", "timezone: UTC, start: 0 8 * * *, end: 0 20 * * *", "error"},
      {"redis", "address: 'r:6379', listName: q", "none"},
      {"redis", "host: r, port: '6379', listName: q", "none"},
      {"redis", "addressFromEnv: REDIS, listName: q", "none"},
      {"redis", "listName: q", "error"},
      {"redis", "address: 'r:6379'", "error"},
      {"rabbitmq", "host: 'amqp://r', queueName: q", "none"},
      {"rabbitmq", "hostFromEnv: R, queueName: q", "none"},
      {"rabbitmq", "queueName: q", "error"},
      {"kafka", "bootstrapServers: 'k:9092', consumerGroup: g, topic: t", "none"},
      {"kafka", "bootstrapServers: 'k:9092', topic: t", "error"},
      {"aws-sqs-queue", "queueURLFromEnv: Q, awsRegion: eu-west-1", "none"},
      {"aws-sqs-queue", "queueURL: q", "error"},
      {"postgresql", "connectionFromEnv: P, query: select 1, targetQueryValue: '1'", "none"},
      {"postgresql", "host: p, port: '5432', query: select 1, targetQueryValue: '1'", "none"},
      {"postgresql", "connectionFromEnv: P, query: select 1", "error"},
      {"some-new-scaler", "", "none"},
      {"cpu", "type: Utilization, value: '50'", "none"},
      {"cpu", "value: '50'", "error"},
  };
  for (const Row& row : rows) EXPECT_EQ(trigger(row.type, row.metadata), row.severity) << row.type << row.metadata;
}

TEST(KedaCases, AFieldMayBeElsewhere) {
  const std::string authentication = ", authenticationRef: {name: a}";
  EXPECT_EQ(trigger("redis", "listName: q", authentication), "none");
  EXPECT_EQ(trigger("redis", "address: 'r:6379'", authentication), "error") << "it holds no names of lists";
  EXPECT_EQ(trigger("postgresql", "query: select 1, targetQueryValue: '1'", authentication), "none");
  EXPECT_EQ(trigger("aws-sqs-queue", "queueURL: q", authentication), "none");
  EXPECT_EQ(trigger("cpu", "value: '50'", ", metricType: Utilization"), "none");
  EXPECT_EQ(trigger("cpu", "", ", metricType: Utilization"), "error");
  EXPECT_EQ(found(scaled_object("advanced: {scalingModifiers: {formula: a + 1, target: '1'}}, triggers: [{type: "
                                "prometheus, name: a, metadata: {serverAddress: 'http://p', query: sum(x)}}]"),
                  "keda-trigger-incomplete"),
            "none");
}

TEST(KedaCases, AFallbackNeedsBothFields) {
  const auto fallback = [](const std::string& fields) {
    return found(scaled_object("fallback: {" + fields + "}"), "keda-fallback-incomplete");
  };
  EXPECT_EQ(fallback("replicas: 3"), "error");
  EXPECT_EQ(fallback("failureThreshold: 3"), "error");
  EXPECT_EQ(fallback("failureThreshold: 3, behavior: currentReplicas"), "error");
  EXPECT_EQ(fallback("failureThreshold: 3, replicas: 0"), "none");
}

TEST(KedaCases, TheApiOfKeda1WasRemoved) {
  const std::string old = "keda.k8s.io/v1alpha1";
  EXPECT_EQ(found(scaled_object("maxReplicaCount: 4", old), "keda-api-removed"), "error");
  EXPECT_EQ(found(scaled_object("maxReplicaCount: 4"), "keda-api-removed"), "none");
  EXPECT_EQ(found(scaled_object("maxReplicaCount: 4", "other.io/v1"), "keda-api-removed"), "none");
  EXPECT_EQ(found(scaled_object("minReplicas: 4", old), "keda-field-unknown"), "none") << "its fields are others";
  EXPECT_EQ(found("apiVersion: " + old + "\nkind: TriggerAuthentication\nmetadata: {name: a}\nspec: {}\n",
                  "keda-api-removed"),
            "error");
}

TEST(KedaCases, AFormulaNamesTriggers) {
  const auto formula = [](const std::string& text, const std::string& trigger_fields = "") {
    return found(
        scaled_object("advanced: {scalingModifiers: {formula: \"" + text +
                      "\", target: '1'}}, triggers: [{type: prometheus, name: q, metadata: {query: a}}, {type: "
                      "cron, name: night_1, metadata: {}}" +
                      trigger_fields + "]"),
        "formula-name-unknown");
  };
  struct Row {
    const char* formula;
    std::string_view severity;
  };
  for (const Row& row : {
           Row{"q / 2", "none"},
           Row{"queue / 2", "error"},
           Row{"q > 2 ? q + night_1 : 0.5", "none"},
           Row{"max(q, night_1) * 1e3", "none"},
           Row{"clamp_min(q, 1)", "error"},
           Row{"count([q, night_1], {# > 1}) > 1 ? 5 : 0", "none"},
           Row{"q > 1 and not (night_1 in [1, 2]) ? 1 : 0", "none"},
           Row{"q == 1 ? len('queue') : 2", "none"},
           Row{"let x = 2; x * q", "none"},
           Row{"my-q", "error"},
           Row{"{{ .Values.formula }}", "none"},
       })
    EXPECT_EQ(formula(row.formula), row.severity) << row.formula;
  EXPECT_EQ(formula("q + load", ", {type: cpu, name: load, metricType: Utilization, metadata: {value: '50'}}"), "error")
      << "formulas cannot use triggers of resources";
}

}  // namespace
}  // namespace capstan::lint::keda_cases_test
