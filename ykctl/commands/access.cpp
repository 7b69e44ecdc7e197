// SPDX-License-Identifier: Apache-2.0
// The commands whoami and can-i.

#include <fnmatch.h>

#include <fmt/format.h>

#include "protocol/si/kinds.h"
#include "ykctl/cli/command.h"
#include "ykctl/cli/guesses.h"
#include "ykctl/cli/suggest.h"
#include "ykctl/commands/nouns.h"
#include "ykctl/render/table.h"
#include "ykctl/render/text.h"

namespace yk::cli {
namespace {

using si::Kind;
using si::Role;
using wire::Value;

/// What a command sends that changes something.
struct Change {
    std::string_view command;
    Kind kind;
};
constexpr Change kChanges[] = {
    {"rm register", Kind::RegisterResourceManager},
    {"rm serve", Kind::RegisterResourceManager},
    {"rm deregister", Kind::UnregisterResourceManager},
    {"recovery done", Kind::RecoveryDone},
    {"recovery resolve", Kind::ResolveRecovery},
    {"node add", Kind::UpdateNode},
    {"node update", Kind::UpdateNode},
    {"node drain", Kind::UpdateNode},
    {"node undrain", Kind::UpdateNode},
    {"node remove", Kind::UpdateNode},
    {"app add", Kind::UpdateApplication},
    {"app remove", Kind::UpdateApplication},
    {"ask add", Kind::UpdateAllocation},
    {"ask remove", Kind::UpdateAllocation},
    {"alloc release", Kind::UpdateAllocation},
    {"apply", Kind::UpdateNode},
    {"delete", Kind::UpdateNode},
    {"config reload", Kind::UpdateConfiguration},
    {"config edit", Kind::UpdateConfiguration},
    {"config rollback", Kind::UpdateConfiguration},
    {"deployment create", Kind::McsWrite},
    {"deployment apply", Kind::McsWrite},
    {"deployment set", Kind::McsWrite},
    {"deployment scale", Kind::McsWrite},
    {"deployment autoscale", Kind::McsWrite},
    {"deployment metric", Kind::McsWrite},
    {"deployment pause", Kind::McsWrite},
    {"deployment resume", Kind::McsWrite},
    {"deployment delete", Kind::McsWrite},
    {"mcs node create", Kind::McsWrite},
    {"mcs node set", Kind::McsWrite},
    {"mcs node drain", Kind::McsWrite},
    {"mcs node undrain", Kind::McsWrite},
    {"mcs node delete", Kind::McsWrite},
    {"mcs resync", Kind::McsWrite},
    {"mcs reconcile", Kind::McsWrite},
    {"mcs retry", Kind::McsWrite},
    {"mcs bump-epoch", Kind::McsWrite},
    {"replay", Kind::RegisterResourceManager},
    {"scenario run", Kind::RegisterResourceManager},
    {"log level", Kind::SetExtraConfig},
    {"sched step", Kind::Step},
    {"clock advance", Kind::Clock},
};

/// What a command needs; the kind that it sends, if it changes something.
struct Need {
    Role role = Role::Observer;
    std::string_view kind;
};

Need need_of(const std::string& command) {
    for (const Change& each : kChanges)
        if (each.command == command) return {si::info(each.kind).role, si::info(each.kind).name};
    return {};
}

/// The command that words begin with: `node drain` for `node drain n-1`. A usage error says what is near.
Answer<std::string> command_of(const CommandInfo& tree, const std::vector<std::string>& words) {
    const CommandInfo* at = &tree;
    std::vector<std::string> path;
    for (const auto& word : words) {
        const auto next = std::find_if(at->commands.begin(), at->commands.end(), [&word](const CommandInfo& each) {
            return each.name == word || std::find(each.aliases.begin(), each.aliases.end(), word) != each.aliases.end();
        });
        if (next == at->commands.end()) break;
        path.push_back(next->name);
        at = &*next;
    }
    const bool is_whole = !path.empty() && (at->commands.empty() || !at->positionals.empty());
    if (is_whole) return join(path, " ");
    std::vector<std::string> known;
    for (const CommandInfo& each : at->commands)
        if (!each.hidden) known.push_back(each.name);
    if (path.size() == words.size())
        return usage_error(fmt::format("what of {}? There are: {}", join(path, " "), join(known, ", ")));
    const auto& word = words[path.size()];
    const std::string_view here = path.empty() ? done_here(word) : done_here(path.back(), word);
    if (!here.empty())
        return usage_error(fmt::format("there is no command '{}'", join(words, " ")), {std::string{here}});
    return usage_error(fmt::format("there is no command '{}'{}", join(words, " "), did_you_mean(word, known)),
                       {"for example  ykctl can-i node drain      the commands are in  ykctl --help"});
}

/// The role that the daemon gives at most; Observer: what it says is not known here.
Role granted_role(const Value& greeting) {
    return si::find_role(text_of(greeting, "granted")).value_or(Role::Observer);
}

/// The RMs for which changes may be made: all, none, or those of a pattern.
std::string reach_text(const Value& greeting) {
    const Role role = granted_role(greeting);
    const auto pattern = text_of(greeting, "rmPattern");
    if (role == Role::Observer) return "none";
    return role == Role::Admin || pattern == "*" ? "every RM" : "RMs that match " + printable(pattern);
}

Outcome who_am_i(Context& context) {
    YK_TRY(greeting, context.greeting());
    const auto who = text_of(greeting, "who");
    Value item{{"who", who},
               {"address", text_of(greeting, "address")},
               {"role", text_of(greeting, "granted")},
               {"rms", granted_role(greeting) == Role::Observer ? "" : text_of(greeting, "rmPattern")},
               {"socket", context.settings().address}};
    return context.show_item(item, who,
                             fields_text({{"you", printable(who)},
                                          {"from", printable(text_of(greeting, "address"))},
                                          {"role", printable(text_of(greeting, "granted"))},
                                          {"may act for", reach_text(greeting)},
                                          {"daemon", printable(context.settings().address)}},
                                         context.style()));
}

/// Why the caller may not; empty: it may. `rm`: for which RM, if that is said.
std::string refusal_of(const Value& greeting, const std::string& command, const Need& need,
                       const std::optional<std::string>& rm) {
    const Role role = granted_role(greeting);
    if (role < need.role)
        return fmt::format("{} needs role {}, and {} has {}", command, si::text(need.role),
                           printable(text_of(greeting, "who")), si::text(role));
    const auto pattern = text_of(greeting, "rmPattern");
    if (need.role == Role::Rm && role == Role::Rm && rm && ::fnmatch(pattern.c_str(), rm->c_str(), 0) != 0)
        return fmt::format("{} may act for RMs that match {}, and {} does not", printable(text_of(greeting, "who")),
                           printable(pattern), printable(*rm));
    return {};
}

Outcome can_i(Context& context, const CommandInfo& tree, const std::vector<std::string>& words) {
    YK_TRY(command, command_of(tree, words));
    YK_TRY(greeting, context.greeting());
    const Need need = need_of(command);
    const auto why_not = refusal_of(greeting, command, need, context.settings().rm);
    const bool may = why_not.empty();
    std::string text = may ? "yes" : "no: " + why_not;
    const auto reach = reach_text(greeting);
    if (may && need.role == Role::Rm && !context.settings().rm && reach != "every RM") text += ", for " + reach;
    Value item{
        {"command", command}, {"allowed", may}, {"needs", si::text(need.role)}, {"role", text_of(greeting, "granted")}};
    if (!need.kind.empty()) item["kind"] = need.kind;
    if (!may) item["reason"] = why_not;
    YK_TRY(shown, context.show_item(item, may ? "yes" : "no", text + "\n"));
    if (!may && context.format() == Format::Table)
        context.note("who may what stands in `peers` of ykd.conf(5), and in the file of tokens");
    return may ? shown : Exit::Denied;
}

} // namespace

void define_access(Command root, CommandLine& line, Context& context) {
    root.sub("whoami", "whom the daemon takes you for, and what you may do").run([&context] {
        return who_am_i(context);
    });
    const auto command = root.sub("can-i", "whether you may give a command: can-i node drain; exit 5 when not");
    const auto words = std::make_shared<std::vector<std::string>>();
    command.option("COMMAND", *words, "a command of ykctl, with or without what it is to be done to").required();
    command.run([&line, &context, words] { return can_i(context, line.tree(), *words); });
}

} // namespace yk::cli
