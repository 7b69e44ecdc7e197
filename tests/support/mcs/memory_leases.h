// SPDX-License-Identifier: Apache-2.0
#pragma once
// MemoryLeases: the table of leases in memory, as each instance sees it; it is away for one of them when a test says
// so.

#include <map>
#include <optional>
#include <string>
#include <utility>

#include "libcore/mcs/lease_port.h"

namespace yk::testing {

/// The table, and the clock by which it counts.
struct MemoryLeaseTable {
    struct Row {
        std::string holder;
        std::uint64_t epoch = 0;
        Duration expires{};
    };
    std::map<std::string, Row> rows{{"a", {}}, {"b", {}}, {"c", {}}};
    Duration wall = std::chrono::seconds{1000};
};

class MemoryLeases final : public mcs::LeasePort {
public:
    MemoryLeases(MemoryLeaseTable& table, std::string holder) : table_(table), holder_(std::move(holder)) {}
    bool is_away = false;

    [[nodiscard]] Epoch acquire(const std::string& name) override {
        if (is_away) return away();
        MemoryLeaseTable::Row& row = table_.rows.at(name);
        if (!row.holder.empty() && row.expires >= table_.wall) return std::optional<std::uint64_t>{};
        return take(row);
    }
    [[nodiscard]] Epoch seize(const std::string& name, const mcs::LeaseRow& seen) override {
        if (is_away) return away();
        if (!seen_of(table_.rows.at(name)).is_same(seen)) return std::optional<std::uint64_t>{};
        return take(table_.rows.at(name));
    }
    [[nodiscard]] Result<std::optional<mcs::LeaseRow>, rs::StoreError> look(const std::string& name) override {
        if (is_away) return away();
        return std::optional{seen_of(table_.rows.at(name))};
    }
    [[nodiscard]] Result<bool, rs::StoreError> renew(const std::string& name, std::uint64_t epoch) override {
        if (is_away) return away();
        MemoryLeaseTable::Row& row = table_.rows.at(name);
        if (row.holder != holder_ || row.epoch != epoch) return false;
        row.expires = table_.wall + kTtl;
        return true;
    }
    [[nodiscard]] Result<void, rs::StoreError> release(const std::string& name, std::uint64_t epoch) override {
        if (is_away) return away();
        MemoryLeaseTable::Row& row = table_.rows.at(name);
        if (row.holder == holder_ && row.epoch == epoch) row.holder.clear();
        return {};
    }

private:
    static constexpr Duration kTtl = std::chrono::seconds{15};
    [[nodiscard]] static rs::StoreError away() { return {rs::StoreFault::Down, "away"}; }
    [[nodiscard]] mcs::LeaseRow seen_of(const MemoryLeaseTable::Row& row) const {
        const auto expires = std::chrono::duration_cast<std::chrono::milliseconds>(row.expires);
        return {row.holder, row.epoch, expires.count(), row.expires - table_.wall};
    }
    Epoch take(MemoryLeaseTable::Row& row) {
        row = {holder_, row.epoch + 1, table_.wall + kTtl};
        return std::optional{row.epoch};
    }

    MemoryLeaseTable& table_;
    const std::string holder_;
};

} // namespace yk::testing
