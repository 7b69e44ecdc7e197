// SPDX-License-Identifier: Apache-2.0
#include "ykd/rest/exchange/rest_lists.h"

namespace yk::service {

using wire::Value;

bool is_last(const Value& page) {
    return page.value("cursor", std::string{}).empty();
}

Value elements_of(Value& page) {
    if (page.contains("items")) return std::move(page["items"]);
    Value& data = page["data"];
    if (data.empty() || !data.front().is_object() || !data.front().contains("nodesInfo")) return std::move(data);
    Value nodes = Value::array();
    for (Value& partition : data)
        for (Value& node : partition["nodesInfo"]) nodes.push_back(std::move(node));
    return nodes;
}

} // namespace yk::service
