// SPDX-License-Identifier: Apache-2.0
#pragma once
// Fault points: the places of resource state at which a test ends the process, as SIGKILL would, to see what the next
// one makes of what is left (rs R-148). In debug, sanitizer and fuzz builds a point is a look at one pointer; in
// release builds it is nothing.
//
// A new point is an enumerator here, its name below, and `YK_FAULT(Name)` where it is; the tests in
// tests/unit/ykd/mcs/crash_points_test.cpp go through all of them, and fail for one that nothing comes to.

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace yk {

enum class FaultPoint : std::uint8_t {
    // The start, steps S1 to S8 of section 8.
    DatabaseOpened,
    LogCaptured,
    PageLoaded,
    CachesFilled,
    LogOpened,
    CaughtUp,
    HandlersBegun,
    LeaseTaken,
    PeriodicBegun,
    PeriodicEnded,
    // The reconcile of keys.
    KeysTaken,
    RowsRead,
    RowApplied,
    DeliveryQueued,
    KeyDone,
    // The call of a handler.
    HandlerCalled, // not yet
    HandlerReturned,
    // The transaction of a group of writes.
    GroupTaken,
    GroupWritten, // and not committed
    GroupCommitted,
    GroupAnswered,
    // What the core places, on its way into the rows.
    ReplicaPlaced,
    PlacementHandedOut,
    PlacementWritten
};
inline constexpr std::array<std::string_view, 24> kFaultPoints{
    "DatabaseOpened", "LogCaptured",    "PageLoaded",    "CachesFilled",  "LogOpened",          "CaughtUp",
    "HandlersBegun",  "LeaseTaken",     "PeriodicBegun", "PeriodicEnded", "KeysTaken",          "RowsRead",
    "RowApplied",     "DeliveryQueued", "KeyDone",       "HandlerCalled", "HandlerReturned",    "GroupTaken",
    "GroupWritten",   "GroupCommitted", "GroupAnswered", "ReplicaPlaced", "PlacementHandedOut", "PlacementWritten"};
static_assert(kFaultPoints.size() == static_cast<std::size_t>(FaultPoint::PlacementWritten) + 1);

#ifdef NDEBUG
inline constexpr bool kHasFaultPoints = false;
#define YK_FAULT(point) static_cast<void>(0)
#else
inline constexpr bool kHasFaultPoints = true;
#define YK_FAULT(point) ::yk::detail::reach_fault_point(::yk::FaultPoint::point)
#endif

namespace detail {
/// Called by whoever comes to a point, on any thread; nullptr: nobody looks. Set by tests.
inline std::atomic<void (*)(FaultPoint)> at_fault_point{nullptr};

inline void reach_fault_point(FaultPoint point) {
    if (auto* const look = at_fault_point.load(std::memory_order_relaxed)) [[unlikely]]
        look(point);
}
} // namespace detail

} // namespace yk
