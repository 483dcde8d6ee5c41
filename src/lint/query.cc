#include "lint/query.h"

#include <algorithm>

#include "lint/facts.h"
#include "lint/rule.h"
#include "promql/function.h"
#include "promql/parser.h"

namespace capstan::lint {
namespace {

using promql::Aggregation;
using promql::Binary;
using promql::Call;
using promql::Expression;
using promql::LabelMatcher;
using promql::Selector;

using Labels = std::optional<std::set<std::string>>;

Labels aggregated(const Aggregation& node) {
  const Labels inner = labels_of(*node.operand);
  if (node.op == Aggregation::Op::topk || node.op == Aggregation::Op::bottomk) return inner;
  if (node.without) return inner;
  std::set<std::string> result;
  for (const std::string& label : node.labels) {
    if (!inner || inner->contains(label)) result.insert(label);
  }
  if (node.op == Aggregation::Op::count_values) result.insert("value");
  return result;
}

Labels called(const Call& node) {
  const std::string_view name = node.function->name;
  if (name == "vector" || name == "absent" || name == "absent_over_time" || name == "time" || name == "scalar") {
    return std::set<std::string>();
  }
  Labels labels = std::set<std::string>();
  for (const auto& argument : node.arguments) {
    if (argument->type != promql::ValueType::vector && argument->type != promql::ValueType::matrix) continue;
    labels = labels_of(*argument);
  }
  if (name == "histogram_quantile" && labels) labels->erase("le");
  return labels;
}

Labels combined(const Binary& node) {
  const bool left_scalar = node.left->type == promql::ValueType::scalar;
  const bool right_scalar = node.right->type == promql::ValueType::scalar;
  if (right_scalar) return labels_of(*node.left);
  if (left_scalar) return labels_of(*node.right);
  const Labels left = labels_of(*node.left);
  const Labels right = labels_of(*node.right);
  if (node.op == Binary::Op::or_) return !left || !right ? std::nullopt : (left->empty() ? right : left);
  if (node.group == Binary::Group::right) return right;
  return left;
}

}  // namespace

namespace {

/// Returns the only name that a matcher of `__name__` allows. The matcher may be a pattern without special characters.
std::string name_in(const LabelMatcher& matcher) {
  if (matcher.op == LabelMatcher::Op::equal) return matcher.value;
  if (matcher.op != LabelMatcher::Op::matches) return {};
  std::string_view pattern = matcher.value;
  if (pattern.starts_with('^')) pattern.remove_prefix(1);
  if (pattern.ends_with('$')) pattern.remove_suffix(1);
  return pattern.find_first_of(".*+?()[]{}|\\^$") == pattern.npos ? std::string(pattern) : std::string();
}

}  // namespace

const LabelMatcher* MetricUse::matcher(std::string_view label) const {
  const auto found = std::ranges::find(selector->matchers, label, &LabelMatcher::name);
  return found == selector->matchers.end() ? nullptr : &*found;
}

Query::Query(const File& file, const Value& text) : Query(file, text, {}) {}

Query::Query(const File& file, const Value& text, std::string_view series)
    : file_(&file), text_(&text), series_(series) {
  if (!series.empty()) fill_in();
  parse();
}

void Query::fill_in() {
  struct Part {
    std::string_view written, read;
  };
  const Part parts[] = {{"<<.Series>>", series_}, {"<<.LabelMatchers>>", "matched=\"\""}, {"<<.GroupBy>>", "grouped"}};
  std::string_view rest = text_->text;
  while (!rest.empty()) {
    const auto part =
        std::ranges::find_if(parts, [&](const Part& candidate) { return rest.starts_with(candidate.written); });
    const std::size_t at = text_->text.size() - rest.size();
    if (part == std::end(parts)) {
      filled_ += rest.front();
      rest.remove_prefix(1);
      continue;
    }
    variables_.push_back({filled_.size(), filled_.size() + part->read.size(), at, at + part->written.size()});
    filled_ += part->read;
    rest.remove_prefix(part->written.size());
  }
}

void Query::parse() {
  const std::string_view text = read();
  auto parsed = promql::parse(text, "query");
  if (parsed) {
    root_ = std::move(*parsed);
    return;
  }
  fault_ = parsed.error().message;
  std::size_t offset = 0;
  for (std::uint32_t line = 1; line < parsed.error().line; ++line) offset = text.find('\n', offset) + 1;
  if (parsed.error().column > 0) offset += parsed.error().column - 1;
  fault_span_ = offset < text.size() ? place_of(offset, offset + 1) : text_->span;
}

/// Converts an offset in the parsed text to an offset in the file's text. An offset inside a filled variable becomes
/// the end of that variable.
std::size_t Query::written(std::size_t offset) const {
  std::size_t shift_from = 0, shift_to = 0;
  for (const TemplateVariable& variable : variables_) {
    if (offset < variable.begin || (offset == variable.begin && variable.begin != variable.end)) break;
    if (offset < variable.end) return variable.written_end;
    shift_from = variable.end;
    shift_to = variable.written_end;
  }
  return shift_to + (offset - shift_from);
}

Span Query::place_of(std::size_t begin, std::size_t end) const {
  const std::size_t first = written(begin);
  return part_of(*file_, *text_, first, std::max(written(end), first) - first);
}

Span Query::span_of(const promql::Span& span) const { return place_of(span.begin.offset, span.end_offset); }

std::vector<MetricUse> Query::metrics() const {
  std::vector<MetricUse> out;
  if (root_ == nullptr) return out;
  promql::walk(*root_, [&](const Expression& expression) {
    const auto* selector = std::get_if<Selector>(&expression.node);
    if (selector == nullptr) return;
    MetricUse use{.expression = &expression, .selector = selector, .name = selector->metric, .span = {}};
    const std::size_t begin = expression.span.begin.offset;
    use.span = place_of(begin, begin + selector->metric.size());
    if (selector->metric.empty()) {
      use.span = span_of(expression.span);
      if (const LabelMatcher* name = use.matcher("__name__")) use.name = name_in(*name);
    }
    out.push_back(std::move(use));
  });
  return out;
}

ScalerQueries::ScalerQueries(const Object& scaler) : file_(scaler.file), adapter_(scaler) {
  for (ScalingSignal& signal : signals_of(scaler)) {
    Row& row = rows_.emplace_back();
    row.signal = signal;
    if (signal.is_query() && signal.metric->is_scalar()) row.query.emplace(*file_, *signal.metric);
  }
  for (const Value* rule : adapter_.rules()) add_rule(*rule);
}

/// Adds the `seriesQuery` of an adapter's rule. Also adds its `metricsQuery` if all selected series have one name.
void ScalerQueries::add_rule(const Value& rule) {
  const auto signal = [&](const Value& query) {
    return ScalingSignal{SignalSource::prometheus, "prometheus", &rule, &query, &Value::missing(), false};
  };
  Row& series = rows_.emplace_back();
  series.signal = signal(rule["seriesQuery"]);
  series.query.emplace(*file_, rule["seriesQuery"]);
  const std::vector<MetricUse> uses = series.query->metrics();
  if (uses.size() != 1 || uses.front().name.empty() || !rule["metricsQuery"].is_scalar()) return;
  Row& row = rows_.emplace_back();
  row.signal = signal(rule["metricsQuery"]);
  row.query.emplace(*file_, rule["metricsQuery"], uses.front().name);
}

const ScalerQueries& Subject::queries() const {
  if (!views_.queries) views_.queries = std::make_shared<const ScalerQueries>(object);
  return *views_.queries;
}

void for_each_query(const ScalerQueries& scaler, const std::function<void(const ScalingSignal&, const Query&)>& visit) {
  for (const ScalerQueries::Row& row : scaler.rows()) {
    if (row.query && row.query->root() != nullptr) visit(row.signal, *row.query);
  }
}

std::optional<std::set<std::string>> labels_of(const Expression& expression) {
  if (const auto* node = std::get_if<Aggregation>(&expression.node)) return aggregated(*node);
  if (const auto* node = std::get_if<Call>(&expression.node)) return called(*node);
  if (const auto* node = std::get_if<Binary>(&expression.node)) return combined(*node);
  if (const auto* node = std::get_if<promql::Negation>(&expression.node)) return labels_of(*node->operand);
  if (const auto* node = std::get_if<promql::Subquery>(&expression.node)) return labels_of(*node->operand);
  if (std::holds_alternative<Selector>(expression.node)) return std::nullopt;
  return std::set<std::string>();
}

const Expression& without_guard(const Expression& expression) {
  const auto* node = std::get_if<Binary>(&expression.node);
  if (node == nullptr) return expression;
  const auto* call = std::get_if<Call>(&node->right->node);
  const bool constant = call != nullptr && call->function->name == "vector";
  const bool bound = promql::is_comparison(node->op) && node->right->type == promql::ValueType::scalar;
  return (node->op == Binary::Op::or_ && constant) || bound ? without_guard(*node->left) : expression;
}

Scaled without_factor(const Expression& expression) {
  const Expression& inner = without_guard(expression);
  const auto* node = std::get_if<Binary>(&inner.node);
  if (node == nullptr || node->op != Binary::Op::multiply) return {&inner};
  const std::pair<const Expression*, const Expression*> sides[] = {{node->left.get(), node->right.get()},
                                                                   {node->right.get(), node->left.get()}};
  for (const auto& [number, other] : sides) {
    const auto* constant = std::get_if<promql::Number>(&number->node);
    if (constant != nullptr && constant->value > 0) return {&without_guard(*other), constant->value};
  }
  return {&inner};
}

namespace {

/// Returns the name of a metric without the path that Cloud Monitoring puts around it. Managed Prometheus writes
/// "prometheus.googleapis.com|vllm:num_requests_waiting|gauge", GKE "kubernetes.io|container|accelerator|duty_cycle".
std::string_view name_in_monitoring(std::string_view text) {
  constexpr std::string_view kPrometheus = "prometheus.googleapis.com|";
  if (!text.starts_with(kPrometheus)) return text.substr(text.rfind('|') + 1);
  text.remove_prefix(kPrometheus.size());
  return text.substr(0, text.find('|'));
}

}  // namespace

void for_each_metric_name(const ScalerQueries& scaler, const std::function<void(const NameUse&)>& visit) {
  for (const auto& [signal, query] : scaler.rows()) {
    if (!signal.metric->is_scalar() || signal.source == SignalSource::resource) continue;
    if (!signal.is_query()) {
      const std::string_view name = name_in_monitoring(signal.metric->text);
      const auto offset = static_cast<std::size_t>(name.data() - signal.metric->text.data());
      visit({&signal, std::string(name), part_of(scaler.file(), *signal.metric, offset, name.size())});
      continue;
    }
    for (const MetricUse& use : query->metrics()) {
      if (query->series().empty() || use.name != query->series()) visit({&signal, use.name, use.span});
    }
  }
}

bool is_ratio_metric(std::string_view name) {
  if (name.starts_with("kserve_")) name.remove_prefix(7);
  if (const KnownMetric* known = known_metric(name)) return known->is_ratio();
  // NIM, AIBrix (for metrics of vLLM) and vLLM before 0.13 use these names.
  for (const std::string_view ratio :
       {"gpu_cache_usage_perc", "kv_cache_usage_perc", "vllm:gpu_cache_usage_perc", "vllm_gpu_cache_usage_perc"}) {
    if (name == ratio) return true;
  }
  return false;
}

}  // namespace capstan::lint
