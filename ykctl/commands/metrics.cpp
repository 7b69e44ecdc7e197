// SPDX-License-Identifier: Apache-2.0
// The command metrics: the daemon's numbers, in the form of Prometheus.

#include <algorithm>
#include <ostream>

#include <re2/re2.h>

#include "ykctl/commands/nouns.h"
#include "ykctl/render/text.h"

namespace yk::cli {
namespace {

using wire::Value;

struct MetricOptions {
    std::optional<std::string> grep, family;
};

/// Selects the lines that match, with the HELP and TYPE lines of their families. Takes one page after the other.
class MatchingLines {
public:
    std::string of(const std::string& text, const RE2& expression) {
        std::string shown;
        for (std::size_t begin = 0; begin < text.size();) {
            const std::size_t end = std::min(text.find('\n', begin), text.size());
            const re2::StringPiece line{text.data() + begin, end - begin};
            const std::string whole = text.substr(begin, end - begin) + "\n";
            begin = end + 1;
            if (whole.front() == '#') {
                heading_ = whole.starts_with("# HELP") ? whole : heading_ + whole;
            } else if (RE2::PartialMatch(line, expression)) {
                shown += heading_ + whole;
                heading_.clear();
            }
        }
        return shown;
    }

private:
    std::string heading_; // of the current family, until one of its lines is shown
};

std::vector<Value> matching_families(const Value& families, const RE2* expression) {
    std::vector<Value> found;
    for (const auto& family : families)
        if (expression == nullptr || RE2::PartialMatch(text_of(family, "name"), *expression)) found.push_back(family);
    return found;
}

Failure nothing_there(const MetricOptions& options) {
    std::string which = options.grep ? "matches '" + *options.grep + "'" : std::string{};
    if (options.family)
        which += std::string{which.empty() ? "" : " in a family that "} + "begins with '" + *options.family + "'";
    return not_found("no metric " + which, {"which are there?  ykctl metrics -o name"});
}

/// Prints the families as JSON. A family that continues on the next page is printed as one.
Outcome show_families(Context& context, si::MetricsRequest query, const MetricOptions& options, const RE2* expression) {
    std::vector<Value> families;
    const auto take = [&](const Value& reply) -> std::optional<Failure> {
        auto page = matching_families(member_of(reply, "families"), expression);
        for (Value& family : page) {
            if (!families.empty() && text_of(families.back(), "name") == text_of(family, "name"))
                for (Value& sample : family["samples"]) families.back()["samples"].push_back(std::move(sample));
            else
                families.push_back(std::move(family));
        }
        return std::nullopt;
    };
    if (auto failure = context.call_pages(std::move(query), take)) return *failure;
    if (families.empty() && (options.grep || options.family)) return nothing_there(options);
    const ListLayout layout{{}, [](const Value& family) { return text_of(family, "name"); }, {}};
    return context.show_list(std::move(families), layout);
}

Outcome show_text(Context& context, si::MetricsRequest query, const MetricOptions& options, const RE2* expression) {
    bool found = false;
    MatchingLines matching;
    const auto take = [&](const Value& reply) -> std::optional<Failure> {
        const auto text = text_of(reply, "text");
        const auto shown = expression == nullptr ? text : matching.of(text, *expression);
        found = found || !shown.empty();
        context.out() << escaped_lines(shown, R"(\\u)"); // a backslash within a label is doubled
        return std::nullopt;
    };
    if (auto failure = context.call_pages(std::move(query), take)) return *failure;
    if (!found && (options.grep || options.family)) return nothing_there(options);
    return Exit::Ok;
}

Outcome show_metrics(Context& context, const MetricOptions& options) {
    std::optional<RE2> expression;
    if (options.grep) {
        expression.emplace(*options.grep, RE2::Quiet);
        if (!expression->ok()) return usage_error("--grep: " + expression->error());
    }
    const bool as_map = context.format() != Format::Table && context.format() != Format::Wide;
    si::MetricsRequest query;
    query.format = as_map ? "map" : "text";
    query.prefix = options.family.value_or(std::string{});
    return as_map ? show_families(context, std::move(query), options, expression ? &*expression : nullptr)
                  : show_text(context, std::move(query), options, expression ? &*expression : nullptr);
}

} // namespace

void define_metrics(Command root, Context& context) {
    const auto metrics = root.sub("metrics", "the daemon's numbers, in the text form of Prometheus");
    const auto options = std::make_shared<MetricOptions>();
    metrics.option("--grep", options->grep, "only lines that this regular expression matches").value("RE");
    metrics.option("--family", options->family, "only families whose name begins so, such as yunikorn_queue")
        .value("PREFIX");
    metrics.run([&context, options] { return show_metrics(context, *options); });
}

} // namespace yk::cli
