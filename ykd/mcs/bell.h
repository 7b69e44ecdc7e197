// SPDX-License-Identifier: Apache-2.0
#pragma once
// Bell: how a thread sleeps until somebody rings, a socket has something to be read, or a time has come. A condition
// variable cannot wait for a socket.
//
// Owner: whoever sleeps. Thread: ring() any; wait_until() that of the owner.

#include "protocol/simulation/steady_clock.h"

namespace yk::service {

class Bell {
public:
    Bell();
    ~Bell();
    Bell(const Bell&) = delete;
    Bell& operator=(const Bell&) = delete;

    /// Whoever sleeps wakes. One that does not sleep yet does not fall asleep: no ring is lost.
    void ring();
    /// `until`: max() is never. `socket`: -1 for none. True: there is something to be read from it.
    [[nodiscard]] bool wait_until(SteadyClock::time_point until, int socket);

private:
    const int rings_; // an eventfd; -1: this process may open no more files
};

} // namespace yk::service
