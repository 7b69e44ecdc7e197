// SPDX-License-Identifier: Apache-2.0
#include "ykd/mcs/mcs_operations.h"

#include <algorithm>
#include <span>
#include <utility>
#include <variant>

#include "libcore/base/check.h"

namespace yk::service {
namespace {

template <rs::Resource T>
Result<DatabaseRow, rs::StoreError> read(rs::ResourceStore<T>& store, const std::string& id) {
    YK_TRY(rows, store.read_many(std::span{&id, 1}));
    const rs::Found<T>& found = rows.found.front();
    if (const auto* const broken = std::get_if<rs::BrokenRow>(&found)) return DatabaseRow{{}, broken->message};
    if (const auto* const object = std::get_if<rs::Ptr<T>>(&found)) return DatabaseRow{rs::image_of(**object), {}};
    return DatabaseRow{};
}

Result<DatabaseRow, rs::StoreError> read(const McsConnections& connections, rs::Kind kind, const std::string& id) {
    if (kind == mcs::kDeploymentKind) return read(*connections.deployments, id);
    if (kind == mcs::kScaleKind) return read(*connections.scales, id);
    if (kind == mcs::kScheduleKind) return read(*connections.schedules, id);
    return read(*connections.nodes, id);
}

} // namespace

bool McsOperations::knows(rs::Kind kind, std::string_view id) const {
    const rs::KeyStatus key = look_at(kind, id);
    return key.cached || key.is_queued || !key.broken.empty() ||
           std::any_of(key.handlers.begin(), key.handlers.end(),
                       [](const rs::HandlerKeyStatus& each) { return each.is_pending || each.is_dead_letter; });
}

rs::KeyStatus McsOperations::look_at(rs::Kind kind, std::string_view id) const {
    const auto informer =
        std::find_if(kinds_.begin(), kinds_.end(), [&](const auto* each) { return each->kind() == kind; });
    YK_CHECK(informer != kinds_.end(), "only kinds of mcs are looked at");
    return (*informer)->inspect(id);
}

void McsOperations::resync(std::optional<rs::Kind> kind, Instant now) {
    for (const rs::Kind each : mcs::kKinds)
        if (!kind || *kind == each) manager_.request_resync(each, now);
    for (const auto& each : manager_.periodic()) manager_.run_periodic(each->name(), now);
}

void McsOperations::reconcile(rs::Kind kind, std::string_view id, Instant now) {
    manager_.enqueue(kind, id, now, rs::StateManager::Call::Anyway);
}

std::size_t McsOperations::retry(std::optional<rs::Kind> kind, std::string_view id, Instant now) {
    std::size_t count = 0;
    for (const rs::Kind each : mcs::kKinds)
        if (!kind || *kind == each) count += manager_.retry_dead_letters(each, id, now);
    return count;
}

Result<void, rs::StoreError> McsOperations::bump_epoch(std::string_view name) {
    return mcs::set_log_epoch(*connections_.leases, name);
}

Result<std::vector<mcs::DeadLetter>, rs::StoreError> McsOperations::dead_letters(const mcs::DeadLetterKey& after,
                                                                                 std::size_t most) {
    return mcs::DeadLetterTable{*connections_.leases}.list(after, static_cast<std::int64_t>(most));
}

Result<RowInspection, rs::StoreError> McsOperations::inspect(rs::Kind kind, const std::string& id) const {
    YK_TRY(row, read(connections_, kind, id));
    return RowInspection{look_at(kind, id), std::move(row)};
}

} // namespace yk::service
