#include "model/reason_template.h"

#include <gtest/gtest.h>

#include <string>

namespace capstan::model::reason_template_test {
namespace {

TEST(ReasonTemplate, AFieldHasOneOfTheFormsOfItsLanguage) {
  for (const std::string_view good :
       {"", "nothing to fill in", "{0}", "{5}", "{0:pod|pods}", "{0:|s}", "{2:seconds}", "{2:more_than}",
        "{1:milli_replicas}", "{2:price/4}", "{3@queue}", "{1@level}s", "{2:amount/1}", "{1@resource}",
        "{0} is[ ({3@offering})] so", "[{0} of {5@gpu} ]GPUs"}) {
    EXPECT_TRUE(is_template(good)) << good;
  }
  for (const std::string_view bad : {"{",           "{}",          "}",           "{6}",
                                     "{x}",         "{00}",        "{0:}",        "{0:fortnights}",
                                     "{0@}",        "{0@replica}", "{0;seconds}", "{2:price}",
                                     "{2:price/6}", "{2:price/x}", "{2:amount}",  "[no object]",
                                     "[{0}]",       "{3@queue}]",  "[{3@queue}",  "[[{3@queue}]]"}) {
    EXPECT_FALSE(is_template(bad)) << bad;
  }
}

std::string filled(std::string_view text, const ReasonNumbers& numbers) {
  return fill_template(text, numbers, nullptr);
}

TEST(ReasonTemplate, ANumberIsShownAsPeopleReadIt) {
  struct Row {
    std::string_view form;
    std::int64_t number;
    std::string_view shown;
  };
  for (const Row& row : {
           Row{"{0}", 12, "12"},
           {"{0:pod|pods}", 1, "pod"},
           {"{0:pod|pods}", 0, "pods"},
           {"{0:milli}", 3421, "3.4"},
           {"{0:milli}", 4000, "4"},
           {"{0:milli}", 4004, "4"},
           {"{0:milli}", 4040, "4.04"},  // "4" would hide why five replicas are needed
           {"{0:milli}", 3960, "3.96"},
           {"{0:milli}", 250, "0.25"},
           {"{0:milli}", 0, "0"},
           {"{0:milli_replicas}", 1000, "1 replica"},
           {"{0:milli_replicas}", 1100, "1.1 replicas"},
           {"{0:milli_gpus}", 250, "0.25 GPUs"},
           {"{0:milli_gpus}", 8000, "8 GPUs"},
           {"{0:per_mille}", 850, "85 %"},
           {"{0:per_mille}", 1083, "108.3 %"},
           {"{0:micro_usd}", 2'400'000, "2.40 USD"},
           {"{0:micro_usd}", 800'000'000, "800.00 USD"},
           {"{0:micro_usd}", 1'999'999, "2.00 USD"},
           {"{0:micro_usd}", 2'500, "0.0025 USD"},
           {"{0:price/4}", 2'400'000, "2.40 USD/h"},
           {"{0:seconds}", 45, "45 s"},
           {"{0:seconds}", 90, "1 min 30 s"},
           {"{0:seconds}", 120, "2 min"},
           {"{0:seconds}", 129, "2 min 9 s"},
           {"{0:seconds}", 5430, "1 h 30 min"},
           {"{0:seconds}", 270'000, "3 d 3 h"},
           {"{0:milliseconds}", 250, "250 ms"},
           {"{0:milliseconds}", 1250, "1.25 s"},
           {"{0:milliseconds}", 129'400, "2 min 9 s"},
           {"{0:mib}", 1536, "1.5 GiB"},
           {"{0:mib}", 2'097'152, "2048 GiB"},
           {"{0:http_status}", 403, "403 (forbidden)"},
           {"{0:http_status}", 418, "418"},
           {"{0:more_than}", 8, "more than 8"},
           {"{0:more_than}", 0, "any"},
       }) {
    EXPECT_EQ(filled(row.form, {row.number}), row.shown) << row.form << " of " << row.number;
  }
  EXPECT_EQ(filled("{0:price/4}", {16'000, 0, 0, 0, 1}), "16 GPUs") << "prices of a fleet without prices";
}

TEST(ReasonTemplate, AnObjectHasItsNameWhereACatalogKnowsIt) {
  Catalog catalog;
  catalog.queues.push_back({.name = "research", .parent = {}});
  catalog.domains.push_back({"rack-1", TopologyLevel::rack, {}});
  catalog.gpu_kinds = {"H100"};
  EXPECT_EQ(fill_template("{0@queue}", {0}, &catalog), "queue \"research\"");
  EXPECT_EQ(fill_template("{0@queue}", {7}, &catalog), "queue 7") << "an id that the catalog does not have";
  EXPECT_EQ(fill_template("{0@queue}", {0}, nullptr), "queue 0");
  EXPECT_EQ(fill_template("{0@domain}", {0}, &catalog), "rack \"rack-1\"") << "a domain is called by its level";
  EXPECT_EQ(fill_template("in one {0@level}", {1}, nullptr), "in one NVLink domain");
}

TEST(ReasonTemplate, AResourceHasItsNameAndAnAmountItsUnit) {
  Catalog catalog;
  catalog.extended_resources = {"rdma/hca"};
  struct Row {
    std::int64_t resource, amount;
    std::string_view shown;
  };
  for (const Row& row : {Row{0, 96'000, "CPU: 96 CPUs"},
                         {0, 1'000, "CPU: 1 CPU"},
                         {1, 524'288, "memory: 512 GiB"},
                         {2, 1'024, "ephemeral storage: 1 GiB"},
                         {3, 1, "pod slots: 1"},
                         {4, 2, "rdma/hca: 2"}}) {
    EXPECT_EQ(fill_template("{0@resource}: {1:amount/0}", {row.resource, row.amount}, &catalog), row.shown);
  }
  EXPECT_EQ(fill_template("x[ of {0@resource}]", {5}, &catalog), "x") << "no such resource";
  EXPECT_EQ(fill_template("{0@resource}", {4}, nullptr), "extended resource 0");
}

TEST(ReasonTemplate, AnOptionalPartIsLeftOutIfItsObjectHasNoName) {
  Catalog catalog;
  catalog.gpu_kinds = {"H100"};
  constexpr std::int64_t kNone = -1;
  EXPECT_EQ(fill_template("8 [{0@gpu} ]GPUs", {0}, &catalog), "8 H100 GPUs");
  EXPECT_EQ(fill_template("8 [{0@gpu} ]GPUs", {0}, nullptr), "8 GPUs") << "the id of a GPU kind says nothing";
  EXPECT_EQ(fill_template("the best fit[, {0@domain},] has 2", {kNone}, &catalog), "the best fit has 2");
  EXPECT_EQ(fill_template("the best fit[, {0@domain},] has 2", {3}, nullptr), "the best fit, domain 3, has 2");
}

TEST(ReasonTemplate, TheSubjectIsTheFirstKindOfObjectThatTheCatalogNames) {
  Catalog catalog;
  catalog.gpu_kinds = {"h100_sxm"};
  catalog.domains = {{.name = "rack-7", .level = TopologyLevel::rack, .parent = {}}};
  catalog.queues = {{.name = "research", .parent = {}}};
  struct Row {
    std::string_view text;
    ReasonNumbers numbers;
    std::optional<ReasonSubject> subject;
  };
  for (const Row& row : {
           Row{"no object", {}, {}},
           {"{0} pods", {0}, {}},
           {"{0@level}", {2}, {}},
           {"{0@queue}", {0}, ReasonSubject{"queue", "research"}},
           {"{0@queue}", {1}, {}},
           {"{0@queue}", {-1}, {}},
           {"[{0@gpu} ]in {1@domain}", {0, 0}, ReasonSubject{"domain", "rack-7"}},
           {"[{0@gpu} ]in {1@domain}", {0, -1}, ReasonSubject{"gpu", "h100_sxm"}},
       }) {
    EXPECT_EQ(template_subject(row.text, row.numbers, catalog), row.subject) << row.text;
  }
}

}  // namespace
}  // namespace capstan::model::reason_template_test
