// SPDX-License-Identifier: Apache-2.0
#include "ykctl/render/path_column.h"

#include <algorithm>

#include "libcore/base/number.h"
#include "ykctl/render/text.h"

namespace yk::cli {
namespace {

using wire::Value;

const Value kNothing;

std::string path_cell(const Value& value) {
    if (value.is_null()) return "-";
    return or_dash(printable(value.is_string() ? value.get<std::string>() : json_text(value)));
}

const Value& element_at(const Value& list, std::string_view path) {
    const auto dot = std::min(path.find('.'), path.size());
    const auto index = to_number<std::size_t>(path.substr(0, dot));
    return index && *index < list.size() ? member_at(list[*index], path.substr(dot)) : kNothing;
}

} // namespace

bool is_path(std::string_view name) {
    return name.find('.') != std::string_view::npos;
}

const Value& member_at(const Value& item, std::string_view path) {
    if (path.starts_with('.')) path.remove_prefix(1);
    if (path.empty()) return item;
    if (item.is_array()) return element_at(item, path);
    if (!item.is_object()) return kNothing;
    for (auto end = path.size(); end != 0 && end != std::string_view::npos; end = path.rfind('.', end - 1)) {
        const auto member = item.find(path.substr(0, end));
        if (member == item.end()) continue;
        if (const Value& found = member_at(*member, path.substr(end)); !found.is_null()) return found;
    }
    return kNothing;
}

Column path_column(const std::string& path) {
    std::string heading = path.substr(path.starts_with('.') ? 1 : 0);
    std::transform(heading.begin(), heading.end(), heading.begin(),
                   [](char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; });
    return {{heading}, [path](const Value& item) { return path_cell(member_at(item, path)); }};
}

} // namespace yk::cli
