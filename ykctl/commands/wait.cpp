// SPDX-License-Identifier: Apache-2.0
// The command wait: waits until objects meet a condition, or the time is over.

#include <algorithm>
#include <chrono>
#include <ostream>
#include <set>

#include <fmt/format.h>

#include "protocol/si/enums.h"
#include "ykctl/client/held_signals.h"
#include "ykctl/client/reconnect.h"
#include "ykctl/commands/nouns.h"
#include "ykctl/render/text.h"
#include "ykctl/wait/await_daemon.h"
#include "ykctl/wait/look.h"
#include "ykctl/wait/wanted.h"

namespace yk::cli {
namespace {

using wire::Value;
using Clock = std::chrono::steady_clock;

constexpr std::int64_t kLongestLook = 500; // milliseconds without an event: not every change has one
constexpr std::chrono::milliseconds kLookEvery{200};
constexpr std::chrono::milliseconds kLongestCall{5000}; // a daemon that takes no further stream is not asked longer

struct WaitOptions {
    std::vector<std::string> objects;
    std::optional<std::string> condition, application;
};

// --- waiting ------------------------------------------------------------------------------------

/// Waits for the next event of the daemon, so that looking again may be worth it. Without events it waits a fixed time.
class Bell {
public:
    explicit Bell(Context& context) : context_(context) {}

    /// Begins anew, for another daemon.
    void reset() {
        stream_.clear();
        next_ = 0;
        off_ = false;
    }

    std::optional<Failure> wait(std::int64_t limit_ms) {
        if (off_) return pause();
        si::EventStreamRequest query;
        query.stream_id = stream_;
        query.wait_ms = 0;
        if (!stream_.empty()) {
            query.after = static_cast<std::uint64_t>(next_);
            query.wait_ms = static_cast<std::uint64_t>(std::min(limit_ms, kLongestLook));
        }
        const auto reply = context_.call(query, kLongestCall);
        if (!reply.ok()) {
            off_ = true; // the daemon keeps no events, or has too many streams
            return reply.error().exit == Exit::Refused ? std::nullopt : std::optional(reply.error());
        }
        stream_ = text_of(*reply, "streamID");
        next_ = std::max(next_, number_of(*reply, "nextID"));
        return std::nullopt;
    }

private:
    static std::optional<Failure> pause() {
        const timespec time{0, std::chrono::nanoseconds{kLookEvery}.count()};
        ::nanosleep(&time, nullptr);
        return std::nullopt;
    }

    Context& context_;
    std::string stream_;
    std::int64_t next_ = 0;
    bool off_ = false;
};

Failure not_as_wanted(const Wanted& wanted, const Look& last, const std::string& how, Exit exit) {
    std::vector<std::string> hints;
    if (wanted.noun == "ask") hints.push_back("why?  ykctl explain ask " + wanted.name);
    if (wanted.noun == "app" && exit == Exit::NotSatisfied) hints.push_back("why?  ykctl explain app " + wanted.name);
    if (wanted.noun == "queue" && wanted.condition == "count" && wanted.count.what == "pending")
        hints.push_back("why?  ykctl explain queue " + wanted.name);
    return {exit, wanted.text() + (wanted.noun == "idle" ? ": " : " ") + last.text + how, hints, 0, {}, {}};
}

Outcome satisfied(Context& context, const Wanted& wanted, const Look& last) {
    const std::string object = wanted.name.empty() ? wanted.noun : wanted.noun + "/" + wanted.name;
    const std::string text = (wanted.noun == "idle" ? last.text : printable(wanted.text()) + " " + last.text) + "\n";
    return context.show_item({{"object", object}, {"is", last.text}}, object,
                             context.settings().quiet ? std::string{} : text);
}

/// The RMs of the daemon that have reported all they have; in a restarted one those that were there come back one
/// by one.
Answer<std::set<std::string>> rms_with_everything(Context& context) {
    YK_TRY(status, context.call(si::StatusRequest{}));
    std::set<std::string> ids;
    for (const auto& rm : member_of(status, "rms")) {
        const auto state = static_cast<si::CoreState>(number_of(rm, "state"));
        if (state != si::CoreState::New && state != si::CoreState::Recovering) ids.insert(text_of(rm, "rmID"));
    }
    return ids;
}

/// The wait for one object. Owner: wait(). Thread: main.
class Waiting {
public:
    Waiting(Context& context, const Wanted& wanted, const TimeToWait& time)
        : context_(context), wanted_(wanted), limit_(time.limit), deadline_(time.end) {}

    Outcome run() {
        while (true) {
            YK_TRY(done, step());
            if (done) return *done;
            if (signals_.wait(std::chrono::milliseconds{0}) != 0) return Exit::Interrupted;
        }
    }

private:
    /// One look, and the wait for the next one. Nothing: the command goes on.
    Answer<std::optional<Exit>> step() {
        const auto found = look_now();
        if (!found.ok()) return dial(found.error());
        const Look& last = *found;
        if (last.satisfied) return shown(satisfied(context_, wanted_, last));
        if (last.hopeless) return not_as_wanted(wanted_, last, " and stays so", Exit::Refused);
        if (left().count() <= 0)
            return not_as_wanted(wanted_, last, " still, after " + duration_text(limit_), Exit::NotSatisfied);
        seen_ = true;
        if (const auto failure = bell_.wait(left().count())) return dial(*failure);
        return std::optional<Exit>{};
    }

    static Answer<std::optional<Exit>> shown(Outcome outcome) {
        if (!outcome.ok()) return std::move(outcome).error();
        return std::optional{*outcome};
    }

    Answer<std::optional<Exit>> dial(const Failure& failure) {
        YK_TRY(signal, reconnect_.after(failure, left()));
        return signal == 0 ? std::nullopt : std::optional{Exit::Interrupted};
    }

    /// A look at the object. In a daemon that was restarted what an RM had counts as unknown until that RM is back.
    Answer<Look> look_now() {
        if (rms_.empty() && wanted_.noun != "rm") {
            YK_TRY(rms, rms_with_everything(context_));
            rms_ = std::move(rms);
        }
        auto found = look(context_, wanted_, seen_);
        if (reconnect_.was_restarted()) {
            context_.note("ykd was restarted: waiting for the RMs that it had");
            is_incomplete_ = true;
            bell_.reset();
        }
        if (!is_incomplete_ || (!found.ok() && is_gone(found.error()))) return found;
        if (wanted_.noun == "rm") {
            if (found.ok() && !found->hopeless) return found;
            return Look{false, false, "is not registered since ykd was restarted"};
        }
        YK_TRY(back, rms_with_everything(context_));
        for (const auto& id : rms_)
            if (back.count(id) == 0)
                return Look{false, false, "is not known since ykd was restarted: RM " + printable(id) + " is not back"};
        is_incomplete_ = false;
        return look(context_, wanted_, seen_);
    }

    [[nodiscard]] std::chrono::milliseconds left() const {
        return std::chrono::duration_cast<std::chrono::milliseconds>(deadline_ - Clock::now());
    }

    Context& context_;
    const Wanted& wanted_;
    const std::chrono::milliseconds limit_;
    const Clock::time_point deadline_;
    const HeldSignals signals_;
    Reconnect reconnect_{context_, signals_};
    Bell bell_{context_};
    std::set<std::string> rms_;  // that the daemon knew at first
    bool seen_ = false;          // a look has succeeded
    bool is_incomplete_ = false; // the daemon was restarted, and not all of rms_ are back
};

Outcome wait_for(Context& context, const Wanted& wanted, const TimeToWait& time) {
    if (wanted.noun != "daemon") return Waiting{context, wanted, time}.run();
    YK_TRY(ended, await_daemon(context, time.limit));
    return ended == Exit::Ok ? satisfied(context, wanted, {true, false, "answers"}) : Outcome{ended};
}

/// One after the other: what held once need not hold at the end.
Outcome wait(Context& context, const WaitOptions& options) {
    std::vector<Wanted> all;
    for (const std::string& object : options.objects) {
        YK_TRY(wanted, read_wanted(object, options.condition, options.application));
        all.push_back(std::move(wanted));
    }
    const TimeToWait time = context.begin_wait(kDefaultWait);
    for (const Wanted& wanted : all) {
        YK_TRY(ended, wait_for(context, wanted, time));
        if (ended != Exit::Ok) return ended;
    }
    return Exit::Ok;
}

} // namespace

void define_wait(Command root, Context& context) {
    const auto command = root.sub("wait", "until something is so, or --timeout (default 30s) is over: exit 7");
    const auto options = std::make_shared<WaitOptions>();
    command
        .option("OBJECT", options->objects, "daemon, idle, app/ID, ask/KEY, alloc/KEY, node/NAME, queue/PATH or rm/ID")
        .required();
    command
        .option("--for", options->condition,
                "state=STATE[,STATE] of app, node, rm; pending=N, allocations=N, apps=N, also >= and <=; placed, "
                "present, empty, gone")
        .value("CONDITION");
    command.option("--app", options->application, "whose ask or alloc, when several have the key").value("APP");
    command.run([&context, options] { return wait(context, *options); });
}

} // namespace yk::cli
