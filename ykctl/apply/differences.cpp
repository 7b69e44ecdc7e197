// SPDX-License-Identifier: Apache-2.0
#include "ykctl/apply/differences.h"

#include <map>

#include <fmt/format.h>

#include "libcore/config/quantity.h"
#include "ykctl/render/text.h"

namespace yk::cli {
namespace {

using wire::Value;

std::string written(const std::map<std::string, std::string>& pairs) {
    std::vector<std::string> each;
    each.reserve(pairs.size());
    for (const auto& [key, text] : pairs) each.push_back(key + ": " + text);
    return "{" + join(each, ", ") + "}";
}

/// A negative amount, which no configuration has, as it is.
std::string amount_text(const std::string& type, std::int64_t amount) {
    return amount < 0 ? std::to_string(amount) : config::written_quantity(type, amount);
}

} // namespace

std::string differences_text(const std::vector<Difference>& differences) {
    std::vector<std::string> each;
    each.reserve(differences.size());
    for (const Difference& one : differences)
        each.push_back(fmt::format("{} {} -> {}", one.field, or_dash(one.from), or_dash(one.to)));
    return join(each, ", ");
}

Value differences_value(const std::vector<Difference>& differences) {
    auto list = Value::array();
    for (const Difference& one : differences)
        list.push_back({{"field", one.field}, {"from", one.from}, {"to", one.to}});
    return list;
}

std::string amounts_text(const Value& amounts) {
    std::map<std::string, std::string> pairs;
    if (amounts.is_object())
        for (const auto& [type, amount] : amounts.items())
            if (amount.is_number_integer() && amount != 0) pairs[type] = amount_text(type, amount.get<std::int64_t>());
    return written(pairs);
}

std::string amounts_text(const si::Resources& amounts) {
    std::map<std::string, std::string> pairs;
    for (const auto& [type, amount] : amounts)
        if (amount != 0) pairs[type] = amount_text(type, amount);
    return written(pairs);
}

std::string pairs_text(const Value& pairs) {
    std::map<std::string, std::string> sorted;
    if (pairs.is_object())
        for (const auto& [key, text] : pairs.items())
            if (text.is_string()) sorted[key] = text.get<std::string>();
    return written(sorted);
}

std::string pairs_text(const si::StringMap& pairs) {
    return written({pairs.begin(), pairs.end()});
}

std::string devices_text(const Value& devices) {
    std::map<std::string, std::string> pairs;
    if (devices.is_object())
        for (const auto& [type, each] : devices.items())
            pairs[type] = each.is_object() && each.contains("count") && each.contains("each")
                              ? each["count"].dump() + " x " + each["each"].dump()
                              : each.dump();
    return written(pairs);
}

std::string names_text(const Value& texts) {
    std::vector<std::string> each;
    for (const auto& text : texts)
        if (text.is_string()) each.push_back(text.get<std::string>());
    return join(each, ",");
}

} // namespace yk::cli
