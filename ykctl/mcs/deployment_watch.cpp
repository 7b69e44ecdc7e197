// SPDX-License-Identifier: Apache-2.0
#include "ykctl/mcs/deployment_watch.h"
#include "ykctl/mcs/chosen_partition.h"

#include <algorithm>
#include <csignal>
#include <utility>

#include <fmt/format.h>

#include "ykctl/client/dumps.h"
#include "ykctl/client/reconnect.h"
#include "ykctl/output/item_text.h"
#include "ykctl/render/text.h"

namespace yk::cli {
namespace {

using wire::Value;

constexpr const char* kKind = "deployment";
constexpr std::uint64_t kPollWaitMs = 500; // how soon a signal is noticed

/// `2/3 Degraded: no node fits`: how far it is, and what is wrong. Empty for one that is deleted.
std::string progress_text(const Value& item) {
    const Value& scale = member_of(item, "scale");
    const Value& schedule = member_of(item, "schedule");
    if (!scale.is_object()) return item.contains("queue") ? "-" : "";
    const std::string message = text_of(schedule, "message");
    return fmt::format("{}/{} {}{}", number_of(schedule, "placed"), number_of(scale, "desired"),
                       or_dash(text_of(schedule, "state")), message.empty() ? "" : ": " + printable(message));
}

std::string upper(std::string text) {
    std::transform(text.begin(), text.end(), text.begin(),
                   [](char each) { return each >= 'a' && each <= 'z' ? static_cast<char>(each - 'a' + 'A') : each; });
    return text;
}

/// Prints until a signal comes, also across restarts of the daemon. Owner: the command. Thread: main.
class Watcher {
public:
    /// `name`: of the only one that is watched, or its id; empty: all are.
    Watcher(Context& context, std::string name) : context_(context), name_(std::move(name)) {}

    /// `lists`: what is there is printed first.
    Outcome run(bool lists) {
        lists_ = lists;
        while (true) {
            if (const int signal = signals_.wait(std::chrono::milliseconds{0}); signal != 0) return exit_of(signal);
            const auto failure = step();
            if (!context_.out()) return Exit::Ok; // the reader has closed the pipe
            if (!failure) continue;
            YK_TRY(signal, reconnect_.after(*failure, context_.settings().timeout));
            if (signal != 0) return exit_of(signal);
        }
    }

private:
    static Exit exit_of(int signal) { return signal == SIGINT ? Exit::Interrupted : Exit::Ok; }

    /// The cursor is from before the list, so that nothing is missed between the two.
    std::optional<Failure> step() {
        if (!cursor_.empty() && lists_) return print_list();
        si::McsWatchRequest request{.cursor = cursor_, .id = name_};
        request.wait_ms = kPollWaitMs;
        const auto reply = context_.call(request);
        if (!reply.ok()) return reply.error();
        cursor_ = text_of(*reply, "cursor");
        if (flag_of(*reply, "resync")) {
            print({{"change", "resync"}});
            lists_ = true;
        }
        for (const Value& each : member_of(*reply, "items")) print(each);
        context_.out().flush();
        return std::nullopt;
    }

    std::optional<Failure> print_list() {
        auto failure =
            read_items(context_, si::McsReadRequest{.what = "list", .kind = kKind}, [this](const auto& items) {
                for (const Value& each : items)
                    if (name_.empty() || text_of(each, "name") == name_ || text_of(each, "id") == name_)
                        print({{"change", "added"}, {"item", each}});
            });
        if (failure) return failure;
        context_.out().flush();
        lists_ = false;
        return std::nullopt;
    }

    void print(const Value& change) {
        const Value& item = member_of(change, "item");
        if (item.is_object() && !is_in_partition(context_, item)) return;
        const Format format = context_.format();
        if (format == Format::Json || format == Format::JsonLines || format == Format::Yaml) {
            context_.out() << json_line(change);
            return;
        }
        const std::string name = printable(text_of(item, "name"));
        if (format == Format::Name) {
            if (item.is_object()) context_.out() << name << "\n";
            return;
        }
        std::string line = fmt::format("{:<8}  {}", upper(text_of(change, "change")), name);
        if (!item.is_object()) line = "RESYNC    what happened before is not known; all that is there follows";
        if (const std::string progress = progress_text(item); !progress.empty()) line += "  " + progress;
        if (format == Format::Wide && item.is_object()) line += "  " + printable(text_of(item, "id"));
        context_.out() << line << "\n";
    }

    Context& context_;
    const std::string name_;
    const HeldSignals signals_;
    Reconnect reconnect_{context_, signals_};
    std::string cursor_; // up to where changes were printed; empty: not begun
    bool lists_ = false; // what is there is to be printed
};

} // namespace

void define_deployment_watch(Command command, Context& context) {
    const auto name = std::make_shared<std::string>();
    const auto from = std::make_shared<std::string>("list");
    command.option("NAME", *name, "only the deployment with this name or id");
    command.option("--from", *from, "list: what is there first, or now: only what changes").choices({"list", "now"});
    command.run([&context, name, from] { return Watcher{context, *name}.run(*from == "list"); });
}

} // namespace yk::cli
