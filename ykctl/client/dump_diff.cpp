// SPDX-License-Identifier: Apache-2.0
#include "ykctl/client/dump_diff.h"

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "ykctl/render/text.h"

namespace yk::cli {
namespace {

using wire::Value;

constexpr const char* kNames[] = {"nodeID", "applicationID", "allocationKey", "queuename", "partitionName",
                                  "name",   "userName",      "groupName",     "rmID",      "eventID"};
constexpr std::size_t kShownValue = 200;

/// The name of an element in a path: `nodeID=n1`; empty when it has none. Applications may use the same ask keys, so
/// the application id is part of the name where there is one.
std::string name_of(const Value& element) {
    if (!element.is_object()) return {};
    for (const char* key : kNames) {
        const auto found = element.find(key);
        if (found == element.end() || found->is_structured()) continue;
        return std::string{key} + "=" + (found->is_string() ? found->get<std::string>() : found->dump());
    }
    return {};
}

/// Collects the elements by name. Returns false when one has none, or two have the same.
bool by_name(const Value& list, std::map<std::string, const Value*>& elements) {
    return std::all_of(list.begin(), list.end(), [&](const Value& element) {
        const auto name = name_of(element);
        return !name.empty() && elements.emplace(name, &element).second;
    });
}

class Comparison {
public:
    [[nodiscard]] std::vector<Value> take() { return std::move(differences_); }

    void compare(const Value* before, const Value* after, const std::string& path) {
        if (before == nullptr || after == nullptr) return differs(before, after, path);
        if (*before == *after) return;
        if (before->is_object() && after->is_object()) return compare_maps(*before, *after, path);
        if (before->is_array() && after->is_array()) return compare_lists(*before, *after, path);
        differs(before, after, path);
    }

private:
    void differs(const Value* before, const Value* after, const std::string& path) {
        Value difference{{"path", path}};
        if (before != nullptr) difference["old"] = *before;
        if (after != nullptr) difference["new"] = *after;
        differences_.push_back(std::move(difference));
    }

    void compare_maps(const Value& before, const Value& after, const std::string& path) {
        const auto below = [&](const std::string& key) { return path.empty() ? key : path + "." + key; };
        for (const auto& [key, value] : before.items()) {
            const auto other = after.find(key);
            compare(&value, other == after.end() ? nullptr : &*other, below(key));
        }
        for (const auto& [key, value] : after.items()) {
            if (!before.contains(key)) compare(nullptr, &value, below(key));
        }
    }

    void compare_lists(const Value& before, const Value& after, const std::string& path) {
        std::map<std::string, const Value*> old_elements;
        std::map<std::string, const Value*> new_elements;
        if (!by_name(before, old_elements) || !by_name(after, new_elements)) {
            for (std::size_t i = 0; i < std::max(before.size(), after.size()); ++i) {
                compare(i < before.size() ? &before[i] : nullptr, i < after.size() ? &after[i] : nullptr,
                        fmt::format("{}[{}]", path, i));
            }
            return;
        }
        const auto other_of = [](const auto& elements, const std::string& name) {
            const auto found = elements.find(name);
            return found == elements.end() ? nullptr : found->second;
        };
        for (const auto& [name, value] : old_elements) {
            compare(value, other_of(new_elements, name), path + "[" + name + "]");
        }
        for (const auto& [name, value] : new_elements) {
            if (other_of(old_elements, name) == nullptr) compare(nullptr, value, path + "[" + name + "]");
        }
    }

    std::vector<Value> differences_;
};

std::string shown(const Value& value) {
    return shortened(printable(value.dump(-1, ' ', false, Value::error_handler_t::replace)), kShownValue);
}

} // namespace

std::vector<Value> dump_differences(const Value& before, const Value& after) {
    Comparison comparison;
    comparison.compare(&before, &after, "");
    return comparison.take();
}

std::string difference_line(const Value& difference, const Style& style) {
    const auto path = printable(difference.at("path").get<std::string>());
    if (!difference.contains("old")) return style.green("+ " + path + ": " + shown(difference.at("new"))) + "\n";
    if (!difference.contains("new")) return style.red("- " + path + ": " + shown(difference.at("old"))) + "\n";
    return style.yellow("~ " + path + ": " + shown(difference.at("old")) + " -> " + shown(difference.at("new"))) + "\n";
}

} // namespace yk::cli
