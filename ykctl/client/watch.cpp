// SPDX-License-Identifier: Apache-2.0
#include "ykctl/client/watch.h"

#include <csignal>
#include <iterator>
#include <map>
#include <ostream>

#include "ykctl/render/page_writer.h"
#include "ykctl/render/view.h"

namespace yk::cli {
namespace {

using wire::Value;

constexpr const char* kClearScreen = "\x1b[H\x1b[2J";

sigset_t ending_signals() {
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    return set;
}

/// One line per difference between two looks.
std::string changes_text(const std::map<std::string, Value>& before, const std::map<std::string, Value>& now) {
    std::string text;
    const auto line = [&](const char* change, const Value& item) {
        text += json_line({{"schema", 1}, {"change", change}, {"item", item}});
    };
    for (const auto& [name, item] : now) {
        const auto old = before.find(name);
        if (old == before.end())
            line("added", item);
        else if (old->second != item)
            line("changed", item);
    }
    for (const auto& [name, item] : before) {
        if (now.find(name) == now.end()) line("removed", item);
    }
    return text;
}

/// The same in the words of the layout.
std::string news_text(const std::map<std::string, Value>& before, const std::map<std::string, Value>& now,
                      const ListLayout& layout) {
    std::string text;
    for (const auto& [name, item] : now) {
        const auto old = before.find(name);
        text += layout.news(old == before.end() ? nullptr : &old->second, item);
    }
    return text;
}

/// A key for an item: names are unique only within a partition of an RM.
std::string identity(const Value& item, const ListLayout& layout) {
    std::string partition;
    for (const char* key : {"clusterId", "partition", "partitionName", "applicationId", "applicationID"}) {
        partition += text_of(item, key) + '\x1f';
    }
    return partition + layout.name(item);
}

Answer<std::vector<Value>> all_items(const Listing& listing) {
    if (!listing.pages) return listing.fetch();
    std::vector<Value> all;
    const auto keep = [&all](std::vector<Value> items) {
        all.insert(all.end(), std::make_move_iterator(items.begin()), std::make_move_iterator(items.end()));
    };
    if (auto failure = listing.pages(keep)) return *std::move(failure);
    return all;
}

/// Prints the items as they arrive, or sorted once all have arrived.
Outcome stream(Context& context, const Listing& listing) {
    constexpr std::size_t kSortedPage = 10'000;
    YK_TRY(layout, listing.layout());
    auto sorted = order_of(context.settings().view, layout);
    if (!sorted.ok()) return usage_error(sorted.error().message);
    if (const auto done = pick_columns(context.settings().view, layout); !done.ok())
        return usage_error(done.error().message);
    PageWriter writer{context.out(), std::move(layout), context.format(), context.style()};
    const auto write = [&writer](std::vector<Value> items) { writer.add(std::move(items)); };
    const auto keep = [&sorted](const std::vector<Value>& items) { (*sorted)->add(items); };
    if (auto failure = *sorted ? listing.pages(keep) : listing.pages(write)) return *std::move(failure);
    if (*sorted) (*sorted)->take(kSortedPage, write);
    writer.finish();
    return Exit::Ok;
}

} // namespace

void define_watch(Command command, WatchOptions& options) {
    command.flag("--watch", options.on, "again and again: redraw on a terminal, else changes as JSON-lines");
    command.option("--interval", options.interval, "time between two looks, default 2s");
}

Outcome list_or_watch(Context& context, const WatchOptions& options, const Listing& listing) {
    if (!options.on) {
        if (listing.pages) return stream(context, listing);
        YK_TRY(items, all_items(listing));
        YK_TRY(layout, listing.layout());
        return context.show_list(items, layout);
    }
    const HeldSignals signals;
    std::map<std::string, Value> before;
    do {
        YK_TRY(items, all_items(listing));
        YK_TRY(layout, listing.layout());
        if (context.streams().out_is_terminal && !context.machine_readable()) {
            YK_TRY(text, context.list_view(std::move(items), std::move(layout)));
            context.out() << kClearScreen << text;
        } else {
            std::map<std::string, Value> now;
            for (auto& item : items) now.emplace(identity(item, layout), item);
            const bool in_words = layout.news && !context.machine_readable();
            context.out() << (in_words ? news_text(before, now, layout) : changes_text(before, now));
            before = std::move(now);
        }
        context.out().flush();
        if (!context.out()) return Exit::Ok; // the reader has closed the pipe
    } while (signals.wait(options.interval) == 0);
    return Exit::Interrupted;
}

HeldSignals::HeldSignals() {
    const auto set = ending_signals();
    pthread_sigmask(SIG_BLOCK, &set, nullptr);
}

HeldSignals::~HeldSignals() {
    const auto set = ending_signals();
    pthread_sigmask(SIG_UNBLOCK, &set, nullptr);
}

int HeldSignals::wait(std::chrono::milliseconds time) const {
    const auto set = ending_signals();
    const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(time);
    const timespec limit{seconds.count(), std::chrono::nanoseconds(time - seconds).count()};
    const int signal = sigtimedwait(&set, nullptr, &limit);
    return signal > 0 ? signal : 0;
}

} // namespace yk::cli
