// SPDX-License-Identifier: Apache-2.0
// The command events: what happened, and with --follow what happens.

#include <algorithm>
#include <csignal>
#include <ostream>
#include <set>
#include <utility>

#include <fmt/format.h>

#include "libcore/base/pluralize.h"
#include "ykctl/cli/values.h"
#include "ykctl/client/dumps.h"
#include "ykctl/client/held_signals.h"
#include "ykctl/client/reconnect.h"
#include "ykctl/client/watch.h"
#include "ykctl/commands/nouns.h"
#include "ykctl/output/item_text.h"
#include "ykctl/render/text.h"

namespace yk::cli {
namespace {

using wire::Value;

constexpr std::uint64_t kPage = 1000;
constexpr std::uint64_t kPollWaitMs = 500; // how soon a signal is noticed

const std::vector<std::string> kTypes{"REQUEST", "APP", "NODE", "QUEUE", "USERGROUP", "RM"};

struct EventOptions {
    bool follow = false;
    std::optional<std::string> since, object, type;
};

/// Whether `wanted` is the full or the short name of the partition `full`.
bool is_partition(const std::string& full, const std::string& wanted) {
    return full == wanted || full.substr(full.find(']') + 1) == wanted;
}

/// Selects the records that are shown.
struct Filter {
    std::optional<std::string> type;
    std::optional<std::string> object;
    std::optional<std::string> partition, rm; // of -p and -r
    std::int64_t since_ns = 0;

    [[nodiscard]] bool wants(const Value& record) const {
        if (type && event_type_text(record) != *type) return false;
        if (object && text_of(record, "objectID") != *object) return false;
        if (rm && text_of(record, "rmID") != *rm) return false;
        if (partition && !is_partition(text_of(record, "partitionName"), *partition)) return false;
        return number_of(record, "timestampNano") >= since_ns;
    }
};

/// The filter for the options. `app/X` selects records of type APP about X.
Answer<Filter> filter_of(const EventOptions& options) {
    Filter filter{options.type, {}, {}, {}, 0};
    if (!options.object) return filter;
    const auto slash = options.object->find('/');
    const auto noun = options.object->substr(0, slash);
    static const std::vector<std::pair<std::string, std::string>> kNouns{
        {"app", "APP"},        {"node", "NODE"},       {"queue", "QUEUE"}, {"ask", "REQUEST"},
        {"user", "USERGROUP"}, {"group", "USERGROUP"}, {"rm", "RM"}};
    const auto known = std::find_if(kNouns.begin(), kNouns.end(), [&](const auto& pair) { return pair.first == noun; });
    if (slash == std::string::npos || known == kNouns.end()) {
        return usage_error("--object: '" + *options.object + "' is not KIND/NAME",
                           {"KIND: app, node, queue, ask, user, group, rm"});
    }
    if (filter.type && *filter.type != known->second) return usage_error("--type and --object contradict each other");
    filter.type = known->second;
    filter.object = options.object->substr(slash + 1);
    return filter;
}

/// Where --since starts: at the number of an event, or at a time.
struct Start {
    std::int64_t id = 0;
    std::int64_t since_ns = 0;
};

Answer<Start> start_of(Context& context, const std::optional<std::string>& since) {
    if (!since) return Start{};
    if (const auto id = parse_integer(*since); id.ok() && *id >= 0) return Start{*id, 0};
    const auto back = parse_milliseconds(*since);
    if (!back.ok())
        return usage_error("--since: '" + *since + "' is neither the number of an event nor a duration such as 5m");
    YK_TRY(now, daemon_now(context));
    return Start{0, now - std::chrono::nanoseconds{*back}.count()};
}

/// Prints records one by one. As in tables, lines name RM and partition when there are several, or with -o wide.
class Printer {
public:
    explicit Printer(Context& context) : context_(context) {}

    /// Notes an RM and partition that records have, or may have.
    void expect(const std::string& rm, const std::string& partition) {
        rms_.insert(rm);
        if (!partition.empty()) partitions_.insert(partition); // of an RM as a whole
    }
    void print(const std::vector<Value>& records) {
        for (const auto& record : records) expect(text_of(record, "rmID"), event_partition(record));
        const EventWidths widths{width(rms_), width(partitions_)};
        for (const auto& record : records) {
            if (context_.format() == Format::Table || context_.format() == Format::Wide)
                context_.out() << event_line(record, widths);
            else if (context_.format() == Format::Name)
                context_.out() << number_of(record, "eventID") << "\n";
            else
                context_.out() << json_line(record);
        }
        context_.out().flush();
    }

private:
    [[nodiscard]] std::size_t width(const std::set<std::string>& names) const {
        if (names.size() < 2 && context_.format() != Format::Wide) return 0;
        std::size_t widest = 1;
        for (const auto& name : names) widest = std::max(widest, printable(name).size());
        return widest;
    }

    Context& context_;
    std::set<std::string> rms_, partitions_;
};

void report_lost(Context& context, const Value& reply) {
    if (const auto lost = number_of(reply, "lost"); lost > 0)
        context.note(pluralize(lost, "event") + " no longer kept");
}

void add_wanted(const Value& records, const Filter& filter, std::vector<Value>& wanted) {
    std::copy_if(records.begin(), records.end(), std::back_inserter(wanted),
                 [&](const Value& record) { return filter.wants(record); });
}

/// Adds the records that are kept from number `from` on. Returns the number after the last one.
Answer<std::int64_t> read_kept(Context& context, std::int64_t from, const Filter& filter, std::vector<Value>& kept) {
    while (true) {
        si::EventsRequest query;
        query.start = static_cast<std::uint64_t>(from);
        query.count = kPage;
        YK_TRY(reply, context.call(query));
        report_lost(context, reply);
        add_wanted(member_of(reply, "EventRecords"), filter, kept);
        from = std::max(from, number_of(reply, "ContinueID")); // also behind those that this user may not see
        if (from >= number_of(reply, "NextID")) return from;
    }
}

/// --follow: prints what happens until a signal comes, also across restarts of the daemon. Owner: show_events().
/// Thread: main.
class Follower {
public:
    /// `since`: the number of the first event to print, of those that are kept; without it, those from now on.
    Follower(Context& context, const Filter& filter, Printer& printer, std::optional<std::int64_t> since)
        : context_(context), filter_(filter), printer_(printer), backlog_(since) {}

    Outcome run() {
        while (true) {
            if (const int signal = signals_.wait(std::chrono::milliseconds{0}); signal != 0) return exit_of(signal);
            const auto failure = step();
            if (!context_.out()) return Exit::Ok; // the reader has closed the pipe
            if (!failure) continue;
            YK_TRY(signal, reconnect_.after(*failure, context_.settings().timeout));
            if (signal != 0) return exit_of(signal);
            stream_.clear();
        }
    }

private:
    static Exit exit_of(int signal) { return signal == SIGINT ? Exit::Interrupted : Exit::Ok; }

    std::optional<Failure> step() { return backlog_ ? print_kept(*backlog_) : print_next(); }

    std::optional<Failure> print_kept(std::int64_t from) {
        std::vector<Value> kept;
        const auto next = read_kept(context_, from, filter_, kept);
        if (restarted()) return std::nullopt;
        if (!next.ok()) return next.error();
        printer_.print(kept);
        next_ = *next;
        backlog_.reset();
        return std::nullopt;
    }

    std::optional<Failure> print_next() {
        si::EventStreamRequest query;
        query.stream_id = stream_;
        query.wait_ms = 0;
        if (!stream_.empty()) {
            query.after = static_cast<std::uint64_t>(*next_);
            query.wait_ms = kPollWaitMs;
        }
        const auto reply = context_.call(query);
        if (restarted()) return std::nullopt;
        const bool opens = stream_.empty();
        if (!reply.ok() && reply.error().exit == Exit::NotFound && !opens) {
            stream_.clear(); // it was not read for too long, and is given up
            return std::nullopt;
        }
        if (!reply.ok()) return reply.error();
        stream_ = text_of(*reply, "streamID");
        std::vector<Value> wanted;
        add_wanted(member_of(*reply, "records"), filter_, wanted);
        printer_.print(wanted);
        report_lost(context_, *reply);
        // A new stream begins with the newest event; after a backlog it has to begin where that ended.
        if (!next_ || !opens) next_ = std::max(next_.value_or(0), number_of(*reply, "nextID"));
        return std::nullopt;
    }

    /// Whether the daemon was restarted. Its events are numbered from 0 again; the next step prints those that it
    /// keeps.
    bool restarted() {
        if (!reconnect_.was_restarted()) return false;
        context_.note(next_
                          ? fmt::format("ykd was restarted: what happened from event {} on and before it ended is not "
                                        "known; its events are numbered from 0 again",
                                        *next_)
                          : std::string{"ykd was restarted: its events are numbered from 0 again"});
        stream_.clear();
        backlog_ = 0;
        return true;
    }

    Context& context_;
    const Filter& filter_;
    Printer& printer_;
    const HeldSignals signals_;
    Reconnect reconnect_{context_, signals_};
    std::string stream_;
    std::optional<std::int64_t> backlog_; // from where on the events that are kept are still to be printed
    std::optional<std::int64_t> next_;    // the number of the next event
};

Outcome show_events(Context& context, const EventOptions& options) {
    if (options.follow) only_look(context);
    YK_TRY(filter, filter_of(options));
    YK_TRY(start, start_of(context, options.since));
    filter.since_ns = start.since_ns;
    filter.partition = context.settings().partition;
    filter.rm = context.settings().rm;
    Printer printer{context};
    std::vector<Value> kept;
    if (!options.follow) {
        YK_TRY(next, read_kept(context, start.id, filter, kept));
        static_cast<void>(next);
    }
    if (options.follow || (kept.empty() && (filter.rm || filter.partition))) { // else they may not exist any more
        YK_TRY(partitions, all_partitions(context)); // for -r and -p; an unknown one is an error
        for (const auto& one : partitions) printer.expect(text_of(one, "clusterId"), text_of(one, "name"));
    }
    if (options.follow)
        return Follower{context, filter, printer, options.since ? std::optional{start.id} : std::nullopt}.run();
    if (context.format() == Format::Json || context.format() == Format::Yaml)
        return context.show_list(std::move(kept), {});
    printer.print(kept);
    return Exit::Ok;
}

} // namespace

void define_events(Command root, Context& context) {
    const auto events = root.sub("events", "what happened to applications, asks, nodes and queues");
    const auto options = std::make_shared<EventOptions>();
    events.flag("--follow", options->follow, "go on with what happens from now, until interrupted");
    events.option("--since", options->since, "from this event number, or this long ago: 5m").value("CURSOR|DURATION");
    events
        .option("--object", options->object,
                "only about one: app/X, node/X, queue/PATH, ask/KEY, user/X, group/X, rm/X")
        .value("KIND/NAME");
    events.option("--type", options->type, "only of this type").choices(kTypes);
    events.run([&context, options] { return show_events(context, *options); });
}

} // namespace yk::cli
