// SPDX-License-Identifier: Apache-2.0
#pragma once
// RecoveryRecords: what is known during a recovery beside the objects themselves (interface.md, section 3): what could
// not be restored yet, what was released before it arrived, and what the RM has booked on its nodes.
//
// Owner: PartitionState; libcore/partition/restoration.cpp alone changes it. Thread: the partition's owner.

#include <cstddef>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "libcore/ports/command.h"
#include "libcore/ports/view.h"
#include "libcore/state/quarantine.h"

namespace yk {

/// What an RM has booked on a node (I-221).
struct NodeBooks {
    ResourceMapView available;
    std::uint64_t allocations = 0;
};

/// A release of what has not arrived yet; it is carried out when that arrives (I-226).
struct Tombstone {
    TerminationType type{};
    bool asks_only = false;
    bool keep_asks = false;
    std::string message;
};

struct RecoveryRecords {
    explicit RecoveryRecords(BudgetMeter& meter) : quarantine(meter) {}

    bool force_applications = false; // an application that no queue takes goes to the recovery queue (I-223)
    Quarantine quarantine;
    std::map<std::string, NodeBooks, std::less<>> booked;                          // by node
    std::map<std::pair<std::string, std::string>, Tombstone> released;             // by application and key
    std::set<std::string, std::less<>> removed_applications, decommissioned_nodes; // that did not arrive yet

    [[nodiscard]] std::size_t tombstones() const {
        return released.size() + removed_applications.size() + decommissioned_nodes.size();
    }
};

} // namespace yk
