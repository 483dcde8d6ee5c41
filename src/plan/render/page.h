#pragma once

#include <string>
#include <utility>
#include <vector>

#include "plan/result/plan.h"

namespace capstan::plan {

/// A figure on which a decision of the plan depends.
struct PageFigure {
  std::string name{};   ///< "cold start"
  std::string value{};  ///< "2 min 24 s"
  Evidence evidence = Evidence::none;
};

/// A section of the plan, without its arithmetic.
struct PageBlock {
  std::string name{};  ///< "warm pool"
  std::string title{};
  std::string answer{};
  std::vector<PageFigure> figures{};
};

struct PageTable {
  struct Row {
    std::vector<std::string> cells{};  ///< one for each column
    bool is_chosen = false;            ///< the plan's own choice
  };
  std::vector<std::string> columns{};  ///< heads; the first two columns are texts, the others are numbers
  std::vector<Row> rows{};
};

/// The first lines on a service: "cost", "SLO", "stress tests", each with its sentence.
struct PageHeadline {
  std::string service{};
  std::string fleet{};
  std::vector<std::pair<std::string, std::string>> lines{};
};

/// A folder of `--out`, or a file outside folders.
struct PageFolder {
  std::string name{};  ///< "nodes/", "plan.md"
  std::int64_t files = 0;
};

/// The page of a plan, before it is written as text or Markdown.
struct Page {
  std::string title{};
  std::vector<PageHeadline> headlines{};  ///< first lines by service
  std::string sum{};                      ///< cost of all services and jobs; empty: one service has the cluster alone
  std::vector<std::string> jobs{};        ///< results of the jobs, a line for each class
  PageTable scalers{};                    ///< scalers with their simulated figures, or with "not simulated"
  std::string choice{};                   ///< order of scalers that cost the same; empty: the costs differ
  PageTable frontier{};                   ///< fleets that the search tried
  std::vector<PageBlock> blocks{};
  std::vector<std::string> not_simulated{};
  std::vector<std::string> defaults{};  ///< one for each part of the spec: "services.chat: slo.attainment = 99 %"
  std::vector<PageFolder> folders{};    ///< folders of `--out`; none: the plan misses an SLO and has no manifests
  std::vector<std::string> needs{};     ///< components that the commands need and do not install
  std::string kill_switch{};            ///< when and how to roll back; empty: the plan has no manifests
  std::vector<ApplyCommand> apply{};    ///< the result of chosen_commands()
};

Page page_of(const Plan& plan);

/// Returns the SLO of a service: "99.0 % of requests: TTFT at most 2 s, TPOT at most 50 ms".
std::string slo_words(const model::Slo& slo);

/// Says what would hold the SLO of every service on one cluster: "higher minima hold it for 12.00 USD/h: --set ...".
/// The plan must have simulated all services together, and one of them must have missed its SLO.
std::string together_advice(const Plan& plan);

/// Returns the values that the spec leaves out, one for each line, with the reason of each.
std::vector<std::string> default_lines(const Plan& plan);

}  // namespace capstan::plan
