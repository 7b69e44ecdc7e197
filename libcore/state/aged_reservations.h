// SPDX-License-Identifier: Apache-2.0
#pragma once
// AgedReservations: the reservations that are old enough to be dropped, oldest first (S-413). One that goes is
// forgotten later, since whoever drops it need not know whether it is here.
//
// Owner: PartitionState. Thread: the partition's owner. Cost: as many steps as there are.

#include <vector>

#include "libcore/base/slab.h"
#include "libcore/model/reservation.h"

namespace yk {

class AgedReservations {
public:
    explicit AgedReservations(const Slab<Reservation>& reservations) : reservations_(reservations) {}
    AgedReservations(const AgedReservations&) = delete;
    AgedReservations& operator=(const AgedReservations&) = delete;

    void add(const Ref<Reservation>& reservation) { aged_.push_back(reservation); }
    /// Forgets those that have gone.
    void forget_gone() {
        std::erase_if(aged_, [this](const Ref<Reservation>& each) { return reservations_.find(each) == nullptr; });
    }
    /// f(ReservationId) for each that is still there.
    template <class F>
    void for_each(F&& f) const {
        for (const Ref<Reservation>& each : aged_)
            if (reservations_.find(each) != nullptr) f(each.id);
    }

private:
    const Slab<Reservation>& reservations_;
    std::vector<Ref<Reservation>> aged_;
};

} // namespace yk
