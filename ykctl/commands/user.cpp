// SPDX-License-Identifier: Apache-2.0
// The commands user list, show and group list, show: what users and groups use, and their limits.

#include <set>

#include "ykctl/client/dumps.h"
#include "ykctl/client/states.h"
#include "ykctl/client/watch.h"
#include "ykctl/commands/nouns.h"
#include "ykctl/render/text.h"
#include "ykctl/render/view.h"

namespace yk::cli {
namespace {

using wire::Value;

/// The differences between users and groups.
struct Kind {
    const char* noun;   // the command, and the dump of one of them
    const char* plural; // the dump of all of them
    const char* name;   // the field with the name
    const char* names;  // the names that may be given
};
constexpr Kind kUser{"user", "users", "userName", "its name"};
constexpr Kind kGroup{"group", "groups", "groupName", "its name; * is everybody in none of the groups named"};

std::string maximum_of(const Value& usage) {
    const auto& max = member_of(usage, "maxResources");
    return max.empty() ? "unlimited" : resource_text(max);
}

/// Running applications and the most that may run: `2/5`.
std::string applications_of(const Value& usage) {
    const auto max = number_of(usage, "maxApplications");
    return std::to_string(member_of(usage, "runningApplications").size()) + "/" +
           (max == 0 ? std::string{"-"} : std::to_string(max));
}

/// The groups to which the applications of a user are charged; empty for a group.
std::string groups_of(const Value& item) {
    std::set<std::string> groups;
    for (const auto& [application, group] : member_of(item, "groups").items())
        if (group.is_string() && !group.get<std::string>().empty()) groups.insert(group.get<std::string>());
    return printable(join({groups.begin(), groups.end()}, ", "));
}

/// Adds the queues below the root that have a limit for the user or group.
void add_limited(const Value& usage, std::vector<std::string>& paths) {
    for (const auto& child : member_of(usage, "children")) {
        if (!member_of(child, "maxResources").empty() || number_of(child, "maxApplications") != 0)
            paths.push_back(printable(text_of(child, "queuePath")));
        add_limited(child, paths);
    }
}

std::string limited_in(const Value& item) {
    std::vector<std::string> paths;
    add_limited(member_of(item, "queues"), paths);
    return or_dash(join(paths, ", "));
}

const Value& used_of(const Value& item) {
    return member_of(member_of(item, "queues"), "resourceUsage");
}

ListLayout usage_layout(const Kind& kind) {
    ListLayout layout{{text_column("NAME", kind.name),
                       ordered({{"USED"}, [](const Value& item) { return resource_text(used_of(item)); }},
                               [](const Value& item) { return resource_key(used_of(item)); }),
                       {{"MAX"}, [](const Value& item) { return maximum_of(member_of(item, "queues")); }},
                       {{"APPS run/max"}, [](const Value& item) { return applications_of(member_of(item, "queues")); }},
                       {{"LIMITED IN"}, limited_in},
                       partition_column(),
                       rm_column()},
                      [name = kind.name](const Value& item) { return text_of(item, name); },
                      std::string{"no "} + kind.plural + " with usage or limits"};
    if (&kind == &kUser) layout.columns.push_back({{"GROUPS"}, groups_of});
    return layout;
}

void add_queue_rows(const Value& usage, Table& table) {
    table.add({printable(text_of(usage, "queuePath")), resource_text(member_of(usage, "resourceUsage")),
               maximum_of(usage), applications_of(usage)});
    for (const auto& child : member_of(usage, "children")) add_queue_rows(child, table);
}

std::string usage_text_of(const Value& item, const Kind& kind, const Style& style) {
    std::vector<std::pair<std::string, std::string>> fields{{kind.noun, printable(text_of(item, kind.name))}};
    if (&kind == &kUser) {
        for (const auto& [application, group] : member_of(item, "groups").items())
            fields.emplace_back("application " + printable(application),
                                "counts for group " + (group.is_string() ? printable(group.get<std::string>()) : ""));
    } else {
        for (const auto& application : member_of(item, "applications"))
            fields.emplace_back("application",
                                application.is_string() ? printable(application.get<std::string>()) : "");
    }
    Table table{{{"QUEUE"}, {"USED"}, {"MAX"}, {"APPS run/max"}}};
    add_queue_rows(member_of(item, "queues"), table);
    return fields_text(fields, style) + "\n" + table.text(style);
}

Answer<Shown> look_at(Context& context, const Kind& kind, const std::string& name) {
    YK_TRY(found, find_usage(context, kind.noun, name));
    return Shown{found, name, usage_text_of(found, kind, context.style())};
}

void define_kind(Command root, Context& context, const Kind& kind, const std::string& help) {
    const auto noun = root.sub(kind.noun, help);
    const auto list =
        noun.sub("list", std::string{"all "} + kind.plural + " that use or are limited in something").alias("ls");
    const auto watch = std::make_shared<WatchOptions>();
    define_watch(list, *watch, FilterKind{kind.noun});
    list.run([&context, &kind, watch] {
        return list_or_watch(
            context, *watch,
            {{},
             [&kind] { return Answer<ListLayout>{usage_layout(kind)}; },
             [&context, &kind](const TakeItems& take) { return list_usages(context, kind.plural, take); }});
    });
    const auto show = noun.sub("show", std::string{"one "} + kind.noun + ", queue by queue");
    const auto name = std::make_shared<std::string>();
    show.option("NAME", *name, kind.names).required();
    define_show_and_watch(show, context, [&context, &kind, name] { return look_at(context, kind, *name); });
}

} // namespace

void define_user(Command root, Context& context) {
    define_kind(root, context, kUser, "users: what they use, against their limits");
    define_kind(root, context, kGroup, "groups: what they use, against their limits");
}

} // namespace yk::cli
