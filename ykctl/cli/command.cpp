// SPDX-License-Identifier: Apache-2.0
#include "ykctl/cli/command.h"

#include <algorithm>
#include <charconv>
#include <map>

#include <CLI/CLI.hpp>

#include "ykctl/cli/examples.h"
#include "ykctl/cli/guesses.h"
#include "ykctl/cli/suggest.h"
#include "ykctl/cli/values.h"
#include "ykctl/render/text.h"

namespace yk::cli {

struct CommandLine::Impl {
    CLI::App app;
    std::map<const CLI::App*, std::function<Outcome()>> actions;
    std::map<const CLI::Option*, std::vector<std::string>> choices;
    std::map<const CLI::Option*, std::string> value_names;

    Impl(const std::string& help, const std::string& name) : app(help, name) {}
};

namespace {

constexpr std::size_t kHelpColumn = 34;

/// Sets how a command of the tree parses: unknown words are kept for the messages here (those of CLI11 do not name
/// them), options of the parents may follow the command, and an argument of a command is not taken for a sibling of its
/// parent.
void set_up(CLI::App& app) {
    app.allow_extras();
    app.fallthrough();
    app.require_subcommand(0, 1);
    app.get_formatter()->column_width(kHelpColumn);
    app.get_formatter()->label("SUBCOMMAND", "COMMAND");
    app.group("Commands");
    app.set_help_flag("-h,--help", "this text");
}

std::string path_of(const CLI::App* app) {
    std::string path = app->get_name();
    for (const auto* parent = app->get_parent(); parent != nullptr; parent = parent->get_parent()) {
        path = parent->get_name() + " " + path;
    }
    return path;
}

/// The end of each help.
std::string footer_of(const CLI::App* app) {
    const auto path = path_of(app);
    const auto blank = path.find(' ');
    const auto example = example_of(blank == std::string::npos ? std::string{} : path.substr(blank + 1));
    std::string text;
    if (!example.empty()) text = "Example: ykctl " + std::string{example} + "\n";
    return text +
           "Options of every command: -s, -r, -p, -o, --columns, --sort-by, --timeout and more, see ykctl --help";
}

const CLI::App* deepest(const CLI::App* app) {
    while (!app->get_subcommands().empty()) app = app->get_subcommands().front();
    return app;
}

std::vector<const CLI::App*> children(const CLI::App* app) {
    return app->get_subcommands([](const CLI::App*) { return true; });
}

std::vector<std::string> visible_names(const CLI::App* app) {
    std::vector<std::string> names;
    for (const auto* child : children(app)) {
        if (!child->get_group().empty()) names.push_back(child->get_name());
    }
    return names;
}

std::vector<std::string> own_options(const CLI::App* app) {
    std::vector<std::string> names;
    for (const auto* option : app->get_options()) {
        for (const auto& name : option->get_lnames()) names.push_back("--" + name);
        for (const auto& name : option->get_snames()) names.push_back("-" + name);
    }
    return names;
}

std::vector<std::string> option_names(const CLI::App* app) {
    std::vector<std::string> names;
    for (; app != nullptr; app = app->get_parent())
        for (auto& name : own_options(app)) names.push_back(std::move(name));
    return names;
}

const CLI::App* child_named(const CLI::App* app, const std::string& name) {
    const auto commands = children(app);
    const auto found = std::find_if(commands.begin(), commands.end(),
                                    [&](const CLI::App* command) { return command->check_name(name); });
    return found == commands.end() ? nullptr : *found;
}

/// The noun that `app` stands for: `node` for `nodes`, which is short for one of its commands; else `app` itself.
const CLI::App* noun_of(const CLI::App* root, const CLI::App* app) {
    if (!app->get_group().empty()) return app;
    const auto& command = app->get_description(); // `node list`
    const auto* noun = child_named(root, command.substr(0, command.find(' ')));
    return noun == nullptr ? app : noun;
}

/// The command of `noun` that `verb` means; nullptr when there is none. `prefers_list`: no object is named, or several
/// are meant.
const CLI::App* meant(const CLI::App* noun, const std::string& verb, bool prefers_list) {
    const auto& meanings = meanings_of(verb);
    if (prefers_list && std::find(meanings.begin(), meanings.end(), "list") != meanings.end())
        if (const auto* list = child_named(noun, "list")) return list;
    for (const auto& meaning : meanings)
        if (const auto* command = child_named(noun, meaning)) return command;
    return child_named(noun, verb);
}

/// Replaces words whose meaning is clear: `nodes list` becomes `node list`, `app delete` becomes `app remove`.
std::vector<std::string> understood(const CLI::App* root, std::vector<std::string> words) {
    const auto noun = std::find_if(words.begin(), words.end(),
                                   [&](const std::string& word) { return child_named(root, word) != nullptr; });
    if (noun == words.end() || noun + 1 == words.end()) return words;
    const auto* const named = child_named(root, *noun);
    const auto* const app = noun_of(root, named);
    std::string& verb = *(noun + 1);
    if (verb.empty() || verb.front() == '-' || (app == named && child_named(app, verb) != nullptr)) return words;
    const auto behind = noun + 2;
    const bool names_nothing = behind == words.end() || behind->starts_with('-');
    const auto* const command = meant(app, verb, names_nothing);
    if (command == nullptr) return words;
    *noun = app->get_name();
    verb = command->get_name();
    return words;
}

/// The error for a verb in front of its noun, as in `show node`.
Failure verb_first(const CLI::App* root, const CLI::App* named, const std::string& word) {
    const auto* const noun = noun_of(root, named);
    std::string hint{done_here(noun->get_name(), word)};
    if (const auto* command = meant(noun, word, noun != named); hint.empty() && command != nullptr)
        hint = "the noun comes first:  " + path_of(command);
    if (hint.empty()) hint = done_here(word);
    const auto similar = hint.empty() ? did_you_mean(word, visible_names(root)) : std::string{};
    return usage_error("unknown command '" + word + "'" + similar,
                       {hint.empty() ? "what is there?  " + root->get_name() + " --help" : hint});
}

/// What to say of a noun behind a verb that is a command itself, as in `delete app`; empty: `word` is no noun.
std::string hint_of_noun(const CLI::App* verb, const std::string& word) {
    const auto* const root = verb->get_parent();
    if (root == nullptr || root->get_parent() != nullptr) return {};
    const auto* const named = child_named(root, word);
    if (named == nullptr) return {};
    const auto* const noun = noun_of(root, named);
    std::string hint{done_here(noun->get_name(), verb->get_name())};
    const auto* const command = meant(noun, verb->get_name(), noun != named);
    return hint.empty() && command != nullptr ? "the noun comes first:  " + path_of(command) : hint;
}

Failure unknown_word(const CLI::App* at, const std::string& word) {
    const auto path = path_of(at);
    const std::string hint = "what is there?  " + path + " --help";
    if (word.size() > 1 && word.front() == '-') {
        const auto name = word.substr(0, word.find('='));
        const auto known = option_names(at);
        if (std::find(known.begin(), known.end(), name) != known.end())
            return usage_error("unexpected argument '" + word + "' for '" + path + "'",
                               {"behind -- nothing is an option; those stand before it"});
        const auto similar = name.starts_with("--") ? did_you_mean(name, known) : std::string{};
        const std::string here{option_here(name)};
        return usage_error("unknown option '" + name + "' for '" + path + "'" + (here.empty() ? similar : ""),
                           {here.empty() ? hint : here});
    }
    if (children(at).empty()) {
        const auto names = own_options(at);
        const bool takes_file = std::find(names.begin(), names.end(), "-f") != names.end();
        auto better = argument_here(path, word);
        if (better.empty()) better = hint_of_noun(at, word);
        if (better.empty() && takes_file) better = "a file?  " + path + " -f " + word;
        return usage_error("unexpected argument '" + word + "' for '" + path + "'", {better.empty() ? hint : better});
    }
    const bool is_root = at->get_parent() == nullptr;
    const auto whose = is_root ? std::string{} : " for '" + path.substr(path.find(' ') + 1) + "'";
    const std::string here{is_root ? done_here(word) : done_here(at->get_name(), word)};
    if (!here.empty()) return usage_error("unknown command '" + word + "'" + whose, {here});
    const std::string similar = did_you_mean(word, visible_names(at));
    const std::string kind{similar.empty() ? kind_here(at->get_name()) : std::string_view{}};
    return usage_error("unknown command '" + word + "'" + whose + similar, {kind.empty() ? hint : kind});
}

std::vector<std::string> shown_names(const CLI::Option* option) {
    if (option->get_positional()) return {option->get_single_name()};
    std::vector<std::string> names;
    for (const auto& name : option->get_snames()) names.push_back("-" + name);
    for (const auto& name : option->get_lnames()) names.push_back("--" + name);
    return names;
}

} // namespace

OptionRef& OptionRef::required() {
    option_->required();
    return *this;
}

OptionRef& OptionRef::value(const std::string& name) {
    line_->impl_->value_names[option_] = name;
    if (!option_->get_positional()) option_->type_name(name); // a positional has its own name already
    return *this;
}

OptionRef& OptionRef::choices(const std::vector<std::string>& values) {
    line_->impl_->choices[option_] = values;
    line_->impl_->value_names[option_] = join(values, "|");
    option_->type_name(join(values, "|"));
    return *this;
}

Command Command::sub(const std::string& name, const std::string& help) const {
    auto* app = app_->add_subcommand(name, help);
    set_up(*app);
    app->footer([app] { return footer_of(app); });
    return {*line_, app};
}

const Command& Command::alias(const std::string& name) const {
    app_->alias(name);
    return *this;
}

const Command& Command::hidden() const {
    app_->group("");
    return *this;
}

void Command::run(std::function<Outcome()> action) const {
    line_->impl_->actions[app_] = std::move(action);
}

OptionRef Command::add(const std::string& names, const std::string& help, bool many, Setter setter) const {
    auto* impl = line_->impl_.get();
    auto self = std::make_shared<CLI::Option*>(nullptr); // for the callback, which is made before its option
    const auto take = [impl, self, setter = std::move(setter)](const CLI::results_t& texts) {
        for (const auto& text : texts) {
            const auto known = impl->choices.find(*self);
            const auto* chosen = known != impl->choices.end() ? find_in_any_case(text, known->second) : &text;
            if (chosen == nullptr) {
                throw CLI::ValidationError((*self)->get_name(), "'" + text + "' is not one of " +
                                                                    join(known->second, ", ") +
                                                                    did_you_mean(text, known->second));
            }
            if (const auto problem = setter(*chosen)) throw CLI::ValidationError((*self)->get_name(), *problem);
        }
        return true;
    };
    auto* option = app_->add_option(names, take, help);
    option->type_name("");
    *self = option;
    if (many) option->expected(option->get_positional() ? -1 : 1)->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
    return OptionRef{*line_, option}.value("TEXT");
}

OptionRef Command::option(const std::string& names, std::string& into, const std::string& help) const {
    return add(names, help, false, [&into](const std::string& text) -> std::optional<std::string> {
        into = text;
        return std::nullopt;
    });
}

OptionRef Command::option(const std::string& names, std::optional<std::string>& into, const std::string& help) const {
    return add(names, help, false, [&into](const std::string& text) -> std::optional<std::string> {
        into = text;
        return std::nullopt;
    });
}

OptionRef Command::option(const std::string& names, std::vector<std::string>& into, const std::string& help) const {
    return add(names, help, true, [&into](const std::string& text) -> std::optional<std::string> {
        into.push_back(text);
        return std::nullopt;
    });
}

namespace {

/// Makes a setter from a parser of texts and the variable that gets the value.
template <class Into, class Parse>
auto setter_for(Into& into, Parse parse) {
    return [&into, parse](const std::string& text) -> std::optional<std::string> {
        auto value = parse(text);
        if (!value.ok()) return value.error().message;
        into = *value;
        return std::nullopt;
    };
}

} // namespace

OptionRef Command::option(const std::string& names, std::int64_t& into, const std::string& help) const {
    return add(names, help, false, setter_for(into, parse_integer)).value("N");
}

OptionRef Command::option(const std::string& names, std::optional<std::int64_t>& into, const std::string& help) const {
    return add(names, help, false, setter_for(into, parse_integer)).value("N");
}

OptionRef Command::option(const std::string& names, std::chrono::milliseconds& into, const std::string& help) const {
    return add(names, help, false, setter_for(into, parse_milliseconds)).value("DURATION");
}

OptionRef Command::option(const std::string& names, std::optional<std::chrono::milliseconds>& into,
                          const std::string& help) const {
    return add(names, help, false, setter_for(into, parse_milliseconds)).value("DURATION");
}

void Command::flag(const std::string& names, bool& into, const std::string& help) const {
    app_->add_flag_function(
            names, [&into](std::int64_t count) { into = count > 0; }, help)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeLast);
}

CommandLine::CommandLine(const std::string& name, const std::string& help) : impl_(std::make_unique<Impl>(help, name)) {
    set_up(impl_->app);
    impl_->app.footer([] { return std::string{"Example: ykctl status"}; });
}

CommandLine::~CommandLine() = default;

Command CommandLine::root() {
    return {*this, &impl_->app};
}

Answer<Selected> CommandLine::parse(std::vector<std::string> arguments) {
    auto& app = impl_->app;
    arguments = understood(&app, std::move(arguments));
    std::optional<Failure> failure;
    try {
        app.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend())); // in the order that CLI11 expects
    } catch (const CLI::CallForHelp&) {
        return Selected{{}, app.help()};
    } catch (const CLI::ParseError& error) {
        const auto path = path_of(deepest(&app));
        const std::string here{form_here(error.what())};
        failure = usage_error(error.what(), {here.empty() ? "how is it used?  " + path + " --help" : here});
    }
    const auto* chosen = deepest(&app);
    // a misspelt option explains a missing argument better than the missing argument does
    auto extras = app.remaining(true);
    std::erase(extras, "--"); // CLI11 counts the end of the options among what it does not know
    if (!extras.empty()) {
        const auto first = [&](const auto& is) { return std::find_if(arguments.begin(), arguments.end(), is); };
        const auto* const noun = app.get_subcommands().empty() ? nullptr : app.get_subcommands().front();
        const bool in_front = noun != nullptr && extras.front().front() != '-' &&
                              first([&](const std::string& word) { return word == extras.front(); }) <
                                  first([&](const std::string& word) { return noun->check_name(word); });
        return in_front ? verb_first(&app, noun, extras.front()) : unknown_word(chosen, extras.front());
    }
    if (failure) return *failure;
    const auto action = impl_->actions.find(chosen);
    if (action == impl_->actions.end()) {
        return usage_error("'" + path_of(chosen) + "' needs a command: " + join(visible_names(chosen), ", "),
                           {"what do they do?  " + path_of(chosen) + " --help"});
    }
    return Selected{action->second, {}};
}

std::optional<std::string> CommandLine::help_of(const std::vector<std::string>& path) const {
    const CLI::App* app = &impl_->app;
    std::string parents;
    for (const auto& name : path) {
        const auto commands = children(app);
        const auto found = std::find_if(commands.begin(), commands.end(),
                                        [&](const CLI::App* command) { return command->check_name(name); });
        if (found == commands.end()) return std::nullopt;
        parents += (parents.empty() ? "" : " ") + app->get_name();
        app = *found;
    }
    // Not app->help(), which describes the command that was parsed, `help`.
    const std::string name = parents.empty() ? app->get_name() : parents + " " + app->get_name();
    return app->get_formatter()->make_help(app, name, CLI::AppFormatMode::Normal);
}

namespace {

template <class Map>
typename Map::mapped_type value_or_empty(const Map& map, const typename Map::key_type& key) {
    const auto found = map.find(key);
    return found == map.end() ? typename Map::mapped_type{} : found->second;
}

OptionInfo info_of(const CLI::Option& option, std::string value_name, std::vector<std::string> choices) {
    OptionInfo info;
    info.names = shown_names(&option);
    info.help = option.get_description();
    info.required = option.get_required();
    info.repeatable = option.get_multi_option_policy() == CLI::MultiOptionPolicy::TakeAll;
    info.value = option.get_items_expected_max() == 0          ? ValueKind::None
                 : !choices.empty()                            ? ValueKind::Choice
                 : value_name == "FILE" || value_name == "DIR" ? ValueKind::File
                                                               : ValueKind::Text;
    info.value_name = std::move(value_name);
    info.choices = std::move(choices);
    return info;
}

} // namespace

CommandInfo CommandLine::tree() const {
    const std::function<CommandInfo(const CLI::App*)> walk = [&](const CLI::App* app) {
        CommandInfo info{
            app->get_name(), app->get_aliases(), app->get_description(), app->get_group().empty(), {}, {}, {}};
        for (const auto* option : app->get_options()) {
            (option->get_positional() ? info.positionals : info.options)
                .push_back(info_of(*option, value_or_empty(impl_->value_names, option),
                                   value_or_empty(impl_->choices, option)));
        }
        for (const auto* child : children(app)) info.commands.push_back(walk(child));
        return info;
    };
    return walk(&impl_->app);
}

} // namespace yk::cli
