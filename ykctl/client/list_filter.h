// SPDX-License-Identifier: Apache-2.0
#pragma once
// ListFilter: which objects of a list are wanted, by the same options for all lists: names, --state and -l.

#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "protocol/wire/value.h"
#include "ykctl/cli/command.h"
#include "ykctl/cli/failure.h"
#include "ykctl/render/output.h"

namespace yk::cli {

/// What a kind of object has that it can be chosen by.
struct FilterKind {
    std::string noun;                     // `node`
    std::vector<std::string> states = {}; // what the column STATE may say; empty: there is no --state
    const char* labels = nullptr;         // the member with KEY=VALUE pairs; nullptr: there is no -l
    const char* labels_word = "";         // how people call them: `tags`
};

/// Owner: a list command, for one run. Thread: main.
class ListFilter {
public:
    explicit ListFilter(FilterKind kind) : kind_(std::move(kind)) {}

    /// Adds the options to a command. The filter must outlive its run.
    void define(Command command);
    /// To be called when the options are read. An error says what there is to choose from.
    [[nodiscard]] std::optional<Failure> prepare();
    [[nodiscard]] bool is_wanted(const wire::Value& item, const ListLayout& layout);
    /// To be called at the end of a list: the failure for the first name without * and ? that nothing was called by.
    [[nodiscard]] std::optional<Failure> missing() const;

private:
    /// `rack=r1`, `rack!=r1`, `gpu`, `!gpu`
    struct Label {
        std::string key;
        std::optional<std::string> value; // nullopt: any
        bool is_wanted = true;            // false: without it, or with another value
    };

    [[nodiscard]] std::optional<Failure> take_labels();
    [[nodiscard]] bool has_name(const std::string& name);
    [[nodiscard]] bool has_labels(const wire::Value& item) const;

    const FilterKind kind_;
    std::vector<std::string> names_, states_, selectors_; // as they were typed
    std::vector<Label> labels_;
    std::set<std::string> unseen_; // of names_
};

} // namespace yk::cli
