// SPDX-License-Identifier: Apache-2.0
#pragma once
// RecoveryRecords: what is known during a recovery beside the objects themselves (interface.md, section 3): what could
// not be restored yet, what was released before it arrived, and what the RM has booked on its nodes.
//
// Owner: PartitionState; libcore/partition/restoration.cpp alone changes it. Thread: the partition's owner.

#include "libcore/state/node_books.h"
#include "libcore/state/quarantine.h"
#include "libcore/state/tombstones.h"

namespace yk {

struct RecoveryRecords {
    explicit RecoveryRecords(BudgetMeter& meter) : quarantine(meter), tombstones(meter), booked(meter) {}

    bool force_applications = false; // an application that no queue takes goes to the recovery queue (I-223)
    Quarantine quarantine;
    Tombstones tombstones;
    NodeBookings booked;
};

} // namespace yk
