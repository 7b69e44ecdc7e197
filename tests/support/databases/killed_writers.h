// SPDX-License-Identifier: Apache-2.0
#pragma once
// Processes that write into a database and are killed in the middle, one after the other.

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>

#include <catch2/catch.hpp>

namespace yk::testing {

/// So many processes are forked, each of which calls `write(life, acknowledge)`: it writes rows until it is killed, and
/// a byte into the descriptor for each that is kept. Returns how many bytes there were. REQUIRES: no connection to
/// SQLite is open.
template <class Write>
std::int64_t kill_writers(int lives, const Write& write) {
    std::int64_t kept = 0;
    for (int life = 0; life < lives; ++life) {
        int ends[2];
        REQUIRE(::pipe(ends) == 0);
        const pid_t child = ::fork();
        if (child == 0) write(life, ends[1]);
        ::close(ends[1]);
        char byte = 0;
        for (int each = 0; each <= life * 3; ++each) kept += ::read(ends[0], &byte, 1); // it is at work
        ::kill(child, SIGKILL);
        ::waitpid(child, nullptr, 0);
        while (::read(ends[0], &byte, 1) == 1) ++kept;
        ::close(ends[0]);
    }
    return kept;
}

} // namespace yk::testing
