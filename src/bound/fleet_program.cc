#include "bound/fleet_program.h"

#include <algorithm>

#include "bound/level_plan.h"
#include "bound/linear_program.h"

namespace capstan::bound {
namespace {

constexpr int kMaxIterations = 400'000;

class FleetProgram {
 public:
  FleetProgram(const Corridor& corridor, const FleetTerms& terms) : corridor_(corridor), terms_(terms) {
    bin_s_ = in_seconds(corridor.bin);
    initial_above_standing_ = std::max(terms.initial - terms.standing, 0.0);
    // Upper limit on the replicas of a bin: the most work that the corridor allows in one bin, divided by its length,
    // or the initial replicas if they are more.
    double most = initial_above_standing_;
    for (std::size_t i = 0; i < corridor.bins(); ++i) {
      const double before = i == 0 ? 0 : corridor.due_s[i - 1];
      most = std::max(most, (corridor.released_s[i] - before) / bin_s_);
    }
    for (std::size_t i = 0; i < corridor.bins(); ++i) {
      done_.push_back(program_.add_column(0, corridor.due_s[i], corridor.released_s[i]));
      paid_.push_back(program_.add_column(bin_s_, 0, most));
      started_.push_back(program_.add_column(terms.start_s, 0, most));
    }
    add_capacity_rows();
    add_start_rows();
    add_drops();
  }

  FleetBound solve() const {
    const LinearProgram::Solution solution = program_.minimise(kMaxIterations);
    FleetBound bound{.least_s = program_.certified(solution.row_prices), .solved = solution.optimal, .level = {}};
    if (!solution.optimal) return bound;
    for (const std::size_t column : paid_) {
      bound.level.push_back(terms_.standing + std::max(solution.columns[column], 0.0));
    }
    return bound;
  }

 private:
  /// Limits the work done in a bin to the time of its replicas plus the work of the dropped jobs, which counts as done.
  void add_capacity_rows() {
    for (std::size_t i = 0; i < corridor_.bins(); ++i) {
      capacity_.push_back(program_.add_row(-LinearProgram::kFree, bin_s_ * terms_.standing));
      program_.set(capacity_[i], done_[i], 1);
      if (i > 0) program_.set(capacity_[i], done_[i - 1], -1);
      program_.set(capacity_[i], paid_[i], -bin_s_);
    }
  }

  void add_start_rows() {
    for (std::size_t i = 0; i < corridor_.bins(); ++i) {
      const std::size_t row = program_.add_row(-LinearProgram::kFree, i == 0 ? initial_above_standing_ : 0);
      program_.set(row, paid_[i], 1);
      if (i > 0) program_.set(row, paid_[i - 1], -1);
      program_.set(row, started_[i], -1);
    }
  }

  void add_drops() {
    if (terms_.allowed_misses <= 0) return;
    const std::size_t budget = program_.add_row(-LinearProgram::kFree, static_cast<double>(terms_.allowed_misses));
    for (const DropClass& drop : corridor_.drops) {
      const auto most = static_cast<double>(std::min(drop.jobs, terms_.allowed_misses));
      const std::size_t column = program_.add_column(0, 0, most);
      program_.set(budget, column, 1);
      program_.set(capacity_[drop.bin], column, -drop.work_s);
    }
  }

  const Corridor& corridor_;
  const FleetTerms& terms_;
  double bin_s_ = 0;
  double initial_above_standing_ = 0;  // initial replicas in addition to the standing ones
  LinearProgram program_;
  std::vector<std::size_t> done_, paid_, started_;  // columns of the program by bin
  std::vector<std::size_t> capacity_;               // rows of the program by bin
};

/// Returns the work that remains when the heaviest jobs, up to `allowed_misses`, are dropped. Starts and idle time are
/// not included.
double least_work(const Corridor& corridor, const FleetTerms& terms) {
  std::vector<DropClass> drops = corridor.drops;
  std::ranges::stable_sort(drops, std::ranges::greater{}, &DropClass::work_s);
  double work = corridor.due_s.empty() ? 0 : corridor.due_s.back();
  RequestCount still_droppable = terms.allowed_misses;
  for (const DropClass& drop : drops) {
    const RequestCount jobs = std::min(still_droppable, drop.jobs);
    work -= static_cast<double>(jobs) * drop.work_s;
    still_droppable -= jobs;
  }
  return work;
}

/// Returns the replicas by bin of a plan that does all work in the bin of its arrival. It is used if the solver stopped
/// early.
std::vector<double> levels_by_release(const Corridor& corridor, const FleetTerms& terms) {
  const double bin_s = in_seconds(corridor.bin);
  std::vector<double> demand;
  for (std::size_t i = 0; i < corridor.bins(); ++i) {
    demand.push_back((corridor.released_s[i] - (i == 0 ? 0 : corridor.released_s[i - 1])) / bin_s);
  }
  LevelPlan plan = cheapest_levels(demand, terms.start_s / bin_s, terms.initial);
  for (double& level : plan.level) level = std::max(level, terms.standing);
  return plan.level;
}

}  // namespace

FleetBound least_fleet(const Corridor& corridor, const FleetTerms& terms) {
  FleetBound bound = FleetProgram(corridor, terms).solve();
  const double standing_s = terms.standing * in_seconds(terms.span);
  // Standing replicas are paid in addition to the replicas of the program. A second lower bound is the work that
  // remains without the jobs that may be dropped.
  bound.least_s = std::max({standing_s + std::max(bound.least_s, 0.0), least_work(corridor, terms)});
  if (!bound.solved) bound.level = levels_by_release(corridor, terms);
  return bound;
}

}  // namespace capstan::bound
