// SPDX-License-Identifier: Apache-2.0
#include "ykd/service/detached_restore.h"

#include <fmt/format.h>

#include <chrono>
#include <future>
#include <memory>

#include "protocol/simulation/simulator.h"
#include "ykd/configuration/kept_configurations.h"
#include "ykd/process/log.h"
#include "ykd/runtime/clock.h"

namespace yk::service {
namespace {

constexpr const char* kLabel = "books"; // of the recovery

} // namespace

void DetachedRestore::restore_all() {
    if (!parts_.books.is_open()) return;
    for (FoundBooks& found : parts_.books.find()) restore(std::move(found));
}

void DetachedRestore::fail(const std::string& rm_id, const std::string& why) {
    log("recovery").error("RM {} is not restored: {}", rm_id, why);
    parts_.books.leave(rm_id);
    parts_.degraded.set("books of " + rm_id, fmt::format("RM {} is not restored from its books: {}", rm_id, why));
}

Result<RmWish> DetachedRestore::wish_of(FoundBooks& found) const {
    const books::KeptConfiguration& active = found.configurations.back();
    RmWish wish;
    wish.request = found.registration;
    wish.request.recovery.emplace().id = kLabel;
    wish.capabilities = found.registration.capabilities;
    wish.text = active.text;
    wish.origin = active.origin;
    wish.from_file = found.from_file;
    for (const std::string& name : found.partitions) wish.ran.add(name);
    wish.loaded =
        std::make_shared<const config_yaml::LoadOutcome>(config_yaml::load_or_default(active.text, active.origin));
    if (!wish.loaded->configuration)
        return Error::of("its configuration is refused: " + wish.loaded->first_error().text());
    YK_TRY(keeper, parts_.books.go_on(found));
    wish.restored = std::move(keeper);
    return wish;
}

void DetachedRestore::restore(FoundBooks found) {
    const auto begin = SteadyClock::now();
    const std::string rm_id = found.registration.rm_id;
    if (found.from_file)
        warn_of_other_file(parts_.config_files, rm_id, found.registration.policy_group, found.configurations.back());
    restore_history(parts_.history, rm_id, found.configurations);
    auto wish = wish_of(found);
    if (!wish.ok()) return fail(rm_id, wish.error().message);
    auto rm = parts_.registry.make(rm_id, {"books", true});
    if (!rm.ok()) return fail(rm_id, rm.error().message);
    std::promise<std::string> ended;
    (*rm)->owner.in_order(
        [&](RmOwner& owner) {
            const auto give_up = [&](const std::string& why) { // its file stays
                owner.uninstall("it could not be restored");
                parts_.registry.retire(*rm, owner);
                ended.set_value(why);
            };
            const auto installed = parts_.installer.install(**rm, owner, std::move(wish).value());
            if (!installed.ok()) return give_up(installed.error().message);
            auto report = owner.recovery().replay_books();
            if (!report.ok()) return give_up(report.error().message);
            // All of it is one turn of the owner, for whose clock no time has passed.
            const auto took = std::chrono::duration_cast<std::chrono::milliseconds>(SteadyClock::now() - begin);
            report->duration_ms = static_cast<std::uint64_t>(took.count());
            log("recovery").info("RM {}: {}", rm_id, summary_of(*report));
            ended.set_value({});
        },
        [&] { ended.set_value("the daemon is stopping"); });
    auto outcome = ended.get_future();
    if (const std::string why = get(outcome); !why.empty()) fail(rm_id, why);
}

} // namespace yk::service
