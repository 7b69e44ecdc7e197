// SPDX-License-Identifier: Apache-2.0
#pragma once
// Quarantine: what an RM reported during its recovery and what could not be restored yet, with the reason (I-242). An
// allocation on a node that exists occupies it, so that no capacity is promised twice (I-243).
//
// Owner: PartitionState; libcore/partition/restoration.cpp alone changes it. Thread: the partition's owner.
// Cost of each call: the logarithm of its size, and of what is returned. Each object counts as an ask of the budget.

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "libcore/model/node.h"
#include "libcore/ports/budget.h"
#include "libcore/ports/recovery.h"
#include "libcore/resources/resource.h"
#include "libcore/state/owned_spec.h"

namespace yk {

struct QuarantinedObject {
    RecoveryKind kind{};
    QuarantineReason reason{};
    Instant since;
    std::string node;                                      // of a node: its id; of an allocation: where it is reported
    std::optional<OwnedSpec<AskSpec>> ask;                 // of an allocation, or of an ask
    std::optional<OwnedSpec<ApplicationSpec>> application; // of an application
    std::uint64_t hash = 0;                                // of its line (I-233)
    NodeId occupies;                                       // none: it counts on no node
    Resource size;

    /// A pending ask that waits for its application. It is no object that an RM counts, so it is in no report.
    [[nodiscard]] bool is_ask() const { return ask && (*ask)->node.empty(); }
    [[nodiscard]] std::string_view application_id() const;
    [[nodiscard]] std::string_view key() const { return ask ? (*ask)->key : std::string_view{}; }
};

class Quarantine {
public:
    using Serial = std::uint64_t; // grows with each arrival
    using Objects = std::map<Serial, QuarantinedObject>;

    explicit Quarantine(BudgetMeter& meter) : meter_(meter) {}
    Quarantine(const Quarantine&) = delete;
    Quarantine& operator=(const Quarantine&) = delete;

    /// REQUIRES: none of this kind with the same ids is there; an allocation may be there once for each node.
    void add(Serial serial, QuarantinedObject object);
    [[nodiscard]] Serial next_serial() { return next_++; }
    /// REQUIRES: it is there.
    QuarantinedObject take(Serial serial);

    [[nodiscard]] const Objects& objects() const noexcept { return objects_; }
    [[nodiscard]] bool empty() const noexcept { return objects_.empty(); }
    /// How many are no asks.
    [[nodiscard]] std::uint64_t counted() const noexcept;
    [[nodiscard]] const QuarantineCounts& counts() const noexcept { return counts_; }
    // nullopt: there is none.
    [[nodiscard]] std::optional<Serial> find_node(std::string_view node) const;
    [[nodiscard]] std::optional<Serial> find_application(std::string_view application) const;
    /// An ask, or an allocation as often as it is reported on different nodes.
    [[nodiscard]] std::vector<Serial> find_allocations(std::string_view application, std::string_view key) const;
    // All asks and allocations of an application, and all allocations reported on a node, in the order of arrival.
    [[nodiscard]] std::vector<Serial> of_application(std::string_view application) const;
    [[nodiscard]] std::vector<Serial> on_node(std::string_view node) const;
    /// The bytes of the names of all objects, added up anew.
    [[nodiscard]] std::uint64_t bytes() const;

private:
    // Kind, node or application; of asks and allocations key and node.
    using Identity = std::tuple<RecoveryKind, std::string, std::string, std::string>;
    using ByName = std::set<std::pair<std::string, Serial>>;

    [[nodiscard]] static Identity identity_of(const QuarantinedObject& object);
    [[nodiscard]] std::optional<Serial> find(const Identity& identity) const;
    [[nodiscard]] static std::vector<Serial> list(const ByName& names, std::string_view name);

    BudgetMeter& meter_;
    Serial next_ = 1;
    Objects objects_;
    QuarantineCounts counts_{}; // of those that are no asks
    std::map<Identity, Serial> identities_;
    ByName by_application_, by_node_; // of asks and allocations
};

/// What the budget counts for its names.
[[nodiscard]] std::uint64_t bytes_of(const QuarantinedObject& object);

} // namespace yk
