// SPDX-License-Identifier: Apache-2.0
#include "protocol/databases/checking/row_texts.h"

#include <initializer_list>
#include <utility>

#include "libcore/base/text.h"

namespace yk::mcs {
namespace {

/// A column and its text.
using Column = std::pair<std::string_view, std::string_view>;

std::string_view first_not_utf8(std::initializer_list<Column> columns) {
    for (const auto& [name, text] : columns)
        if (!is_utf8(text)) return name;
    return {};
}

} // namespace

std::string_view column_not_utf8(const Deployment& row) {
    return first_not_utf8({{"id", row.meta.id},
                           {"uid", row.meta.uid},
                           {"name", row.name},
                           {"partition", *row.partition},
                           {"queue", *row.queue},
                           {"usr", *row.user}});
}

std::string_view column_not_utf8(const DeploymentScale& row) {
    return first_not_utf8({{"id", row.meta.id},
                           {"uid", row.meta.uid},
                           {"owner_id", row.owner.id},
                           {"owner_uid", row.owner.uid},
                           {"cascade_parent", row.cascade_parent},
                           {"reason", row.reason}});
}

std::string_view column_not_utf8(const DeploymentSchedule& row) {
    for (const Placement& each : row.placements) {
        if (!is_utf8(each.allocation_key)) return "allocation_key of a placement";
        if (!is_utf8(each.node_id)) return "node_id of a placement";
    }
    return first_not_utf8({{"id", row.meta.id},
                           {"uid", row.meta.uid},
                           {"owner_id", row.owner.id},
                           {"owner_uid", row.owner.uid},
                           {"cascade_parent", row.cascade_parent},
                           {"application_id", row.application_id}});
}

std::string_view column_not_utf8(const Node& row) {
    return first_not_utf8({{"id", row.meta.id}, {"uid", row.meta.uid}});
}

} // namespace yk::mcs
