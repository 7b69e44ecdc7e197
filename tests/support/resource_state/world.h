// SPDX-License-Identifier: Apache-2.0
#pragma once
// A StateManager with a database in memory and a clock that a test moves, and what it can look at.

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "libcore/resource_state/state_manager.h"
#include "tests/support/resource_state/albums.h"
#include "tests/support/resource_state/memory_database.h"

namespace yk::testing {

/// What was announced, as lines: `kind-of-notice [resource/]id: text`.
class KeptNotices final : public rs::NoticeSink {
public:
    void notice(const rs::Notice& notice) override {
        std::string line{name_of(notice.what)};
        if (!notice.kind.empty() || !notice.id.empty()) line += ' ';
        if (!notice.kind.empty()) line += std::string{notice.kind} + (notice.id.empty() ? "" : "/");
        line += notice.id;
        if (!notice.handler.empty()) line += " by " + std::string{notice.handler};
        if (!notice.text.empty()) line += ": " + std::string{notice.text};
        lines.push_back(std::move(line));
    }
    [[nodiscard]] std::size_t count(std::string_view beginning) const {
        return static_cast<std::size_t>(std::count_if(
            lines.begin(), lines.end(), [&](const std::string& line) { return line.starts_with(beginning); }));
    }

    std::vector<std::string> lines;
};

/// A handler that writes down its calls (`add a v1`, `update a v1 v2`, `delete a v2`), and answers as the test says.
template <rs::Resource T>
class KeptCalls final : public rs::ResourceEventHandler<T> {
public:
    explicit KeptCalls(std::string name = "kept") : name_(std::move(name)) {}

    [[nodiscard]] std::string_view name() const override { return name_; }
    [[nodiscard]] rs::HandlerResult on_add(const rs::EventContext& context, const rs::Ptr<T>& object) override {
        return keep(context, "add " + text(*object));
    }
    [[nodiscard]] rs::HandlerResult on_update(const rs::EventContext& context, const rs::Ptr<T>& old,
                                              const rs::Ptr<T>& current) override {
        return keep(context, "update " + text(*old) + " v" + std::to_string(rs::meta_of(*current).version));
    }
    [[nodiscard]] rs::HandlerResult on_delete(const rs::EventContext& context, const rs::Ptr<T>& last) override {
        return keep(context, "delete " + text(*last));
    }
    std::vector<std::string> take() { return std::exchange(calls, {}); }

    std::vector<std::string> calls;
    std::vector<rs::EventContext> contexts;
    std::function<rs::HandlerResult(const rs::EventContext&)> answer;

private:
    [[nodiscard]] static std::string text(const T& object) {
        return rs::meta_of(object).id + " v" + std::to_string(rs::meta_of(object).version);
    }
    [[nodiscard]] rs::HandlerResult keep(const rs::EventContext& context, std::string call) {
        calls.push_back(std::move(call));
        contexts.push_back(context);
        return answer ? answer(context) : rs::HandlerResult::ok();
    }

    std::string name_;
};

/// Lets time pass in a world with `now`, settle() and next_due(), and has done what becomes due meanwhile.
template <class World>
void let_pass(World& world, Duration time) {
    const Instant end = world.now + time;
    world.settle();
    for (auto due = world.next_due(); due && *due <= end; due = world.next_due()) {
        world.now = std::max(*due, world.now + std::chrono::milliseconds{1});
        world.settle();
    }
    world.now = std::max(world.now, end);
    world.settle();
}

/// Drives a manager step by step; running a call and taking its answer over are two.
struct SteppedCalls {
    /// False: nothing is to be done now.
    bool step(rs::StateManager& manager, Instant now) {
        if (call && !was_run) {
            call->run();
            return was_run = true;
        }
        if (call) {
            call->finish(now);
            call.reset();
            return true;
        }
        if (manager.turn(now)) return true;
        was_run = false;
        call = manager.next_call(now);
        return call != nullptr;
    }

    std::unique_ptr<rs::IoCall> call; // that is under way
    bool was_run = false;
};

struct AlbumWorld {
    explicit AlbumWorld(const rs::Settings& settings = {}, std::uint64_t seed = 1)
        : manager(log, notices, settings, seed), albums(manager.add(rows)) {}

    /// Does what there is to do now, and looks once more at the log.
    void settle() {
        manager.wake();
        for (int steps = 0; drive(manager, now); ++steps) YK_CHECK(steps < 1'000'000, "it never comes to rest");
        const auto due = manager.next_due(now);
        YK_CHECK(!due || *due > now, "whoever waits until then would not wait");
    }
    /// Lets time pass, and has done what becomes due meanwhile.
    void pass(Duration time) {
        const Instant end = now + time;
        settle();
        for (auto due = manager.next_due(now); due && *due <= end; due = manager.next_due(now)) {
            now = std::max(*due, now + std::chrono::milliseconds{1});
            while (drive(manager, now)) {
            }
        }
        now = std::max(now, end);
        settle();
    }
    void start() {
        manager.start(now);
        settle();
    }
    /// Whether cache and database say the same; else what differs.
    [[nodiscard]] std::string difference() {
        for (const auto& [id, row] : rows.rows()) {
            const auto cached = albums.cache().get(id);
            if (!cached) return id + " is not in the cache";
            if (cached->meta.uid != row.meta.uid || cached->meta.version != row.meta.version ||
                cached->title != row.title)
                return id + " is another one in the cache";
        }
        for (const auto& object :
             albums.cache().list([&](const Album& each) { return !rows.rows().contains(each.meta.id); }))
            return object->meta.id + " is not in the database";
        return {};
    }

    Instant now{1'000'000'000'000};
    MemoryDatabase database;
    MemoryStore<Album> rows{database};
    MemoryChangeLog log{database};
    KeptNotices notices;
    rs::StateManager manager;
    rs::ResourceInformer<Album>& albums;
};

} // namespace yk::testing
