// SPDX-License-Identifier: Apache-2.0
// The commands status, ping, health, version: does the daemon run, and is it well?

#include <algorithm>
#include <chrono>
#include <map>
#include <ostream>
#include <thread>

#include <fmt/format.h>

#include "libcore/base/pluralize.h"
#include "protocol/si/enums.h"
#include "ykctl/client/states.h"
#include "ykctl/client/watch.h"
#include "ykctl/commands/nouns.h"
#include "ykctl/render/text.h"
#include "ykctl/wait/await_daemon.h"

namespace yk::cli {
namespace {

using wire::Value;

/// When `subject` was reloaded last, or when and why that was refused.
std::pair<std::string, std::string> reload_field(const Value& note, const std::string& subject) {
    const auto at = number_of(note, "at");
    const std::chrono::nanoseconds now = std::chrono::system_clock::now().time_since_epoch();
    const auto age = std::max(now - std::chrono::nanoseconds{at}, std::chrono::nanoseconds{0});
    const auto outcome = flag_of(note, "ok") ? duration_text(age) + " ago"
                                             : "refused at " + time_text(at) + ", " + text_of(note, "reason");
    return {"last reload", subject + outcome};
}

/// Adds the reloads of each RM. Those of peers and tokens are added only if they failed, or if there is no other.
void add_reloads(const Value& status, std::vector<std::pair<std::string, std::string>>& fields) {
    const auto& rms = member_of(status, "rms");
    const auto before = fields.size();
    for (const auto& rm : rms) {
        const auto& note = member_of(rm, "lastReload");
        if (!note.is_null())
            fields.push_back(reload_field(note, rms.size() > 1 ? text_of(rm, "rmID") + ": " : std::string{}));
    }
    const auto& settings = member_of(status, "settingsReload");
    if (settings.is_null()) return;
    if (!flag_of(settings, "ok"))
        fields.push_back(reload_field(settings, "peers and tokens: "));
    else if (fields.size() == before)
        fields.push_back(reload_field(settings, {}));
}

/// The number of sessions, and of those that are kept for clients whose connection was closed.
std::string sessions_text(const Value& status) {
    const auto kept = number_of(status, "sessionsKept");
    const auto closed = kept > 0 ? fmt::format(", {} more of clients that are gone", kept) : std::string{};
    return fmt::format("{}{}", number_of(status, "sessions"), closed);
}

/// `, boot 12`, when the daemon counts its starts.
std::string boots_text(const Value& status) {
    const auto boots = number_of(status, "boots");
    return boots > 0 ? fmt::format(", boot {}", boots) : std::string{};
}

/// Adds the RMs that a reload does not change because they have a configuration of their own, with the way back.
void add_own_configurations(const Value& status, std::vector<std::pair<std::string, std::string>>& fields) {
    for (const auto& rm : member_of(status, "rms")) {
        const auto file = text_of(rm, "notFollowed");
        if (!file.empty())
            fields.emplace_back("not the file's",
                                printable(fmt::format("RM {}: {}, not {}; back to the file:  {}", text_of(rm, "rmID"),
                                                      text_of(rm, "configOrigin"), file, text_of(rm, "wayBack"))));
    }
}

std::string with_bar(const Value& rm, const std::string& progress) {
    const auto bar = recovery_bar(rm);
    return bar.empty() ? progress : bar + "; " + progress;
}

/// Adds the RMs that recover, with how far they are, and those whose recovery failed, with the way out.
void add_recoveries(const Value& status, std::vector<std::pair<std::string, std::string>>& fields) {
    for (const auto& rm : member_of(status, "rms")) {
        const auto id = printable(text_of(rm, "rmID"));
        const auto progress = recovery_progress(rm);
        if (number_of(rm, "state") == static_cast<int>(si::CoreState::Failed))
            fields.emplace_back("failed", fmt::format("{}: {}; way out:  ykctl recovery resolve "
                                                      "retry|reset|accept|abort {}",
                                                      id, progress.empty() ? "see  ykctl health" : progress, id));
        else if (!progress.empty())
            fields.emplace_back("recovering", id + ": " + with_bar(rm, progress));
    }
}

/// The table of the RMs. How far recoveries are stands above it.
std::string rms_text(const Value& rms, const Style& style) {
    auto layout = rm_layout();
    for (auto& column : layout.columns) column.when_filled = false;
    return list_text(std::vector<Value>(rms.begin(), rms.end()), layout, Format::Table, style);
}

std::string status_text(Context& context, const Value& status) {
    const auto& counts = member_of(status, "counts");
    const auto uptime = std::chrono::milliseconds{number_of(status, "uptimeMs")};
    std::vector<std::pair<std::string, std::string>> fields{
        {"daemon", fmt::format("ykd {} at {}, {}, up {}{}", text_of(status, "version"), context.settings().address,
                               core_state_text(number_of(status, "state")), duration_text(uptime), boots_text(status))},
        {"counts", fmt::format("{}, {}, {}, {}", pluralize(number_of(counts, "nodes"), "node"),
                               pluralize(number_of(counts, "applications"), "application"),
                               pluralize(number_of(counts, "allocations"), "allocation"),
                               pluralize(number_of(counts, "pendingAsks"), "pending ask"))},
        {"sessions", sessions_text(status)}};
    for (const auto& [group, checksum] : member_of(status, "checksums").items()) {
        fields.emplace_back("configuration", group + " " + (checksum.is_string() ? checksum.get<std::string>() : ""));
    }
    add_recoveries(status, fields);
    add_own_configurations(status, fields);
    add_reloads(status, fields);
    if (const auto directory = text_of(status, "recordDirectory"); !directory.empty())
        fields.emplace_back("recorded in", directory);
    for (const auto& line : member_of(status, "degraded")) {
        fields.emplace_back("degraded", line.is_string() ? line.get<std::string>() : line.dump());
    }
    auto text = fields_text(fields, context.style());
    const auto& rms = member_of(status, "rms");
    if (rms.empty()) return text + "no RM is registered; ykctl rm register RMID makes one\n";
    return text + "\n" + rms_text(rms, context.style());
}

/// `rm-1 Recovering: [####----------------] 20 %, ...`, or `rm-1 Running (recovery succeeded)`.
std::string rm_line(const Value& rm) {
    const auto head = printable(text_of(rm, "rmID")) + " " + core_state_text(number_of(rm, "state"));
    if (const auto progress = recovery_progress(rm); !progress.empty())
        return head + ": " + with_bar(rm, progress) + "\n";
    const auto reason = printable(text_of(rm, "reason"));
    return head + (reason.empty() ? "" : " (" + reason + ")") + "\n";
}

/// The lines of the RMs that are not as they were. One that recovers is not from look to look.
std::string status_news(const Value* before, const Value& status) {
    std::map<std::string, std::string> known;
    if (before != nullptr)
        for (const auto& rm : member_of(*before, "rms")) known[text_of(rm, "rmID")] = rm_line(rm);
    std::string text;
    for (const auto& rm : member_of(status, "rms")) {
        const auto line = rm_line(rm);
        if (known[text_of(rm, "rmID")] != line) text += line;
        known.erase(text_of(rm, "rmID"));
    }
    for (const auto& [id, line] : known) text += printable(id) + " is not registered any more\n";
    return text;
}

Outcome show_status(Context& context, WatchOptions& watch) {
    const auto fetch = [&context]() -> Answer<std::vector<Value>> {
        YK_TRY(status, context.call(si::StatusRequest{}));
        return std::vector<Value>{std::move(status)};
    };
    if (watch.on) {
        ListLayout layout{{}, [&context](const Value&) { return context.settings().address; }, {}};
        layout.drawing = [&context](const std::vector<Value>& items, const Style&) {
            return status_text(context, items.front());
        };
        layout.news = status_news;
        return list_or_watch(context, watch, {fetch, [&layout] { return Answer<ListLayout>{layout}; }});
    }
    YK_TRY(items, fetch());
    return context.show_item(items.front(), context.settings().address, status_text(context, items.front()));
}

Outcome ping(Context& context, std::int64_t count, bool waits) {
    using Clock = std::chrono::steady_clock;
    if (count < 1) return usage_error("-c: at least 1");
    if (waits) {
        YK_TRY(ended, await_daemon(context, context.begin_wait(kDefaultWait).limit));
        if (ended != Exit::Ok) return ended;
    }
    YK_TRY(connected, context.call(si::PingRequest{})); // so that no measurement includes connecting
    static_cast<void>(connected);
    std::vector<double> micros;
    for (std::int64_t i = 0; i < count; ++i) {
        const auto sent = Clock::now();
        YK_TRY(reply, context.call(si::PingRequest{}));
        micros.push_back(std::chrono::duration<double, std::micro>(Clock::now() - sent).count());
    }
    std::sort(micros.begin(), micros.end());
    const auto median = micros[micros.size() / 2];
    return context.show_item(
        {{"count", count}, {"minMicros", micros.front()}, {"p50Micros", median}, {"maxMicros", micros.back()}},
        context.settings().address,
        fmt::format("{} answered {}: {:.0f} us least, {:.0f} us median, {:.0f} us most\n", context.settings().address,
                    pluralize(count, "ping"), micros.front(), median, micros.back()));
}

std::string health_text(const Value& health, const Style& style) {
    Table table{{{"CHECK"}, {"RESULT"}, {"DIAGNOSIS"}}};
    for (const auto& check : member_of(health, "HealthChecks")) {
        table.add({printable(text_of(check, "Name")),
                   flag_of(check, "Succeeded") ? style.green("ok") : style.red("FAILED"),
                   printable(text_of(check, "DiagnosisMessage"))});
    }
    return table.text(style) + (flag_of(health, "Healthy") ? "healthy\n" : "NOT healthy\n");
}

Outcome show_health(Context& context, bool invariants, const WatchOptions& watch) {
    bool is_healthy = false;
    YK_TRY(shown, show_or_watch(context, watch, [&]() -> Answer<Shown> {
               YK_TRY(health, context.call(si::HealthRequest{.run = true, .invariants = invariants}));
               is_healthy = flag_of(health, "Healthy");
               return Shown{health, is_healthy ? "healthy" : "unhealthy", health_text(health, context.style())};
           }));
    return shown != Exit::Ok || is_healthy ? shown : Exit::Refused;
}

Outcome show_version(Context& context, bool client_only) {
    Value versions{{"client", context.version()}};
    auto text = "ykctl " + context.version() + "\n";
    if (!client_only) {
        YK_TRY(status, context.call(si::StatusRequest{}));
        versions["daemon"] = text_of(status, "version");
        text += "ykd " + printable(text_of(status, "version")) + " at " + context.settings().address + "\n";
    }
    return context.show_item(versions, context.version(), text);
}

} // namespace

void define_status(Command root, Context& context) {
    auto status = root.sub("status", "the daemon: version, uptime, RMs with their states, counts");
    const auto watch = std::make_shared<WatchOptions>();
    define_watch(status, *watch);
    status.run([&context, watch] { return show_status(context, *watch); });
    auto ping_command = root.sub("ping", "ask the daemon for a sign of life, and time it");
    const auto count = std::make_shared<std::int64_t>(1);
    ping_command.option("-c,--count", *count, "so many times");
    const auto waits = std::make_shared<bool>(false);
    ping_command.flag("--wait", *waits,
                      "for a daemon that is being started, until --timeout (default 30s) is over: exit 7");
    ping_command.run([&context, count, waits] { return ping(context, *count, *waits); });
    auto health = root.sub("health", "run the daemon's health checks; exit 0 healthy, 1 not");
    const auto invariants = std::make_shared<bool>(false);
    health.flag("--invariants", *invariants,
                "check every sum and index of large RMs, too, which then place nothing meanwhile");
    const auto health_watch = std::make_shared<WatchOptions>();
    define_watch(health, *health_watch);
    health.run([&context, invariants, health_watch] { return show_health(context, *invariants, *health_watch); });
    auto version = root.sub("version", "versions of ykctl and of the daemon");
    const auto client_only = std::make_shared<bool>(false);
    version.flag("--client", *client_only, "only that of ykctl, without asking the daemon");
    version.run([&context, client_only] { return show_version(context, *client_only); });
}

} // namespace yk::cli
