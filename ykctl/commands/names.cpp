// SPDX-License-Identifier: Apache-2.0
// The hidden command names, by which completion scripts offer what there is: a line for each name, within 300 ms,
// without a word when there is no daemon.

#include <sys/time.h>

#include <algorithm>
#include <functional>
#include <map>
#include <ostream>

#include "ykctl/cli/named_contexts.h"
#include "ykctl/client/dumps.h"
#include "ykctl/commands/nouns.h"
#include "ykctl/render/text.h"

namespace yk::cli {
namespace {

using wire::Value;

/// How one kind is listed, and what an item of it is called.
struct Source {
    std::function<std::optional<Failure>(Context& context, const TakeItems& take)> list;
    const char* name; // the member with the name
};

Source objects(const char* dump, const char* name, const si::DumpRequest& filter = {}) {
    return {
        [dump, filter](Context& context, const TakeItems& take) { return list_objects(context, dump, filter, take); },
        name};
}

Source rows(const char* kind, const char* name) {
    return {[kind](Context& context, const TakeItems& take) {
                return read_items(context, {.what = "list", .kind = kind}, take);
            },
            name};
}

/// Of a list that comes as a whole.
Source whole(Answer<std::vector<Value>> (*fetch)(Context& context), const char* name) {
    return {[fetch](Context& context, const TakeItems& take) -> std::optional<Failure> {
                YK_TRY(items, fetch(context));
                take(std::move(items));
                return std::nullopt;
            },
            name};
}

std::optional<Failure> names_of_contexts(Context& context, const TakeItems& take) {
    YK_TRY(contexts, read_contexts(context.settings().contexts_file));
    for (const auto& [name, values] : contexts.by_name) take({Value{{"name", name}}});
    return std::nullopt;
}

const std::map<std::string, Source>& sources() {
    static const std::map<std::string, Source> kAll{
        {"node", {list_nodes, "nodeID"}},
        {"app", objects("apps", "applicationID", {.brief = true})},
        {"queue", {list_queues, "queuename"}},
        {"ask", objects("asks", "allocationKey")},
        {"alloc", objects("allocations", "allocationKey")},
        {"user", objects("users", "userName")},
        {"group", objects("groups", "groupName")},
        {"rm", whole(all_rms, "rmID")},
        {"partition", whole(all_partitions, "name")},
        {"deployment", rows("deployment", "name")},
        {"mcs node", rows("node", "id")},
        {"context", {names_of_contexts, "name"}},
        {"checksum", objects("confighistory", "checksum", {.brief = true})}};
    return kAll;
}

/// A name that the terminal would obey, or that has a blank at its end, is left out: it cannot be typed.
void print(Context& context, const std::string& kind, const std::string& prefix) {
    const Source& source = sources().at(kind);
    static_cast<void>(source.list(context, [&](const std::vector<Value>& items) {
        for (const Value& item : items)
            if (const std::string name = text_of(item, source.name); !name.empty() && name == printable(name))
                context.out() << prefix << name << "\n";
        context.out().flush();
    }));
}

/// While it lives the time is limited: what has been printed by the end is all that the shell offers, since the signal
/// ends the process.
class EndInTime {
public:
    EndInTime() { set(300'000); }
    ~EndInTime() { set(0); }
    EndInTime(const EndInTime&) = delete;
    EndInTime& operator=(const EndInTime&) = delete;

private:
    static void set(suseconds_t microseconds) { // 0: there is no limit any more
        const itimerval time{{0, 0}, {0, microseconds}};
        ::setitimer(ITIMER_REAL, &time, nullptr);
    }
};

Outcome print_names(Context& context, const std::string& kind) {
    const EndInTime limit;
    if (kind != "object") {
        print(context, kind, {});
        return Exit::Ok;
    }
    context.out() << "daemon\nidle\n";
    for (const char* each : {"queue", "node", "app", "rm", "ask", "alloc"})
        print(context, each, each + std::string{"/"});
    return Exit::Ok;
}

} // namespace

void define_names(Command root, Context& context) {
    std::vector<std::string> kinds{"object"};
    for (const auto& [kind, source] : sources()) kinds.push_back(kind);
    const auto command = root.sub("names", "for completion scripts: the names of what there is");
    command.hidden();
    const auto kind = std::make_shared<std::string>();
    command.option("KIND", *kind, "of what").required().choices(kinds);
    command.run([&context, kind] { return print_names(context, *kind); });
}

} // namespace yk::cli
