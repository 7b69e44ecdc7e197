// SPDX-License-Identifier: Apache-2.0
#include "libcore/config/filter.h"

#include <re2/re2.h>

namespace yk::config {

namespace {

RE2::Options options() {
    RE2::Options options;
    options.set_log_errors(false);
    options.set_max_mem(kMaxExpressionBytes);
    return options;
}

re2::StringPiece to_re2(std::string_view text) {
    return {text.data(), text.size()};
}

} // namespace

bool is_expression(std::string_view entry) {
    return entry.find_first_of("^$*+?()[{}|") != std::string_view::npos;
}

FilterEntry classify_filter_entry(std::string_view entry, bool (*is_legal)(std::string_view)) {
    if (is_legal(entry)) return FilterEntry::Name;
    if (!is_expression(entry)) return FilterEntry::Invalid;
    const RE2 expression{to_re2(entry), options()};
    return expression.ok() ? FilterEntry::Expression : FilterEntry::Invalid;
}

Expression::Expression(std::string_view text) : compiled_(std::make_unique<const RE2>(to_re2(text), options())) {}
Expression::~Expression() = default;
Expression::Expression(Expression&&) noexcept = default;
Expression& Expression::operator=(Expression&&) noexcept = default;

bool Expression::found_in(std::string_view text) const {
    return compiled_->ok() && RE2::PartialMatch(to_re2(text), *compiled_);
}

const std::string& Expression::text() const {
    return compiled_->pattern();
}

} // namespace yk::config
