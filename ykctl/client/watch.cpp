// SPDX-License-Identifier: Apache-2.0
#include "ykctl/client/watch.h"

#include <chrono>
#include <iterator>
#include <map>
#include <memory>
#include <ostream>
#include <utility>

#include "ykctl/client/reconnect.h"
#include "ykctl/render/page_writer.h"
#include "ykctl/render/text.h"
#include "ykctl/render/view.h"

namespace yk::cli {
namespace {

using wire::Value;

constexpr const char* kClearScreen = "\x1b[H\x1b[2J";

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

using Filter = std::optional<ListFilter>;

void keep_wanted(std::vector<Value>& items, Filter& filter, const ListLayout& layout) {
    if (filter) std::erase_if(items, [&](const Value& item) { return !filter->is_wanted(item, layout); });
}

Answer<std::vector<Value>> all_items(const Listing& listing, Filter& filter, const ListLayout& layout) {
    if (!listing.pages) {
        YK_TRY(items, listing.fetch());
        keep_wanted(items, filter, layout);
        return items;
    }
    std::vector<Value> all;
    const auto keep = [&](std::vector<Value> items) {
        keep_wanted(items, filter, layout);
        all.insert(all.end(), std::make_move_iterator(items.begin()), std::make_move_iterator(items.end()));
    };
    if (auto failure = listing.pages(keep)) return *std::move(failure);
    return all;
}

/// Prints the items as they arrive, or sorted once all have arrived.
Outcome stream(Context& context, const Listing& listing, Filter& filter) {
    constexpr std::size_t kSortedPage = 10'000;
    YK_TRY(layout, listing.layout());
    const ListLayout whole = layout; // with all its columns
    auto sorted = order_of(context.settings().view, layout);
    if (!sorted.ok()) return usage_error(sorted.error().message);
    if (const auto done = pick_columns(context.settings().view, layout); !done.ok())
        return usage_error(done.error().message);
    PageWriter writer{context.out(), std::move(layout), context.format(), context.style()};
    const auto write = [&](std::vector<Value> items) { writer.add(std::move(items)); };
    const auto take = [&](std::vector<Value> items) {
        keep_wanted(items, filter, whole);
        if (items.empty()) return;
        *sorted ? (*sorted)->add(items) : write(std::move(items));
    };
    if (auto failure = listing.pages(take)) return *std::move(failure);
    if (*sorted) (*sorted)->take(kSortedPage, write);
    writer.finish();
    return Exit::Ok;
}

Outcome list_once(Context& context, const Listing& listing, Filter& filter) {
    if (listing.pages) return stream(context, listing, filter);
    YK_TRY(layout, listing.layout());
    YK_TRY(items, all_items(listing, filter, layout));
    return context.show_list(items, layout);
}

/// One look: as a terminal shows it, or as items that are compared with those of the last look.
struct Screenful {
    std::string drawn;                  // uncut
    std::map<std::string, Value> items; // by identity()
    ListLayout layout;                  // for what is said of them in words
};
/// Makes a screenful, `for_terminal` or of items.
using Look = std::function<Answer<Screenful>(bool for_terminal)>;

/// --watch. Owner: list_or_watch(), show_or_watch(). Thread: main.
class Watch {
public:
    Watch(Context& context, std::chrono::milliseconds interval, Look look)
        : context_(context), interval_(interval), look_(std::move(look)) {}

    Outcome run() {
        only_look(context_);
        while (true) {
            const auto failure = look();
            const bool restarted = reconnect_.was_restarted();
            if (restarted) {
                context_.note("ykd was restarted: what its RMs have not told it again is missing here");
                is_incomplete_ = true;
            }
            if (!failure) is_incomplete_ = false;
            if (failure && !(is_incomplete_ && may_be_back(*failure))) {
                if (is_gone(*failure) && !drawn_.empty()) mark_as_old();
                YK_TRY(signal, reconnect_.after(*failure, context_.settings().timeout));
                if (signal != 0) return Exit::Interrupted;
                continue;
            }
            if (failure && restarted) context_.note(failure->message + "; looking again");
            if (!context_.out()) return Exit::Ok; // the reader has closed the pipe
            if (signals_.wait(interval_) != 0) return Exit::Interrupted;
        }
    }

private:
    /// Whether a refusal may be because the RM that was shown is not yet back in a restarted daemon, or because the
    /// daemon was restarted between two pages of the list.
    static bool may_be_back(const Failure& failure) {
        return failure.exit == Exit::NotFound || failure.exit == Exit::Refused;
    }

    std::optional<Failure> look() {
        auto screenful = look_(on_terminal());
        if (!screenful.ok()) return std::move(screenful).error();
        if (on_terminal()) {
            drawn_ = std::move(screenful->drawn);
            seen_ = time_text(std::chrono::nanoseconds{std::chrono::system_clock::now().time_since_epoch()}.count());
            draw(drawn_);
        } else {
            const bool in_words = screenful->layout.news && !context_.machine_readable();
            context_.out() << (in_words ? news_text(before_, screenful->items, screenful->layout)
                                        : changes_text(before_, screenful->items));
            before_ = std::move(screenful->items);
        }
        context_.out().flush();
        return std::nullopt;
    }

    void draw(const std::string& text) {
        context_.out() << kClearScreen << screen_text(text, terminal_size(context_.streams()), context_.style());
    }
    void mark_as_old() {
        draw(context_.style().yellow("old, seen at " + seen_) + "\n" + drawn_);
        context_.out().flush();
    }

    [[nodiscard]] bool on_terminal() const {
        return context_.streams().out_is_terminal && !context_.machine_readable();
    }

    Context& context_;
    const std::chrono::milliseconds interval_;
    const Look look_;
    const HeldSignals signals_;
    Reconnect reconnect_{context_, signals_};
    std::map<std::string, Value> before_; // the last look, as JSON-lines show it
    std::string drawn_, seen_;            // the last look on a terminal, and when that was
    bool is_incomplete_ = false;          // since the daemon was restarted no look has succeeded
};

Answer<Screenful> screenful_of(Context& context, const Listing& listing, Filter& filter, bool for_terminal) {
    Screenful screenful;
    YK_TRY(layout, listing.layout());
    screenful.layout = std::move(layout);
    YK_TRY(items, all_items(listing, filter, screenful.layout));
    if (for_terminal) {
        YK_TRY(text, list_view(context, std::move(items), screenful.layout));
        screenful.drawn = std::move(text);
        return screenful;
    }
    for (auto& item : items) {
        auto key = identity(item, screenful.layout);
        screenful.items.emplace(std::move(key), std::move(item));
    }
    return screenful;
}

} // namespace

void only_look(Context& context) {
    Settings settings = context.settings();
    settings.client.role = "observer";
    context.set_settings(std::move(settings));
}

void define_watch(Command command, WatchOptions& options) {
    command.flag("-w,--watch", options.on, "again and again: redraw on a terminal, else changes as JSON-lines");
    command.option("--interval", options.interval, "time between two looks, default 2s");
}

void define_watch(Command command, WatchOptions& options, FilterKind kind) {
    options.filter.emplace(std::move(kind)).define(command);
    define_watch(command, options);
}

Outcome list_or_watch(Context& context, WatchOptions& options, const Listing& listing) {
    if (options.filter)
        if (auto failure = options.filter->prepare()) return *std::move(failure);
    if (options.on)
        return Watch{context, options.interval,
                     [&](bool for_terminal) { return screenful_of(context, listing, options.filter, for_terminal); }}
            .run();
    YK_TRY(shown, list_once(context, listing, options.filter));
    if (options.filter)
        if (auto failure = options.filter->missing()) return *std::move(failure);
    return shown;
}

Outcome show_or_watch(Context& context, const WatchOptions& options, const Show& show) {
    if (options.on)
        return Watch{context, options.interval,
                     [&show](bool) -> Answer<Screenful> {
                         YK_TRY(shown, show());
                         return Screenful{std::move(shown.text), {{"", std::move(shown.item)}}, {}};
                     }}
            .run();
    YK_TRY(shown, show());
    return context.show_item(shown.item, shown.name, shown.text);
}

void define_show_and_watch(Command command, Context& context, Show show) {
    const auto watch = std::make_shared<WatchOptions>();
    define_watch(command, *watch);
    command.run([&context, watch, show = std::move(show)] { return show_or_watch(context, *watch, show); });
}

} // namespace yk::cli
