// SPDX-License-Identifier: Apache-2.0
// The commands recording play and verify: do to a core again what `ykd --record DIR` wrote.

#include <algorithm>
#include <filesystem>
#include <ostream>

#include <fmt/format.h>

#include "ykctl/client/states.h"
#include "ykctl/commands/nouns.h"
#include "ykctl/render/text.h"
#include "ykctl/render/view.h"
#include "ykd/core_gateway/playback.h"
#include "ykd/recording/recording.h"

namespace yk::cli {
namespace {

using wire::Value;

constexpr std::size_t kLinesShown = 10; // of each side, for a command with another outcome

Failure bad_recording(const Error& error) {
    return usage_error(error.text());
}

Answer<std::vector<std::string>> recordings_of(const std::string& path) {
    auto found = find_recordings(path);
    if (!found.ok()) return bad_recording(found.error());
    return std::move(found).value();
}

std::string name_of(const std::string& path) {
    return std::filesystem::path(path).filename().string();
}

void note_cut(Context& context, const std::string& path, bool cut) {
    if (cut) context.note(name_of(path) + ": it ends within a record or without an answer; up to there it was played");
}

// --- play ---------------------------------------------------------------------------------------

struct PlayOptions {
    std::string path;
    std::optional<std::int64_t> until;
    bool all = false;
};

void print_step(Context& context, const std::string& file, const PlayedStep& step) {
    if (context.format() == Format::JsonLines) {
        context.out() << json_line({{"recording", file},
                                    {"number", step.number},
                                    {"at", step.at.ns},
                                    {"done", step.done},
                                    {"said", step.said}});
        return;
    }
    context.out() << fmt::format("# {} {} {}\n", step.number, time_text(step.at.ns), step.done);
    for (const std::string& line : step.said) context.out() << printable(line) << "\n";
}

Outcome play(Context& context, const PlayOptions& options) {
    if (options.until && *options.until < 1)
        return usage_error("recording play: --until wants a command's number, from 1");
    if (context.machine_readable() && context.format() != Format::JsonLines)
        return usage_error("recording play: the output is lines, or with -o jsonl an object for each command");
    YK_TRY(files, recordings_of(options.path));
    for (const std::string& file : files) {
        const std::string name = name_of(file);
        if (!context.machine_readable()) context.out() << "# " << name << "\n";
        const auto played = play_recording(file, [&](const PlayedStep& step) {
            if (options.all || !step.idle) print_step(context, name, step);
            return context.out().good() && (!options.until || step.number < static_cast<std::uint64_t>(*options.until));
        });
        if (!played.ok()) return bad_recording(played.error());
        note_cut(context, file, played->cut);
    }
    return Exit::Ok;
}

// --- verify -------------------------------------------------------------------------------------

/// The result for one recording: the first command whose outcome differs from the recorded one, if there is one.
struct Verdict {
    std::string file;
    Played played;
    std::optional<PlayedStep> other;

    [[nodiscard]] bool same() const { return !other && played.broken.empty(); }
};

Answer<Verdict> verify_one(const std::string& file) {
    Verdict verdict;
    verdict.file = name_of(file);
    auto played = play_recording(file, [&](const PlayedStep& step) {
        if (step.same()) return true;
        verdict.other = step;
        return false;
    });
    if (!played.ok()) return bad_recording(played.error());
    verdict.played = std::move(played).value();
    return verdict;
}

std::string result_of(const Verdict& verdict) {
    if (verdict.other) return fmt::format("differs at command {}", verdict.other->number);
    return verdict.played.broken.empty() ? "same" : "accounting broken";
}

Value value_of(const Verdict& verdict) {
    const Played& played = verdict.played;
    Value item{{"recording", verdict.file},
               {"rmID", played.rm_id},
               {"ykd", played.ykd},
               {"begun", played.begun.ns},
               {"ended", played.ended.ns},
               {"commands", played.commands},
               {"cycles", played.cycles},
               {"allocations", played.allocations},
               {"lines", played.lines},
               {"cut", played.cut},
               {"result", result_of(verdict)},
               {"same", verdict.same()},
               {"broken", played.broken}};
    if (verdict.other)
        item["difference"] = {{"number", verdict.other->number},
                              {"at", verdict.other->at.ns},
                              {"done", verdict.other->done},
                              {"recorded", verdict.other->recorded_lines},
                              {"now", verdict.other->said}};
    return item;
}

Column number_column(const char* heading, const char* key) {
    return {{heading, Align::Right}, [key](const Value& item) { return std::to_string(number_of(item, key)); }};
}

ListLayout verdict_layout() {
    return {{text_column("RECORDING", "recording"), text_column("RM", "rmID"), text_column("YKD", "ykd"),
             number_column("COMMANDS", "commands"), number_column("CYCLES", "cycles"),
             number_column("ALLOCATIONS", "allocations"), number_column("LINES", "lines"),
             text_column("RESULT", "result")},
            [](const Value& item) { return text_of(item, "recording"); },
            "no recordings"};
}

/// Prints the lines of one side, from the first that differs.
void print_side(Context& context, const char* sign, const std::vector<std::string>& lines, std::size_t from) {
    for (std::size_t i = from; i < lines.size() && i < from + kLinesShown; ++i)
        context.out() << sign << " " << printable(lines[i]) << "\n";
    if (lines.size() > from + kLinesShown)
        context.out() << sign << " and " << lines.size() - from - kLinesShown << " more\n";
}

void print_difference(Context& context, const Verdict& verdict) {
    for (const std::string& broken : verdict.played.broken)
        context.out() << "\n" << verdict.file << ": " << printable(broken) << "\n";
    if (!verdict.other) return;
    const PlayedStep& step = *verdict.other;
    const auto first =
        std::mismatch(step.said.begin(), step.said.end(), step.recorded_lines.begin(), step.recorded_lines.end());
    const auto from = static_cast<std::size_t>(first.first - step.said.begin());
    context.out() << fmt::format("\n{}: command {}, {}, {}: - then, + now, from line {} on\n", verdict.file,
                                 step.number, time_text(step.at.ns), step.done, from + 1);
    print_side(context, "-", step.recorded_lines, from);
    print_side(context, "+", step.said, from);
}

Outcome verify(Context& context, const std::string& path) {
    YK_TRY(files, recordings_of(path));
    std::vector<Verdict> verdicts;
    std::vector<Value> items;
    for (const std::string& file : files) {
        YK_TRY(verdict, verify_one(file));
        note_cut(context, file, verdict.played.cut);
        items.push_back(value_of(verdict));
        verdicts.push_back(std::move(verdict));
    }
    YK_TRY(shown, context.show_list(std::move(items), verdict_layout()));
    static_cast<void>(shown);
    if (!context.machine_readable())
        for (const Verdict& verdict : verdicts) print_difference(context, verdict);
    const bool same = std::all_of(verdicts.begin(), verdicts.end(), [](const Verdict& one) { return one.same(); });
    return same ? Exit::Ok : Exit::Different;
}

} // namespace

void define_recording(Command root, Context& context) {
    const auto command = root.sub("recording", "play what ykd --record wrote, without a daemon");

    const auto again = command.sub("play", "do it to a core again and print what it says");
    const auto options = std::make_shared<PlayOptions>();
    again.option("DIR", options->path, "of ykd --record, or one file of it").value("FILE").required();
    again.option("--until", options->until, "the last command to play, by its number").value("N");
    again.flag("--all", options->all, "also cycles and timers that did nothing");
    again.run([&context, options] { return play(context, *options); });

    const auto check = command.sub("verify", "does this version decide the same? exit 8 if not");
    const auto path = std::make_shared<std::string>();
    check.option("DIR", *path, "of ykd --record, or one file of it").value("FILE").required();
    check.run([&context, path] { return verify(context, *path); });
}

} // namespace yk::cli
