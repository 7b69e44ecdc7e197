// SPDX-License-Identifier: Apache-2.0
#include "ykd/mcs/requests/node_values.h"

#include <fmt/format.h>

#include <utility>

#include "libcore/mcs/replicas/node_changes.h"
#include "libcore/mcs/work_tags.h"
#include "ykd/mcs/requests/row_checks.h"

namespace yk::service {
namespace {

using si::ErrorCode;

constexpr std::size_t kMostTexts = std::size_t{16} << 10; // bytes of attributes

Result<mcs::Texts> attributes_of(const si::StringMap& tags) {
    mcs::Texts attributes;
    std::size_t size = 0;
    for (const auto& [key, value] : tags) {
        size += key.size() + value.size();
        attributes.insert_or_assign(key, value);
    }
    if (size > kMostTexts)
        return fault(ErrorCode::Limit, fmt::format("its texts have {} bytes, of at most {}", size, kMostTexts),
                     "body.tags");
    return attributes;
}

/// What the request names replaces what the row has.
Result<mcs::Node> merged(mcs::Node row, const si::McsBody& body) {
    const std::string partition = mcs::partition_of(row);
    if (body.resource) {
        YK_TRY(capacity, amounts_of(*body.resource));
        row.capacity = std::move(capacity);
    }
    if (body.tags) {
        YK_TRY(attributes, attributes_of(*body.tags));
        const bool was_local = mcs::is_local(row.attributes);
        if (was_local && attributes.contains(mcs::kNodeKindAttribute) && !mcs::is_local(attributes))
            return fault(ErrorCode::Invalid,
                         "the kind of a node stays, and this one is local; to have another, delete the node and "
                         "create it anew",
                         "body.tags.kind");
        if (!row.meta.uid.empty() && !was_local && mcs::is_local(attributes))
            return fault(ErrorCode::Invalid, "a node becomes local only when it is created", "body.tags.kind");
        row.attributes = std::move(attributes);
        if (was_local)
            row.attributes.insert_or_assign(std::string{mcs::kNodeKindAttribute}, std::string{mcs::kLocalKind});
        if (partition != "default") row.attributes.try_emplace(std::string{mcs::kPartitionAttribute}, partition);
    }
    if (body.partition) row.attributes.insert_or_assign(std::string{mcs::kPartitionAttribute}, *body.partition);
    return row;
}

} // namespace

wire::Value value_of(const mcs::Node& row, bool is_registered, const std::string& refusal) {
    wire::Value value{{"id", row.meta.id},
                      {"uid", row.meta.uid},
                      {"version", row.meta.version},
                      {"partition", mcs::partition_of(row)},
                      {"capacity", row.capacity},
                      {"attributes", row.attributes},
                      {"schedulable", row.is_schedulable},
                      {"registered", is_registered},
                      {"createdMs", row.times.created_ms},
                      {"updatedMs", row.times.updated_ms}};
    if (!refusal.empty()) value["refusal"] = refusal;
    return value;
}

Result<mcs::Node> node_of(const si::McsWriteRequest& request) {
    mcs::Node row;
    row.meta.id = request.id;
    YK_CHECKED(check_name(request.id, "id"));
    if (!request.body || !request.body->resource || request.body->resource->empty())
        return fault(ErrorCode::MissingField, "a node has some capacity", "body.resource");
    return merged(std::move(row), *request.body);
}

Result<mcs::Node> changed_node(const mcs::Node& row, const si::McsWriteRequest& request) {
    return merged(row, request.body.value_or(si::McsBody{}));
}

} // namespace yk::service
