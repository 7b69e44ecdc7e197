// SPDX-License-Identifier: Apache-2.0
#include "ykctl/cli/completion.h"

#include <catch2/catch.hpp>
#include <fstream>
#include <sstream>

#include "ykctl/commands/run_command_line.h"

using namespace yk::cli;

namespace {

std::string committed(const std::string& name) {
    std::ifstream file{std::string{YK_SOURCE_DIR} + "/completions/" + name};
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

} // namespace

TEST_CASE("the committed completions are those of the command tree (else: ykctl completion SHELL > completions/...)") {
    const auto tree = command_tree();
    CHECK(committed("ykctl.bash") == bash_completion(tree));
    CHECK(committed("_ykctl") == zsh_completion(tree));
    CHECK(committed("ykctl.fish") == fish_completion(tree));
}

TEST_CASE("completions quote what a shell would take apart") {
    const CommandInfo root{"ykctl", {}, "", false, {}, {}, {{"do", {}, "it's: done", false, {}, {}, {}}}};
    CHECK(zsh_completion(root).find("'do:it'\\''s: done'") != std::string::npos);
    CHECK(fish_completion(root).find("-d 'it'\\''s: done'") != std::string::npos);
}
