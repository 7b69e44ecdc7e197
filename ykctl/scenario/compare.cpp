// SPDX-License-Identifier: Apache-2.0
#include "ykctl/scenario/compare.h"

#include <fmt/format.h>

#include <algorithm>

namespace yk::scenario {
namespace {

bool is_zero(const Value& value) {
    return value.is_null() || (value.is_number_integer() && value.get<std::int64_t>() == 0);
}

bool all_zero(const Value& map) {
    return is_zero(map) || (map.is_object() && std::all_of(map.begin(), map.end(), is_zero));
}

const Value* find_entry(const Value& map, const std::string& key) {
    if (!map.is_object()) return nullptr;
    const auto found = map.find(key);
    return found != map.end() ? &*found : nullptr;
}

} // namespace

std::string shown(const Value& value) {
    if (value.is_null()) return "none";
    if (value.is_string()) return value.get<std::string>();
    if (!value.is_structured()) return value.dump();
    std::string out;
    for (const auto& [key, item] : value.items()) {
        if (out.size() > 200) return out + (value.is_object() ? ", ...}" : ", ...]");
        out += out.empty() ? (value.is_object() ? "{" : "[") : ", ";
        out += value.is_object() ? fmt::format("{}: {}", key, shown(item)) : shown(item);
    }
    if (out.empty()) return value.is_object() ? "{}" : "[]";
    return out + (value.is_object() ? "}" : "]");
}

void compare_value(const std::string& path, const Value& wanted, const Value& found, std::vector<Unmet>& unmet) {
    if (wanted.is_object()) {
        static const Value kZero = 0;
        for (const auto& [key, value] : wanted.items()) {
            const Value* entry = find_entry(found, key);
            compare_value(path + "." + key, value, entry != nullptr ? *entry : kZero, unmet);
        }
        return;
    }
    const bool met = wanted.is_null() ? all_zero(found) : wanted == found || (wanted == "*" && !found.is_null());
    if (!met) unmet.push_back({path, shown(wanted), shown(found)});
}

void compare_thing(const std::string& path, const Value& wanted, const Value& found, std::vector<Unmet>& unmet) {
    const bool exists = !found.is_null();
    const Value* wanted_exists = find_entry(wanted, "exists");
    const bool must_exist = wanted_exists == nullptr || *wanted_exists == true;
    if (exists != must_exist) {
        unmet.push_back({path, must_exist ? "exists" : "exists: false", exists ? shown(found) : "none"});
        return;
    }
    if (!exists) return;
    for (const auto& [key, value] : wanted.items()) {
        const Value* entry = find_entry(found, key);
        if (key != "exists") compare_value(path + "." + key, value, entry != nullptr ? *entry : Value{}, unmet);
    }
}

void compare_members(const std::string& path, const Value& wanted, const Value& found, std::vector<Unmet>& unmet) {
    for (const Value& id : wanted)
        if (std::find(found.begin(), found.end(), id) == found.end()) unmet.push_back({path, shown(id), shown(found)});
}

void compare_entries(const std::string& path, const Value& wanted, const Value& found, const Value& missing,
                     std::vector<Unmet>& unmet) {
    for (const auto& [key, value] : wanted.items()) {
        const Value* entry = find_entry(found, key);
        compare_value(path + "." + key, value, entry != nullptr ? *entry : missing, unmet);
    }
}

} // namespace yk::scenario
