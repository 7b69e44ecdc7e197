// SPDX-License-Identifier: Apache-2.0
// The command wait: waits until an application, ask, allocation, node or RM meets a condition, or the time is over.

#include <algorithm>
#include <chrono>
#include <ostream>
#include <set>

#include <fmt/format.h>

#include "libcore/base/pluralize.h"
#include "protocol/si/enums.h"
#include "protocol/si/errors.h"
#include "ykctl/cli/suggest.h"
#include "ykctl/client/dumps.h"
#include "ykctl/client/held_signals.h"
#include "ykctl/client/reconnect.h"
#include "ykctl/client/states.h"
#include "ykctl/commands/nouns.h"
#include "ykctl/render/text.h"

namespace yk::cli {
namespace {

using wire::Value;
using Clock = std::chrono::steady_clock;

constexpr std::chrono::milliseconds kDefaultWait{30000};
constexpr std::int64_t kLongestLook = 500; // milliseconds without an event: not every change has one
constexpr std::chrono::milliseconds kLookEvery{200};
constexpr std::chrono::milliseconds kLongestCall{5000}; // a daemon that takes no further stream is not asked longer

const std::vector<std::string> kNouns{"app", "ask", "alloc", "node", "rm"};

struct WaitOptions {
    std::string object, condition;
    std::optional<std::string> application;
};

/// The object and the condition to wait for.
struct Wanted {
    std::string noun, name;
    std::string condition;        // `state`, `placed`, `gone` or `empty`
    std::set<std::string> states; // of `state`
    std::optional<std::string> application;
};

/// One look at the object.
struct Look {
    bool satisfied = false;
    bool hopeless = false; // the condition can never be met any more
    std::string text;      // the state now: `Running`, `placed on n-1`
};

/// The conditions that make sense for a noun.
std::vector<std::string> conditions_of(const std::string& noun) {
    if (noun == "ask") return {"placed", "gone"};
    if (noun == "alloc") return {"placed", "gone"};
    if (noun == "node") return {"state=STATE", "empty", "gone"};
    return {"state=STATE", "gone"};
}

/// The states that may follow `state=`.
const std::vector<std::string>& states_of(const std::string& noun) {
    static const std::vector<std::string> kNode{"Active", "Draining"};
    static const std::vector<std::string> kRm{"Running", "Recovering", "Failed", "Suspended", "Lost"};
    return noun == "app" ? application_states() : noun == "node" ? kNode : kRm;
}

std::optional<Failure> take_condition(const std::string& text, Wanted& wanted) {
    constexpr std::string_view kState = "state=";
    const auto known = conditions_of(wanted.noun);
    if (text.compare(0, kState.size(), kState) != 0) {
        wanted.condition = text;
        if (std::find(known.begin(), known.end(), text) != known.end() && text != "state=STATE") return std::nullopt;
        return usage_error("--for: '" + text + "' is no condition of " + wanted.noun + did_you_mean(text, known),
                           {"there are:  " + join(known, ", ")});
    }
    if (known.front() != "state=STATE")
        return usage_error("--for: " + wanted.noun + " has no state", {"there are:  " + join(known, ", ")});
    wanted.condition = "state";
    const auto& states = states_of(wanted.noun);
    std::string left = text.substr(kState.size());
    for (std::size_t comma = 0; comma != std::string::npos;
         left = comma == std::string::npos ? "" : left.substr(comma + 1)) {
        comma = left.find(',');
        const std::string state = left.substr(0, comma);
        const std::string* known_state = find_in_any_case(state, states);
        if (known_state == nullptr)
            return usage_error("--for: '" + state + "' is no state of " + wanted.noun + did_you_mean(state, states),
                               {"there are:  " + join(states, ", ")});
        wanted.states.insert(*known_state);
    }
    return std::nullopt;
}

Answer<Wanted> wanted_of(const WaitOptions& options) {
    const auto slash = options.object.find('/');
    const auto noun = options.object.substr(0, slash);
    const bool known = std::find(kNouns.begin(), kNouns.end(), noun) != kNouns.end();
    if (!known || slash == std::string::npos || slash + 1 == options.object.size())
        return usage_error("wait: '" + options.object + "' is not KIND/NAME", {"KIND: " + join(kNouns, ", ")});
    Wanted wanted{noun, options.object.substr(slash + 1), {}, {}, options.application};
    if (wanted.application && noun != "ask" && noun != "alloc")
        return usage_error("wait: --app goes with ask/KEY and alloc/KEY");
    if (auto failure = take_condition(options.condition, wanted)) return *failure;
    return wanted;
}

// --- looking ------------------------------------------------------------------------------------

Answer<Value> find_rm(Context& context, const std::string& id) {
    YK_TRY(status, context.call(si::StatusRequest{}));
    for (const auto& rm : member_of(status, "rms"))
        if (text_of(rm, "rmID") == id) return rm;
    return not_found("RM '" + id + "' is not registered", {"which are there?  ykctl rm list"});
}

Answer<Value> find(Context& context, const Wanted& wanted) {
    if (wanted.noun == "app") return find_application(context, wanted.name, 0);
    if (wanted.noun == "node") return find_node(context, wanted.name, 0);
    if (wanted.noun == "rm") return find_rm(context, wanted.name);
    if (wanted.noun == "ask") return find_key(context, {"asks", "allocations"}, wanted.name, wanted.application);
    return find_key(context, {"allocations"}, wanted.name, wanted.application);
}

std::string state_of(const Wanted& wanted, const Value& object) {
    if (wanted.noun == "app") return text_of(object, "applicationState");
    if (wanted.noun == "rm") return core_state_text(number_of(object, "state"));
    return flag_of(object, "schedulable") ? "Active" : "Draining";
}

/// Whether an object that is still listed counts as gone: an ended application is listed for days, and an ask that
/// became an allocation is found under the same key.
bool has_left(const Wanted& wanted, const Value& object) {
    if (wanted.noun == "app") return has_ended(state_of(wanted, object));
    return wanted.noun == "ask" && object.contains("nodeId"); // only an allocation has a node
}

Look look_at(const Wanted& wanted, const Value& object) {
    if (wanted.condition == "state") {
        const std::string state = state_of(wanted, object);
        const bool is = wanted.states.count(state) != 0;
        return {is, !is && wanted.noun == "app" && has_ended(state), "is " + printable(state)};
    }
    if (wanted.condition == "empty") {
        const auto left = number_of(object, "allocationCount");
        return {left == 0, false, left == 0 ? "is empty" : "has " + pluralize(left, "allocation")};
    }
    if (wanted.condition == "gone")
        return {has_left(wanted, object), false, has_left(wanted, object) ? "is gone" : "is there"};
    const std::string node = text_of(object, "nodeId");
    return {!node.empty(), false, node.empty() ? "is pending" : "is on " + printable(node)};
}

Answer<Look> look(Context& context, const Wanted& wanted, bool seen_before) {
    const auto object = find(context, wanted);
    if (object.ok()) return look_at(wanted, *object);
    if (object.error().exit != Exit::NotFound) return object.error();
    if (wanted.condition == "gone") return Look{true, false, "is gone"};
    if (wanted.noun == "alloc") return Look{false, false, "is not there"}; // it may be placed yet
    if (seen_before) return Look{false, true, "is gone"};
    return object.error();
}

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

Failure unsatisfied(const Wanted& wanted, const Look& last, const std::string& how, Exit exit) {
    std::vector<std::string> hints;
    if (wanted.noun == "ask") hints.push_back("why?  ykctl explain ask " + wanted.name);
    if (wanted.noun == "app" && exit == Exit::NotSatisfied) hints.push_back("why?  ykctl explain app " + wanted.name);
    return {exit, wanted.noun + " " + wanted.name + " " + last.text + how, hints, 0, {}, {}};
}

Outcome satisfied(Context& context, const Wanted& wanted, const Look& last) {
    const std::string object = wanted.noun + "/" + wanted.name;
    const std::string text = printable(wanted.noun + " " + wanted.name) + " " + last.text + "\n";
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

/// The command. Owner: wait(). Thread: main.
class Waiting {
public:
    Waiting(Context& context, const Wanted& wanted, std::chrono::milliseconds limit)
        : context_(context), wanted_(wanted), limit_(limit), deadline_(Clock::now() + limit) {}

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
        if (last.hopeless) return unsatisfied(wanted_, last, " and stays so", Exit::Refused);
        if (left().count() <= 0)
            return unsatisfied(wanted_, last, " still, after " + duration_text(limit_), Exit::NotSatisfied);
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

Outcome wait(Context& context, const WaitOptions& options) {
    YK_TRY(wanted, wanted_of(options));
    const auto limit = context.begin_wait(kDefaultWait).limit;
    return Waiting{context, wanted, limit}.run();
}

} // namespace

void define_wait(Command root, Context& context) {
    const auto command = root.sub("wait", "until something is so, or --timeout (default 30s) is over: exit 7");
    const auto options = std::make_shared<WaitOptions>();
    command.option("OBJECT", options->object, "app/ID, ask/KEY, alloc/KEY, node/NAME or rm/ID").required();
    command.option("--for", options->condition, "state=STATE[,STATE] of app, node, rm; placed, gone, empty")
        .value("CONDITION")
        .required();
    command.option("--app", options->application, "whose ask or alloc, when several have the key").value("APP");
    command.run([&context, options] { return wait(context, *options); });
}

} // namespace yk::cli
