// SPDX-License-Identifier: Apache-2.0
#include "protocol/databases/mcs_store.h"

#include <limits>
#include <optional>

#include "protocol/databases/canonical_json.h"

namespace yk::mcs {
namespace {

/// Declares `name` with the value of a column, or returns which one cannot be understood, and why.
#define YK_COLUMN(name, column, expr)                                                                                  \
    auto YK_CONCAT(yk_column_, __LINE__) = (expr);                                                                     \
    if (!YK_CONCAT(yk_column_, __LINE__).ok())                                                                         \
        return std::string{column} + ": " + YK_CONCAT(yk_column_, __LINE__).error();                                   \
    auto name = std::move(YK_CONCAT(yk_column_, __LINE__)).value()

/// The columns that every table begins with.
rs::ResourceMeta meta_of(const rs::SqlRow& row) {
    return {row.text(0), row.text(1), row.number(2), 1};
}

Owner owner_of(const rs::SqlRow& row, int first) {
    return {static_cast<rs::Kind>(row.number(first)), row.text(first + 1), row.text(first + 2)};
}

// Columns of which many rows have the same.
Shared<std::string> text_of(KnownTexts<std::string>& known, std::string_view text) {
    if (const auto* const found = known.find(text)) return *found;
    return known.add(text, std::string{text});
}

std::optional<Shared<std::string>> object_of(KnownTexts<std::string>& known, std::string_view json) {
    if (const auto* const found = known.find(json)) return *found;
    auto object = canonical_object(json);
    return object ? std::optional{known.add(json, *std::move(object))} : std::nullopt;
}

template <class Value>
Result<Shared<Value>, std::string> value_of(KnownTexts<Value>& known, std::string_view json,
                                            Result<Value, std::string> (*read)(std::string_view)) {
    if (const auto* const found = known.find(json)) return *found;
    YK_TRY(value, read(json));
    return known.add(json, std::move(value));
}

} // namespace

Result<Deployment, std::string> RowColumns<Deployment>::decode(const rs::SqlRow& row, KnownColumns& known) {
    Deployment made;
    made.meta = meta_of(row);
    made.meta.generation = row.number(3);
    made.name = row.text(4);
    made.partition = text_of(known.texts, row.view(5));
    made.queue = text_of(known.texts, row.view(6));
    made.user = text_of(known.texts, row.view(7));
    YK_COLUMN(groups, "grps", value_of(known.lists, row.view(8), list_of));
    YK_COLUMN(resource, "resource", value_of(known.amounts, row.view(9), amounts_of));
    YK_COLUMN(tags, "tags", value_of(known.maps, row.view(16), texts_of));
    auto policy = object_of(known.objects, row.view(15));
    if (!policy) return std::string{"policy: it is no JSON object"};
    const std::int64_t priority = row.number(14), mode = row.number(18);
    if (priority < std::numeric_limits<std::int32_t>::min() || priority > std::numeric_limits<std::int32_t>::max())
        return std::string{"priority: it is no whole number of 32 bits"};
    if (mode < 0 || mode > 2) return "cascade: " + std::to_string(mode) + " is none of 0, 1 and 2";
    made.groups = std::move(groups);
    made.resource = std::move(resource);
    made.tags = std::move(tags);
    made.policy = *std::move(policy);
    made.min_replicas = row.number(10);
    made.max_replicas = row.number(11);
    if (row.number(13) != 0) made.replicas = row.number(12);
    made.priority = static_cast<std::int32_t>(priority);
    made.is_paused = row.number(17) != 0;
    made.delete_mode = static_cast<DeleteMode>(mode);
    made.times = {row.number(19), row.number(20)};
    return made;
}

Result<DeploymentScale, std::string> RowColumns<DeploymentScale>::decode(const rs::SqlRow& row,
                                                                         KnownColumns& /*known*/) {
    DeploymentScale made;
    made.meta = meta_of(row);
    made.owner = owner_of(row, 3);
    made.cascade_parent = row.text(6);
    made.desired = row.number(7);
    made.reason = row.text(8);
    made.observed_generation = row.number(9);
    auto status = canonical_object(row.text(10));
    if (!status) return std::string{"status: it is no JSON object"};
    made.status = *std::move(status);
    made.writer_epoch = static_cast<std::uint64_t>(row.number(11));
    made.times = {row.number(12), row.number(13)};
    return made;
}

Result<DeploymentSchedule, std::string> RowColumns<DeploymentSchedule>::decode(const rs::SqlRow& row,
                                                                               KnownColumns& /*known*/) {
    DeploymentSchedule made;
    made.meta = meta_of(row);
    made.owner = owner_of(row, 3);
    made.cascade_parent = row.text(6);
    made.application_id = row.text(7);
    made.observed_scale_version = row.number(8);
    made.desired = row.number(9);
    made.placed = row.number(10);
    made.pending = row.number(11);
    const auto state = schedule_state_of(row.text(12));
    if (!state) return "state: " + row.text(12) + " is none of this program's";
    auto status = canonical_object(row.text(13));
    if (!status) return std::string{"status: it is no JSON object"};
    made.state = *state;
    made.status = *std::move(status);
    made.writer_epoch = static_cast<std::uint64_t>(row.number(14));
    made.times = {row.number(15), row.number(16)};
    return made;
}

Result<Node, std::string> RowColumns<Node>::decode(const rs::SqlRow& row, KnownColumns& /*known*/) {
    Node made;
    made.meta = meta_of(row);
    YK_COLUMN(attributes, "attributes", texts_of(row.text(3)));
    YK_COLUMN(capacity, "capacity", amounts_of(row.text(4)));
    YK_COLUMN(occupied, "occupied", amounts_of(row.text(5)));
    made.attributes = std::move(attributes);
    made.capacity = std::move(capacity);
    made.occupied = std::move(occupied);
    made.is_schedulable = row.number(6) != 0;
    made.times = {row.number(7), row.number(8)};
    return made;
}

Result<Placement, std::string> decode_placement(const rs::SqlRow& row) {
    const auto state = placement_state_of(row.text(4));
    if (!state)
        return "placement " + std::to_string(row.number(0)) + ": state " + row.text(4) + " is none of this program's";
    Placement made{row.number(0), row.number(1), row.text(2), row.text(3), *state, std::nullopt};
    if (row.number(6) != 0) made.placed_ms = row.number(5);
    return made;
}

Result<Result<std::vector<Placement>, std::string>, rs::StoreError> read_placements(rs::SqlConnection& connection,
                                                                                    std::string_view schedule_id) {
    using Placements = Result<std::vector<Placement>, std::string>;
    std::vector<Placement> placements;
    rs::SqlStatement select = connection.statement(std::string{"SELECT "} + kPlacementColumns +
                                                   " FROM placement WHERE schedule_id = ? ORDER BY replica");
    select.bind(1, schedule_id);
    for (;;) {
        YK_TRY(has_row, select.step());
        if (!has_row) break;
        auto made = decode_placement(select);
        if (!made.ok()) return Placements{made.error()};
        placements.push_back(std::move(made).value());
    }
    return Placements{std::move(placements)};
}

} // namespace yk::mcs
