// SPDX-License-Identifier: Apache-2.0
#pragma once
// ResourceEventHandler<T>: what a program does when a resource came, changed or went.
//
// A handler compares what should be with what is, both in the caches, and acts on the difference. It may be called
// again for what it has done already, after an unclear result, or with `old` equal to `current`; states may be skipped,
// but the `old` of a call is the `current` of the last call that succeeded, and a delete is never left out (rs R-082,
// It runs on the thread that owns the caches, so it must not wait: whoever has to write to the database starts
// that, returns later(), and reports how it went by ResourceInformer::finish().

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "libcore/base/result.h"
#include "libcore/base/time.h"
#include "libcore/resource_state/ports/resource.h"
#include "libcore/resource_state/work_queue.h"

namespace yk::rs {

/// The right to write as a service, as far as this process knows. The database has the last word (rs R-141).
struct Lease {
    std::uint64_t epoch = 0;
    bool is_valid = true;
};

/// Names a call that is not finished.
using CallId = std::uint64_t;

struct EventContext {
    Cause cause{};
    bool forced = false;  // no difference is known; a resync looks everything over
    unsigned attempt = 1; // of this change
    Lease lease;
    Instant now;
    CallId call = 0; // for later()
};

/// How a call went.
class HandlerResult {
public:
    enum class What : std::uint8_t { Ok, Retry, Conflict, RetryAfter, Permanent, Later };

    [[nodiscard]] static HandlerResult ok() { return HandlerResult{What::Ok, {}, {}}; }
    /// It failed, and is called again after a back-off.
    [[nodiscard]] static HandlerResult retry(std::string error) { return {What::Retry, {}, std::move(error)}; }
    /// Somebody else changed the row that the handler wrote: as retry(), but the first ones are no failure (rs R-090).
    [[nodiscard]] static HandlerResult conflict(std::string error) { return {What::Conflict, {}, std::move(error)}; }
    /// It went well, and wants to look again after `delay` (rs R-088).
    [[nodiscard]] static HandlerResult again_after(Duration delay) { return {What::RetryAfter, delay, {}}; }
    /// It failed, and is called again only when the object changes, or at a resync (rs R-087).
    [[nodiscard]] static HandlerResult permanent(std::string error) { return {What::Permanent, {}, std::move(error)}; }
    /// Not known yet: whoever has EventContext::call reports it. Until then this handler is not called for the key.
    [[nodiscard]] static HandlerResult later() { return {What::Later, {}, {}}; }

    [[nodiscard]] What what() const { return what_; }
    [[nodiscard]] Duration delay() const { return delay_; }
    [[nodiscard]] const std::string& error() const { return error_; }

private:
    HandlerResult(What what, Duration delay, std::string error)
        : what_(what), delay_(delay), error_(std::move(error)) {}

    What what_;
    Duration delay_;
    std::string error_;
};

template <Resource T>
class ResourceEventHandler {
public:
    virtual ~ResourceEventHandler() = default;
    /// One word, different for each handler of a kind; in notices and dead letters.
    [[nodiscard]] virtual std::string_view name() const = 0;
    [[nodiscard]] virtual HandlerResult on_add(const EventContext& context, const Ptr<T>& object) = 0;
    [[nodiscard]] virtual HandlerResult on_update(const EventContext& context, const Ptr<T>& old,
                                                  const Ptr<T>& current) = 0;
    /// `last` is what this handler was given last of the object, however long ago.
    [[nodiscard]] virtual HandlerResult on_delete(const EventContext& context, const Ptr<T>& last) = 0;
};

struct HandlerOptions {
    std::string service;              // it runs only while this process has the service's lease; empty: always
    bool is_serial = false;           // one key at a time, also while a call is not finished
    bool wants_every_version = false; // also changes of the version alone
    bool wants_initial = true;        // on_add for what is there when it begins
    bool needs_initial = false;       // also where the settings leave that to the resync
    bool reads_cache = false;         // on_delete also for what it was not given: it may have found it in the cache
};

} // namespace yk::rs
