// SPDX-License-Identifier: Apache-2.0
#include "arch/tie.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <vector>

#include "arch/field_setter.h"
#include "arch/support/config_reader.h"
#include "arch/support/error.h"

namespace tandem {
namespace {

/// One factor: a constant, or a count or size of the chip.
struct Factor {
  std::variant<std::int64_t, const std::int64_t*, const Bytes*> value;
  bool is_size = false;

  [[nodiscard]] std::int64_t evaluate() const {
    if (const auto* count = std::get_if<const std::int64_t*>(&value)) return **count;
    if (const auto* size = std::get_if<const Bytes*>(&value)) return (**size).value();
    return std::get<std::int64_t>(value);
  }
};

using Product = std::vector<Factor>;

std::int64_t evaluate(const Product& product) {
  std::int64_t value = 1;
  for (const Factor& factor : product) value = checked_product(value, factor.evaluate());
  return value;
}

/// At most one factor is a size: bytes times bytes are no size.
std::int64_t sizes_in(const Product& product) {
  return std::count_if(product.begin(), product.end(), [](const Factor& factor) { return factor.is_size; });
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

[[noreturn]] void refuse(const std::string& field, const std::string& source, std::string problem) {
  throw ConfigError(
      {{.file = "design space",
        .path = field,
        .problem = fmt::format("follows '{}': {}", source, problem),
        .expected = "another field of the same kind, or a product of fields, whole numbers and sizes such "
                    "as 'max(1 KiB, tensor_cores.rows * tensor_cores.cols * 16 B)'",
        .suggestion = {}}});
}

std::optional<Factor> constant(std::string_view text) {
  ConfigNode node;
  node.kind = ConfigNode::Kind::scalar;
  node.scalar = std::string(text);
  if (const auto number = read_scalar<std::int64_t>(node); std::holds_alternative<std::int64_t>(number)) {
    return Factor{.value = std::get<std::int64_t>(number)};
  }
  if (const auto size = parse_quantity<Bytes>(text); std::holds_alternative<Bytes>(size)) {
    return Factor{.value = std::get<Bytes>(size).value(), .is_size = true};
  }
  return std::nullopt;
}

std::optional<Factor> variable(Chip& chip, std::string_view text) {
  const std::optional<FieldRef> field = find_field(chip, text);
  if (!field) return std::nullopt;
  if (auto* const* count = std::get_if<std::int64_t*>(&*field)) return Factor{.value = *count};
  if (auto* const* size = std::get_if<Bytes*>(&*field)) return Factor{.value = *size, .is_size = true};
  return std::nullopt;
}

std::optional<Product> parse_product(Chip& chip, std::string_view text) {
  Product product;
  while (true) {
    const std::size_t star = text.find('*');
    const std::string_view part = trimmed(text.substr(0, star));
    std::optional<Factor> factor = constant(part);
    if (!factor) factor = variable(chip, part);
    if (!factor) return std::nullopt;
    product.push_back(*factor);
    if (star == std::string_view::npos) return product;
    text.remove_prefix(star + 1);
  }
}

/// "max(a, b)" is {a, b}, anything else itself.
std::vector<std::string_view> terms_of(std::string_view text) {
  text = trimmed(text);
  if (!text.starts_with("max(") || !text.ends_with(")")) return {text};
  text = text.substr(4, text.size() - 5);
  const std::size_t comma = text.find(',');
  if (comma == std::string_view::npos) return {text};
  return {trimmed(text.substr(0, comma)), trimmed(text.substr(comma + 1))};
}

std::vector<Product> parse_terms(Chip& chip, const std::string& field, const std::string& source) {
  std::vector<Product> terms;
  for (const std::string_view text : terms_of(source)) {
    const std::optional<Product> product = parse_product(chip, text);
    if (!product) refuse(field, source, fmt::format("'{}' is neither a field nor a product", text));
    terms.push_back(*product);
  }
  return terms;
}

std::int64_t largest(const std::vector<Product>& terms) {
  std::int64_t value = evaluate(terms.front());
  for (const Product& term : terms) value = std::max(value, evaluate(term));
  return value;
}

/// A copy, if both ends are fields of one kind.
std::function<void()> copy_of(const FieldRef& target, const std::optional<FieldRef>& source) {
  if (!source || source->index() != target.index()) return {};
  return std::visit(
      [&](auto* to) -> std::function<void()> {
        const auto* from = std::get<decltype(to)>(*source);
        return [to, from] { *to = *from; };
      },
      target);
}

}  // namespace

std::function<void()> make_tie(Chip& chip, const std::string& field, const std::string& source) {
  const std::optional<FieldRef> target = find_field(chip, field);
  if (!target) refuse(field, source, "a chip has no such field");
  if (auto copy = copy_of(*target, find_field(chip, trimmed(source)))) return copy;
  std::vector<Product> terms = parse_terms(chip, field, source);
  const bool is_size = std::holds_alternative<Bytes*>(*target);
  if (!is_size && !std::holds_alternative<std::int64_t*>(*target)) {
    refuse(field, source, "only sizes and counts can follow a product");
  }
  for (const Product& term : terms) {
    if (sizes_in(term) != (is_size ? 1 : 0)) {
      refuse(field, source, is_size ? "a size is a product with one size in it" : "a count has no size in it");
    }
  }
  if (is_size) return [to = std::get<Bytes*>(*target), terms] { *to = Bytes(largest(terms)); };
  return [to = std::get<std::int64_t*>(*target), terms] { *to = largest(terms); };
}

}  // namespace tandem
