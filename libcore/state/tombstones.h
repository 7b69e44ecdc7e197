// SPDX-License-Identifier: Apache-2.0
#pragma once
// Tombstones: what an RM that recovers gave up before it arrived: releases, removals of applications, nodes that were
// decommissioned (I-226). Their names count for the RM's budget.
//
// Owner: PartitionState; libcore/partition/restoration.cpp alone changes it. Thread: the partition's owner.

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "libcore/ports/budget.h"
#include "libcore/ports/command.h"

namespace yk {

/// A release of what has not arrived yet.
struct Tombstone {
    TerminationType type{};
    bool asks_only = false;
    bool keep_asks = false;
    std::string message;
};

class Tombstones {
public:
    explicit Tombstones(BudgetMeter& meter) : meter_(meter) {}
    Tombstones(const Tombstones&) = delete;
    Tombstones& operator=(const Tombstones&) = delete;

    /// What the budget counts for one of them. `texts`: the bytes of its names and its message.
    [[nodiscard]] static std::uint64_t bytes_of(std::size_t texts) { return texts + kPerEntry; }

    /// One of the same application and key is replaced. `key` empty: everything of the application.
    void add_release(std::string_view application, std::string_view key, Tombstone tombstone);
    [[nodiscard]] std::optional<Tombstone> take_release(std::string_view application, std::string_view key);
    void add_application(std::string_view id);
    [[nodiscard]] bool take_application(std::string_view id);
    void add_node(std::string_view id);
    [[nodiscard]] bool take_node(std::string_view id);
    void clear();

    [[nodiscard]] std::size_t size() const { return releases_.size() + applications_.size() + nodes_.size(); }
    /// What the budget counts for all of them, added up anew.
    [[nodiscard]] std::uint64_t bytes() const;

private:
    using Ids = std::set<std::string, std::less<>>;
    using Releases = std::map<std::pair<std::string, std::string>, Tombstone>;

    [[nodiscard]] static std::uint64_t bytes_of(const Releases::value_type& release);
    void add(Ids& ids, std::string_view id);
    [[nodiscard]] bool take(Ids& ids, std::string_view id);

    BudgetMeter& meter_;
    Releases releases_; // by application and key
    Ids applications_, nodes_;
};

} // namespace yk
