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
  const Labels inner = labels_of(*node.of);
  if (node.op == Aggregation::Op::topk || node.op == Aggregation::Op::bottomk) return inner;
  if (node.without) return inner;
  std::set<std::string> kept;
  for (const std::string& label : node.labels) {
    if (!inner || inner->contains(label)) kept.insert(label);
  }
  if (node.op == Aggregation::Op::count_values) kept.insert("value");
  return kept;
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

const LabelMatcher* MetricUse::matcher(std::string_view label) const {
  const auto found = std::ranges::find(selector->matchers, label, &LabelMatcher::name);
  return found == selector->matchers.end() ? nullptr : &*found;
}

Query::Query(const File& file, const Value& text) : file_(&file), text_(&text) {
  auto parsed = promql::parse(text.text, "query");
  if (parsed) {
    root_ = std::move(*parsed);
    return;
  }
  fault_ = parsed.error().message;
  std::size_t offset = 0;
  for (std::uint32_t line = 1; line < parsed.error().line; ++line) offset = text.text.find('\n', offset) + 1;
  if (parsed.error().column > 0) offset += parsed.error().column - 1;
  fault_span_ = offset < text.text.size() ? part_of(file, text, offset, 1) : text.span;
}

Span Query::span_of(const promql::Span& span) const {
  return part_of(*file_, *text_, span.begin.offset, span.end_offset - span.begin.offset);
}

std::vector<MetricUse> Query::metrics() const {
  std::vector<MetricUse> out;
  if (root_ == nullptr) return out;
  promql::walk(*root_, [&](const Expression& expression) {
    const auto* selector = std::get_if<Selector>(&expression.node);
    if (selector == nullptr) return;
    MetricUse use{.expression = &expression, .selector = selector, .name = selector->metric, .span = {}};
    use.span = part_of(*file_, *text_, expression.span.begin.offset, selector->metric.size());
    if (selector->metric.empty()) {
      use.span = span_of(expression.span);
      const LabelMatcher* name = use.matcher("__name__");
      if (name != nullptr && name->op == LabelMatcher::Op::equal) use.name = name->value;
    }
    out.push_back(std::move(use));
  });
  return out;
}

ScalerQueries::ScalerQueries(const Object& scaler) : file_(scaler.file) {
  for (ScalingSignal& signal : signals_of(scaler)) {
    Row& row = rows_.emplace_back();
    row.signal = signal;
    if (signal.is_query() && signal.metric->is_scalar()) row.query.emplace(*file_, *signal.metric);
  }
}

const ScalerQueries& Subject::queries() const {
  if (!views_.queries) views_.queries = std::make_shared<const ScalerQueries>(object);
  return *views_.queries;
}

void each_query(const ScalerQueries& scaler, const std::function<void(const ScalingSignal&, const Query&)>& visit) {
  for (const ScalerQueries::Row& row : scaler.rows()) {
    if (row.query && row.query->root() != nullptr) visit(row.signal, *row.query);
  }
}

std::optional<std::set<std::string>> labels_of(const Expression& expression) {
  if (const auto* node = std::get_if<Aggregation>(&expression.node)) return aggregated(*node);
  if (const auto* node = std::get_if<Call>(&expression.node)) return called(*node);
  if (const auto* node = std::get_if<Binary>(&expression.node)) return combined(*node);
  if (const auto* node = std::get_if<promql::Negation>(&expression.node)) return labels_of(*node->of);
  if (const auto* node = std::get_if<promql::Subquery>(&expression.node)) return labels_of(*node->of);
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

void each_metric_name(const ScalerQueries& scaler, const std::function<void(const NameUse&)>& visit) {
  for (const auto& [signal, query] : scaler.rows()) {
    if (!signal.metric->is_scalar() || signal.source == SignalSource::resource) continue;
    if (!signal.is_query()) {
      // The names of managed Prometheus: "prometheus.googleapis.com|vllm:num_requests_waiting|gauge".
      std::string_view name = signal.metric->text;
      std::size_t offset = 0;
      if (const std::size_t bar = name.find('|'); bar != name.npos) {
        offset = bar + 1;
        name = name.substr(offset, name.find('|', offset) - offset);
      }
      visit({&signal, std::string(name), part_of(scaler.file(), *signal.metric, offset, name.size())});
      continue;
    }
    for (const MetricUse& use : query->metrics()) visit({&signal, use.name, use.span});
  }
}

bool is_ratio_metric(std::string_view name) {
  if (name.starts_with("kserve_")) name.remove_prefix(7);
  if (const KnownMetric* known = known_metric(name)) return known->is_ratio();
  // SGLang's; behind other prefixes token_usage is a number of tokens (gen_ai_client_token_usage).
  if (name == "token_usage") return true;
  for (const std::string_view plain : {"gpu_cache_usage_perc", "kv_cache_usage_perc"}) {
    if (name == plain || name.ends_with(":" + std::string(plain)) || name.ends_with("_" + std::string(plain)))
      return true;
  }
  return false;
}

}  // namespace capstan::lint
