// SPDX-License-Identifier: Apache-2.0
#include "ykctl/client/list_filter.h"

#include <algorithm>

#include <fnmatch.h>

#include "ykctl/cli/values.h"
#include "ykctl/client/context.h"
#include "ykctl/client/states.h"

namespace yk::cli {
namespace {

using wire::Value;

bool is_pattern(const std::string& name) {
    return name.find_first_of("*?[") != std::string::npos;
}

std::string state_in(const Value& item, const ListLayout& layout) {
    const auto found = std::find_if(layout.columns.begin(), layout.columns.end(),
                                    [](const Column& column) { return column.heading.text == "STATE"; });
    if (found == layout.columns.end()) return {};
    const std::string cell = found->cell(item);
    return cell.substr(0, cell.find(',')); // `Scheduled, 1 of 3 run`
}

} // namespace

void ListFilter::define(Command command) {
    command.option("NAME", names_, "only these; * and ? stand for others: 'n-1*'");
    if (!kind_.states.empty())
        command.option("--state", states_, "only those in one of these states").value("STATE,...");
    if (kind_.labels != nullptr)
        command
            .option("-l,--selector", selectors_,
                    std::string{"only those with these "} + kind_.labels_word + ": KEY=VALUE,KEY!=VALUE,KEY,!KEY")
            .value("LABELS");
}

std::optional<Failure> ListFilter::prepare() {
    unseen_.clear();
    std::copy_if(names_.begin(), names_.end(), std::inserter(unseen_, unseen_.end()),
                 [](const std::string& name) { return !is_pattern(name); });
    states_ = split_lists(states_);
    for (std::string& state : states_) {
        auto known = known_state("--state", state, kind_.noun, kind_.states);
        if (!known.ok()) return std::move(known).error();
        state = *std::move(known);
    }
    return take_labels();
}

std::optional<Failure> ListFilter::take_labels() {
    labels_.clear();
    for (const std::string& part : split_lists(selectors_)) {
        const auto equal = part.find('=');
        const bool differs = equal != std::string::npos && equal > 0 && part[equal - 1] == '!';
        const bool has_two = equal != std::string::npos && part.substr(equal + 1).starts_with("="); // KEY==VALUE
        Label label;
        if (equal == std::string::npos) {
            label.is_wanted = part.front() != '!';
            label.key = label.is_wanted ? part : part.substr(1);
        } else {
            label.key = part.substr(0, differs ? equal - 1 : equal);
            label.value = part.substr(equal + (has_two ? 2 : 1));
            label.is_wanted = !differs;
        }
        constexpr const char* kForms = "KEY=VALUE, KEY!=VALUE, KEY or !KEY; several with commas, all have to hold";
        if (label.key.empty()) return usage_error("--selector: '" + part + "' has no key", {kForms});
        if (label.key.find_first_of(" ()") != std::string::npos) // as others choose one of several values
            return usage_error("--selector: '" + part + "' is no label; sets (in, notin) are not understood", {kForms});
        labels_.push_back(std::move(label));
    }
    return std::nullopt;
}

bool ListFilter::is_wanted(const Value& item, const ListLayout& layout) {
    if (!states_.empty() && std::find(states_.begin(), states_.end(), state_in(item, layout)) == states_.end())
        return false;
    return has_labels(item) && has_name(layout.name(item));
}

bool ListFilter::has_name(const std::string& name) {
    unseen_.erase(name);
    return names_.empty() || std::any_of(names_.begin(), names_.end(), [&name](const std::string& pattern) {
               return pattern == name || (is_pattern(pattern) && ::fnmatch(pattern.c_str(), name.c_str(), 0) == 0);
           });
}

bool ListFilter::has_labels(const Value& item) const {
    if (labels_.empty()) return true;
    const Value& labels = member_of(item, kind_.labels);
    return std::all_of(labels_.begin(), labels_.end(), [&labels](const Label& wanted) {
        const Value& value = member_of(labels, wanted.key.c_str());
        const bool has = value.is_string() && (!wanted.value || value.get<std::string>() == *wanted.value);
        return has == wanted.is_wanted;
    });
}

std::optional<Failure> ListFilter::missing() const {
    if (unseen_.empty()) return std::nullopt;
    return not_found(kind_.noun + " '" + *unseen_.begin() + "' is not there",
                     {"which are there?  ykctl " + kind_.noun + " list"});
}

} // namespace yk::cli
