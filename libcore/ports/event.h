// SPDX-License-Identifier: Apache-2.0
#pragma once
// Event records as a port (S-600, section 7 of interface.md). Called in order on the owner thread, in the middle of a
// change, so that an implementation never throws; views are valid during the call only. Ids, the ring buffer and
// streams belong to the receiver.

#include <cstdint>
#include <string_view>

#include "libcore/base/time.h"
#include "libcore/resources/resource.h"

namespace yk {

enum class EventType : std::uint8_t { Unset = 0, Request = 1, App = 2, Node = 3, Queue = 4, UserGroup = 5, Rm = 6 };
enum class EventChange : std::uint8_t { None = 0, Set = 1, Add = 2, Remove = 3 };

enum class EventDetail : std::uint16_t {
    None = 0,
    RequestCancel = 100,
    RequestAlloc = 101,
    RequestTimeout = 102,
    AppAlloc = 200,
    AppRequest = 201,
    AppReject = 202,
    AppNew = 203,
    AppAccepted = 204,
    AppRunning = 206,
    AppCompleting = 207,
    AppCompleted = 208,
    AppFailing = 209,
    AppFailed = 210,
    AppResuming = 211,
    AppExpired = 212,
    AppCannotRunQueue = 213,
    AppRunnableQueue = 214,
    AppCannotRunQuota = 215,
    AppRunnableQuota = 216,
    NodeDecommission = 300,
    NodeSchedulable = 302,
    NodeAlloc = 303,
    NodeCapacity = 304,
    NodeOccupied = 305,
    NodeReservation = 306,
    QueueConfig = 400,
    QueueDynamic = 401,
    QueueType = 402,
    QueueMax = 403,
    QueueGuaranteed = 404,
    QueueApp = 405,
    QueueAlloc = 406,
    QueuePreemption = 407,
    AllocCancel = 500,
    AllocPreempt = 501,
    AllocTimeout = 502,
    AllocReplaced = 503,
    AllocNodeRemoved = 504,
    UserLimit = 600,
    GroupLimit = 601,
    AppLink = 602,
    UserResource = 603,
    GroupResource = 604
};

struct EventRecord {
    EventType type = EventType::Unset;
    EventChange change = EventChange::None;
    EventDetail detail = EventDetail::None;
    Instant at;
    std::string_view partition; // full name
    std::string_view object;    // allocation key, application id, node id, queue path, user or group, RM
    std::string_view reference; // second object, may be empty
    std::string_view message;   // may be empty
    NamedResource resource;     // may be absent
};

struct ApplicationView;

class EventSink {
public:
    virtual ~EventSink() = default;
    virtual void record(const EventRecord& event) noexcept = 0;
    /// An application reached Completed or Failed (I-721), whether events are tracked or not. The view comes
    /// without asks and allocations.
    virtual void application_ended(const ApplicationView& /*application*/) noexcept {}
};

} // namespace yk
