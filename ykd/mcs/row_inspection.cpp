// SPDX-License-Identifier: Apache-2.0
#include "ykd/mcs/row_inspection.h"

#include <fmt/format.h>

#include <algorithm>

namespace yk::service {
namespace {

using wire::Value;

bool has_pending(const RowInspection& inspection) {
    const auto& handlers = inspection.known.handlers;
    return std::any_of(handlers.begin(), handlers.end(), [](const auto& each) { return each.is_pending; });
}

Value value_of(const rs::RowImage& image) {
    return {{"uid", image.uid}, {"version", image.version}, {"content", fmt::format("{:016x}", image.content)}};
}

Value value_of(const rs::HandlerKeyStatus& handler) {
    const char* const state = handler.is_dead_letter ? "dead letter"
                              : handler.is_pending   ? "pending"
                              : handler.is_active    ? "done"
                                                     : "not here"; // another daemon leads
    return {{"name", handler.name}, {"state", state}, {"failed", handler.attempts}};
}

} // namespace

bool RowInspection::is_anywhere() const {
    return known.cached || known.is_queued || row.image || !row.fault.empty() || has_pending(*this);
}

std::string_view verdict_of(const RowInspection& inspection) {
    if (inspection.known.is_queued) return "queued";
    if (inspection.known.cached != inspection.row.image || !inspection.row.fault.empty()) return "cache behind";
    return has_pending(inspection) ? "handler pending" : "in sync";
}

Value value_of(const RowInspection& inspection) {
    const auto& [known, row] = inspection;
    Value value{{"verdict", verdict_of(inspection)}, {"queued", known.is_queued}, {"handlers", Value::array()}};
    if (known.cached) value["cache"] = value_of(*known.cached);
    if (row.image) value["database"] = value_of(*row.image);
    if (!row.fault.empty()) value["database"] = {{"fault", row.fault}};
    for (const auto& each : known.handlers) value["handlers"].push_back(value_of(each));
    return value;
}

} // namespace yk::service
