// SPDX-License-Identifier: Apache-2.0
#pragma once
// RecoveryRecords: what is known during a recovery beside the objects themselves (interface.md, section 3): what could
// not be restored yet, what was released before it arrived, and what the RM has booked on its nodes.
//
// Owner: PartitionState; libcore/partition/restoration.cpp alone changes it. Thread: the partition's owner.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "libcore/ports/view.h"
#include "libcore/state/quarantine.h"
#include "libcore/state/tombstones.h"

namespace yk {

/// What an RM has booked on a node (I-221).
struct NodeBooks {
    ResourceMapView available;
    std::uint64_t allocations = 0;
};

struct RecoveryRecords {
    explicit RecoveryRecords(BudgetMeter& meter) : quarantine(meter), tombstones(meter) {}

    bool force_applications = false; // an application that no queue takes goes to the recovery queue (I-223)
    Quarantine quarantine;
    Tombstones tombstones;
    std::map<std::string, NodeBooks, std::less<>> booked; // by node
};

} // namespace yk
