// SPDX-License-Identifier: Apache-2.0
// Another program that follows the rows of a database: it links yk_resource_state, which brings yk_base, and nothing
// else. libcore/resource_state/README.md explains each step. The database is the one in memory that tests have, which
// is headers alone; a real program has a store and a change log of its own.
//
// It prints what its handler was called for, and exits with 1 if that is not what it should be.

#include <chrono>
#include <cstdint>
#include <iostream>
#include <string>
#include <string_view>

#include "libcore/resource_state/state_manager.h"
#include "tests/support/resource_state/memory_database.h"

namespace lamps {

/// A row: a lamp of a house.
struct Lamp {
    yk::rs::ResourceMeta meta;
    bool is_on = false;
};

} // namespace lamps

template <>
struct yk::rs::ResourceTraits<lamps::Lamp> {
    static constexpr Kind kKind{1};
    static constexpr std::string_view kName = "lamp";
    static constexpr std::string_view kOwner = "house";
    static const ResourceMeta& meta(const lamps::Lamp& lamp) { return lamp.meta; }
    static std::uint64_t content_hash(const lamps::Lamp& lamp) { return lamp.is_on ? 1 : 0; }
};

namespace lamps {
namespace {

namespace rs = yk::rs;

/// Writes down what it is called for. It waits for nothing, so each call is done when it returns.
class OnLamp final : public rs::ResourceEventHandler<Lamp> {
public:
    [[nodiscard]] std::string_view name() const override { return "watcher"; }
    [[nodiscard]] rs::HandlerResult on_add(const rs::EventContext& /*context*/, const rs::Ptr<Lamp>& lamp) override {
        return write_down("add", *lamp);
    }
    [[nodiscard]] rs::HandlerResult on_update(const rs::EventContext& /*context*/, const rs::Ptr<Lamp>& /*old*/,
                                              const rs::Ptr<Lamp>& lamp) override {
        return write_down("update", *lamp);
    }
    [[nodiscard]] rs::HandlerResult on_delete(const rs::EventContext& /*context*/, const rs::Ptr<Lamp>& last) override {
        return write_down("delete", *last);
    }

    std::string seen; // a line for each call

private:
    rs::HandlerResult write_down(const std::string& what, const Lamp& lamp) {
        seen += what + " " + lamp.meta.id + (lamp.is_on ? " on" : " off") + "\n";
        return rs::HandlerResult::ok();
    }
};

/// What an operator would want to see goes to the error output.
class ShownNotices final : public rs::NoticeSink {
public:
    void notice(const rs::Notice& notice) override {
        std::cerr << name_of(notice.what) << ' ' << notice.kind << ' ' << notice.id << ' ' << notice.text << '\n';
    }
};

int run() {
    yk::testing::MemoryDatabase database;
    yk::testing::MemoryStore<Lamp> store{database};
    yk::testing::MemoryChangeLog log{database};
    Lamp hall;
    hall.meta.id = "hall";
    store.create(hall);

    OnLamp handler;
    ShownNotices notices;
    yk::Instant now{1'000'000'000};
    rs::StateManager manager{log, notices, rs::Settings{}, /*seed=*/1};
    rs::ResourceInformer<Lamp>& informer = manager.add(store);
    informer.add_handler(handler, {}, now);
    manager.start(now);
    while (rs::drive(manager, now)) {
    }

    store.change("hall", [](Lamp& lamp) { lamp.is_on = true; }); // as another program would
    now = now + std::chrono::seconds{1};                         // a loop sleeps until next_due()
    while (rs::drive(manager, now)) {
    }

    std::cout << handler.seen;
    const auto cached = informer.cache().get("hall");
    return handler.seen == "add hall off\nupdate hall on\n" && cached && cached->is_on ? 0 : 1;
}

} // namespace
} // namespace lamps

int main() {
    return lamps::run();
}
