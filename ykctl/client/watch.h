// SPDX-License-Identifier: Apache-2.0
#pragma once
// --watch: prints a list or an object again and again until it is interrupted.

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "protocol/wire/value.h"
#include "ykctl/cli/command.h"
#include "ykctl/client/context.h"
#include "ykctl/client/held_signals.h"
#include "ykctl/client/list_filter.h"

namespace yk::cli {

/// The options of a list: whether it is shown again and again, and which of its items.
struct WatchOptions {
    bool on = false;
    std::chrono::milliseconds interval{2000};
    std::optional<ListFilter> filter; // nullopt: all items are wanted
};

void define_watch(Command command, WatchOptions& options);
/// With the options by which items of that kind are chosen.
void define_watch(Command command, WatchOptions& options, FilterKind kind);

/// Takes the next items of a list, some at a time.
using TakeItems = std::function<void(std::vector<wire::Value>)>;

/// How a list command fetches and shows its items. The layout is made anew each time because it contains ages.
struct Listing {
    std::function<Answer<std::vector<wire::Value>>()> fetch;
    std::function<Answer<ListLayout>()> layout;
    /// Used instead of `fetch` for lists that may be long: hands on the items as they arrive.
    std::function<std::optional<Failure>(const TakeItems&)> pages = {};
};

/// One object as a command shows it: for machines, by its name, and for people.
struct Shown {
    wire::Value item;
    std::string name, text;
};
using Show = std::function<Answer<Shown>()>;

/// For commands that go on looking: the session is one of an observer, and those never take the places that are kept
/// for administrators (I-322). After the first request it changes nothing.
void only_look(Context& context);

/// Prints the list once, or with --watch until SIGINT or SIGTERM (exit 130): on a terminal the screen is redrawn,
/// elsewhere what was added, changed or removed since the last look is appended as JSON-lines. While the daemon is gone
/// the last screen stays, marked as old.
[[nodiscard]] Outcome list_or_watch(Context& context, WatchOptions& options, const Listing& listing);
/// The same for one object.
[[nodiscard]] Outcome show_or_watch(Context& context, const WatchOptions& options, const Show& show);
/// Makes a command one that shows an object, once or with --watch.
void define_show_and_watch(Command command, Context& context, Show show);

} // namespace yk::cli
