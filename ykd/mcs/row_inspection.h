// SPDX-License-Identifier: Apache-2.0
#pragma once
// RowInspection: one key of a kind in the cache, in the database and with its handlers, side by side: the first thing
// to look at when something seems lost (rs R-156). Plain values.

#include <optional>
#include <string>
#include <string_view>

#include "libcore/resource_state/informer.h"
#include "protocol/wire/value.h"

namespace yk::service {

/// Neither an image nor a fault: there is no such row.
struct DatabaseRow {
    std::optional<rs::RowImage> image;
    std::string fault; // why the row cannot be understood
};

struct RowInspection {
    rs::KeyStatus known;
    DatabaseRow row;

    /// Whether anybody has ever heard of it, as far as can be said.
    [[nodiscard]] bool is_anywhere() const;
};

/// What is to come, and the one that comes first: its row is read (`queued`), the cache takes what the row says (`cache
/// behind`), handlers are called (`handler pending`); else all of it was done (`in sync`).
[[nodiscard]] std::string_view verdict_of(const RowInspection& inspection);
[[nodiscard]] wire::Value value_of(const RowInspection& inspection);

} // namespace yk::service
