// SPDX-License-Identifier: Apache-2.0
#include "libcore/base/owner_thread.h"

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <functional>
#include <thread>

#include <catch2/catch.hpp>

namespace yk {
namespace {

/// Whether a process that has another thread do this is ended by a check.
bool ends(const std::function<void()>& act) {
    const ::pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
        std::signal(SIGABRT, SIG_DFL);
        static_cast<void>(std::freopen("/dev/null", "w", stderr)); // the sentence of the check
        std::thread{act}.join();
        ::_exit(0);
    }
    int status = 0;
    REQUIRE(::waitpid(child, &status, 0) == child);
    return WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT;
}

#ifdef NDEBUG
constexpr bool kChecks = false;
#else
constexpr bool kChecks = true;
#endif

} // namespace

TEST_CASE("an object with an owner thread is used there only, which debug builds check") {
    OwnerThread owner;
    CHECK_FALSE(ends([&] { owner.assert_here(); })); // nobody is the owner yet
    owner.bind();
    owner.assert_here();
    CHECK(ends([&] { owner.assert_here(); }) == kChecks);
    CHECK(ends([&] { owner.claim(); }) == kChecks);
    owner.release();
    CHECK_FALSE(ends([&] { owner.assert_here(); }));
}

TEST_CASE("whoever uses an unbound object first owns it") {
    OwnerThread owner;
    CHECK_FALSE(ends([&] {
        owner.claim();
        owner.claim();
    }));
    owner.claim();
    owner.assert_here();
    CHECK(ends([&] { owner.claim(); }) == kChecks);
    CHECK(ends([&] { owner.assert_here(); }) == kChecks);
}

} // namespace yk
