// SPDX-License-Identifier: Apache-2.0
// The command top.

#include <ostream>

#include <fmt/format.h>

#include "ykctl/client/held_signals.h"
#include "ykctl/client/reconnect.h"
#include "ykctl/client/watch.h"
#include "ykctl/commands/nouns.h"
#include "ykctl/top/terminal.h"

namespace yk::cli {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

struct TopOptions {
    milliseconds interval{2000};
    bool once = false;
};

constexpr milliseconds kKeyPatience{200}; // between two looks at signals

/// Looks, and notes in the view what came of it. A failure that looking again does not mend is returned.
std::optional<Failure> look(Context& context, ClusterLooks& looks, TopView& view) {
    auto found = looks.look(context, view.place());
    if (found.ok()) {
        view.set_trouble({});
        view.set_look(*std::move(found));
        return std::nullopt;
    }
    const Failure& failure = found.error();
    if (failure.exit == Exit::Denied || failure.exit == Exit::Usage) return failure;
    view.set_trouble(is_gone(failure) ? "old: " + failure.message + "; dialling again" : "old: " + failure.message);
    return std::nullopt;
}

/// One screen, for who cannot or does not want to sit before a screen.
Outcome draw_once(Context& context) {
    constexpr TerminalSize kUsual{80, 24};
    const TerminalSize given = terminal_size(context.streams());
    const TerminalSize size{given.columns == 0 ? kUsual.columns : given.columns,
                            given.rows == 0 ? kUsual.rows : given.rows};
    TopView view{context.settings().is_ascii};
    ClusterLooks looks;
    YK_TRY(found, looks.look(context, view.place()));
    view.set_look(std::move(found));
    for (const TopLine& line : view.screen(size)) context.out() << line.text << "\n";
    return Exit::Ok;
}

Outcome run_top(Context& context, const TopOptions& options) {
    if (options.once) return draw_once(context);
    if (!context.streams().out_is_terminal)
        return usage_error("top: standard output is no terminal",
                           {"one screen:  ykctl top --once      for a script:  ykctl status -o json"});
    only_look(context);
    TopView view{context.settings().is_ascii};
    ClusterLooks looks;
    YK_TRY(first, looks.look(context, view.place())); // before the screen is cleared
    view.set_look(std::move(first));
    const HeldSignals signals;
    context.fail_when_gone();
    YK_TRY(terminal, Terminal::open(context.style().colour));
    auto next = Clock::now() + options.interval;
    while (true) {
        terminal->draw(view.screen(terminal->size()));
        if (signals.wait(milliseconds{0}) != 0) return Exit::Interrupted;
        auto wish = TopView::Wish::Draw;
        if (const auto key = terminal->key(kKeyPatience)) wish = view.take(*key);
        if (wish == TopView::Wish::Quit) return Exit::Ok;
        if (wish != TopView::Wish::Look && Clock::now() < next) continue;
        if (wish == TopView::Wish::Look) terminal->draw(view.screen(terminal->size()));
        if (auto failure = look(context, looks, view)) return *std::move(failure);
        next = Clock::now() + options.interval;
    }
}

} // namespace

void define_top(Command root, Context& context) {
    const auto top = root.sub("top", "queues, nodes, applications and what waits, on one screen; ? for its keys");
    const auto options = std::make_shared<TopOptions>();
    top.option("--interval", options->interval, "time between two looks, default 2s");
    top.flag("--once", options->once, "print one screen, and end");
    top.run([&context, options] { return run_top(context, *options); });
}

} // namespace yk::cli
