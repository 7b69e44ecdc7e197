// SPDX-License-Identifier: Apache-2.0
// The commands completion and help, and the command tree as JSON for tests.

#include <algorithm>
#include <ostream>

#include "ykctl/cli/completion.h"
#include "ykctl/cli/help_topics.h"
#include "ykctl/cli/suggest.h"
#include "ykctl/commands/nouns.h"
#include "ykctl/render/text.h"

namespace yk::cli {
namespace {

Outcome print_help(CommandLine& line, Context& context, const std::vector<std::string>& words) {
    if (words.size() == 1) {
        if (const auto* topic = find_topic(words.front())) {
            context.out() << topic->text;
            return Exit::Ok;
        }
    }
    if (const auto text = line.help_of(words)) {
        context.out() << *text;
        if (words.empty()) context.out() << "\nTopics (ykctl help TOPIC):\n" << topics_text();
        return Exit::Ok;
    }
    auto known = topic_names();
    for (const auto& command : line.tree().commands) {
        if (!command.hidden) known.push_back(command.name);
    }
    return usage_error("no help on '" + join(words, " ") + "'" + did_you_mean(words.front(), known),
                       {"topics: " + join(topic_names(), ", ") + "; commands: ykctl --help"});
}

} // namespace

void define_help(Command root, CommandLine& line, Context& context) {
    const auto completion = root.sub("completion", "print a completion script for a shell");
    const auto shell = std::make_shared<std::string>();
    completion.option("SHELL", *shell, "which shell").required().choices({"bash", "zsh", "fish"});
    completion.run([&line, &context, shell]() -> Outcome {
        const auto tree = line.tree();
        context.out() << (*shell == "bash"  ? bash_completion(tree)
                          : *shell == "zsh" ? zsh_completion(tree)
                                            : fish_completion(tree));
        return Exit::Ok;
    });

    const auto help = root.sub("help", "help on a command or a topic");
    const auto words = std::make_shared<std::vector<std::string>>();
    help.option("TOPIC", *words, "a command, or one of: " + join(topic_names(), ", "));
    help.run([&line, &context, words] { return print_help(line, context, *words); });
}

} // namespace yk::cli
