// SPDX-License-Identifier: Apache-2.0
#include "ykctl/mcs/operations.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <memory>
#include <ostream>

#include "libcore/base/pluralize.h"
#include "ykctl/client/dumps.h"
#include "ykctl/client/states.h"
#include "ykctl/client/watch.h"
#include "ykctl/mcs/wait_until.h"
#include "ykctl/render/text.h"

namespace yk::cli {
namespace {

using wire::Value;
using Clock = std::chrono::steady_clock;

/// Has the daemon do it, and says so.
Outcome operate(Context& context, const si::McsWriteRequest& request, const std::string& done) {
    YK_TRY(reply, context.call(request));
    return context.show_item(reply, request.kind, context.settings().quiet ? std::string{} : done + "\n");
}

OptionRef define_kind(Command command, std::string& kind, bool with_all) {
    std::vector<std::string> kinds{"deployment", "deploymentscale", "deploymentschedule", "node"};
    if (with_all) kinds.emplace_back("all");
    return command.option("KIND", kind, "kind of rows").choices(kinds);
}

// --- resync ----------------------------------------------------------------------------------------------------------

/// The kinds of which no full read has begun and ended since a moment so long ago.
std::vector<std::string> kinds_unread(const Value& status, const std::string& kind, std::chrono::milliseconds ago) {
    std::vector<std::string> unread;
    for (const auto& each : member_of(status, "kinds")) {
        const std::string name = text_of(each, "kind");
        if (kind != "all" && kind != name) continue;
        if (!each.contains("lastResyncBeganMs") || number_of(each, "lastResyncBeganMs") > ago.count())
            unread.push_back(name);
    }
    return unread;
}

Outcome resync(Context& context, const std::string& kind, bool waits) {
    const auto limit = waits ? context.begin_wait(kDefaultWait).limit : kDefaultWait;
    const auto asked = Clock::now();
    YK_CHECKED(operate(context, {.verb = "resync", .kind = kind}, "resync of " + kind + " begun"));
    if (!waits) return Exit::Ok;
    context.out().flush();
    return wait_until(context, limit, [&]() -> Answer<std::optional<Failure>> {
        const auto now = Clock::now(); // before the answer is made, so that no read counts that began before it
        YK_TRY(status, context.call(si::McsReadRequest{.what = "status"}));
        const auto unread =
            kinds_unread(status, kind, std::chrono::duration_cast<std::chrono::milliseconds>(now - asked));
        if (unread.empty()) return std::optional<Failure>{};
        return std::optional{
            unsatisfied(fmt::format("{} not read after {}", fmt::join(unread, ", "), duration_text(limit)),
                        "what is wrong?  ykctl mcs status")};
    });
}

void define_resync(Command noun, Context& context) {
    const auto command = noun.sub("resync", "read every row anew, and repair what differs");
    const auto kind = std::make_shared<std::string>("all");
    const auto waits = std::make_shared<bool>(false);
    define_kind(command, *kind, true);
    command.flag("--wait", *waits, "until all is read, or --timeout (default 30s) is over: exit 7");
    command.run([&context, kind, waits] { return resync(context, *kind, *waits); });
}

void define_reconcile(Command noun, Context& context) {
    const auto command = noun.sub("reconcile", "read one row anew, and have everybody look at it");
    const auto kind = std::make_shared<std::string>();
    const auto id = std::make_shared<std::string>();
    define_kind(command, *kind, false).required();
    command.option("ID", *id, "id of the row").required();
    command.run([&context, kind, id] {
        return operate(context, {.verb = "reconcile", .kind = *kind, .id = *id},
                       fmt::format("{} {} is looked at", *kind, printable(*id)));
    });
}

// --- inspect ---------------------------------------------------------------------------------------------------------

std::string image_text(const Value& image) {
    if (!image.is_object()) return "nothing";
    if (const auto fault = text_of(image, "fault"); !fault.empty()) return "cannot be understood: " + printable(fault);
    return fmt::format("version {} (uid {}, content {})", number_of(image, "version"), printable(text_of(image, "uid")),
                       printable(text_of(image, "content")));
}

std::string inspection_text(const Value& item, const Style& style) {
    auto text = fields_text({{"row", text_of(item, "kind") + " " + printable(text_of(item, "id"))},
                             {"verdict", text_of(item, "verdict")},
                             {"cache", image_text(member_of(item, "cache"))},
                             {"database", image_text(member_of(item, "database"))},
                             {"to be read", flag_of(item, "queued") ? "yes" : "no"}},
                            style);
    const Value& handlers = member_of(item, "handlers");
    if (handlers.empty()) return text;
    const ListLayout layout{
        {text_column("HANDLER", "name"), text_column("STATE", "state"), number_column("FAILED", "failed")}, {}, ""};
    return text + "\n" + list_text(std::vector<Value>(handlers.begin(), handlers.end()), layout, Format::Table, style);
}

Outcome inspect(Context& context, const std::string& kind, const std::string& id) {
    YK_TRY(reply, context.call(si::McsReadRequest{.what = "inspect", .kind = kind, .id = id}));
    const Value& item = member_of(reply, "item");
    return context.show_item(item, text_of(item, "verdict"), inspection_text(item, context.style()));
}

void define_inspect(Command noun, Context& context) {
    const auto command = noun.sub("inspect", "one row in memory, in the database and with the services, side by side");
    const auto kind = std::make_shared<std::string>();
    const auto id = std::make_shared<std::string>();
    define_kind(command, *kind, false).required();
    command.option("ID", *id, "id of the row, or name of the deployment").required();
    command.run([&context, kind, id] { return inspect(context, *kind, *id); });
}

// --- dead letters ----------------------------------------------------------------------------------------------------

Column column_of_age_in_ms(const char* heading, const char* key, std::int64_t now) {
    return {{heading, Align::Right}, [key, now](const Value& letter) {
                const std::chrono::nanoseconds age =
                    std::chrono::nanoseconds{now} - std::chrono::milliseconds{number_of(letter, key)};
                return duration_text(std::max(age, std::chrono::nanoseconds{0}));
            }};
}

Answer<ListLayout> letter_layout(Context& context) {
    YK_TRY(now, daemon_now(context));
    return ListLayout{{text_column("KIND", "kind"),
                       text_column("ID", "id"),
                       text_column("HANDLER", "handler"),
                       number_column("ATTEMPTS", "attempts"),
                       column_of_age_in_ms("SINCE", "firstMs", now),
                       {{"ERROR"}, [](const Value& letter) { return or_dash(printable(text_of(letter, "error"))); }}},
                      [](const Value& letter) { return text_of(letter, "id"); },
                      "no dead letters"};
}

void define_dead_letters(Command noun, Context& context) {
    const auto command = noun.sub("dead-letters", "what could not be done again and again, and why");
    const auto watch = std::make_shared<WatchOptions>();
    define_watch(command, *watch);
    command.run([&context, watch] {
        return list_or_watch(
            context, *watch,
            {{},
             [&context] { return letter_layout(context); },
             [&context](const TakeItems& take) { return read_items(context, {.what = "dead-letters"}, take); }});
    });
}

Outcome retry(Context& context, const std::string& kind, const std::string& id) {
    YK_TRY(reply, context.call(si::McsWriteRequest{.verb = "retry", .kind = kind, .id = id}));
    const auto count = number_of(reply, "count");
    const std::string text = count == 0
                                 ? "no dead letter here to try again"
                                 : pluralize(count, "dead letter") + (count == 1 ? " is" : " are") + " tried again";
    return context.show_item(reply, kind, context.settings().quiet ? std::string{} : text + "\n");
}

void define_retry(Command noun, Context& context) {
    const auto command = noun.sub("retry", "try dead letters again at once");
    const auto kind = std::make_shared<std::string>("all");
    const auto id = std::make_shared<std::string>();
    define_kind(command, *kind, true);
    command.option("ID", *id, "id of the row, default all of them");
    command.run([&context, kind, id] { return retry(context, *kind, *id); });
}

// --- after a restore -------------------------------------------------------------------------------------------------

void define_bump_epoch(Command noun, Context& context) {
    const auto command = noun.sub("bump-epoch", "have every daemon with this database read all rows anew");
    command.run([&context] {
        return operate(context, {.verb = "bump-epoch", .kind = "all"},
                       "the change log has another name: every daemon reads all rows anew");
    });
}

} // namespace

void define_mcs_operations(Command noun, Context& context) {
    define_resync(noun, context);
    define_reconcile(noun, context);
    define_inspect(noun, context);
    define_dead_letters(noun, context);
    define_retry(noun, context);
    define_bump_epoch(noun, context);
}

} // namespace yk::cli
