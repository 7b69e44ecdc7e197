// SPDX-License-Identifier: Apache-2.0
// A5: whatever a configuration holds, what is said about it can be sent: valid UTF-8, harmless for a terminal.

#include <catch2/catch.hpp>
#include <random>
#include <vector>

#include "libcore/base/text.h"
#include "libcore/config_yaml/load.h"

using namespace yk;
using namespace yk::config_yaml;

namespace {

std::string random_word(std::mt19937& random) {
    static const std::vector<std::string> kLetters{
        "a", "1", ".", "\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80", "\xc2\xa0", "\xe2\x80\xae", "*", "\xe4\xb8\xad"};
    std::string word;
    for (std::size_t i = 1 + random() % 100; i > 0; --i) word += kLetters[random() % kLetters.size()];
    return word;
}

/// A configuration with a random word in place of some of its words.
std::string random_configuration(std::mt19937& random) {
    static const std::vector<std::string> kFragments{"partitions: ",
                                                     "[{name: ",
                                                     "default",
                                                     ", nodesortpolicy: {type: ",
                                                     "fair",
                                                     "}, placementrules: [{name: ",
                                                     "user",
                                                     ", create: ",
                                                     "true",
                                                     ", filter: {type: ",
                                                     "allow",
                                                     ", users: [",
                                                     "u",
                                                     "]}}], queues: [{",
                                                     "name",
                                                     ": ",
                                                     "root",
                                                     ", resources: {max: {",
                                                     "vcore",
                                                     ": ",
                                                     "12",
                                                     "}}, properties: {",
                                                     "application.sort.policy",
                                                     ": ",
                                                     "fifo",
                                                     "}, maxapplications: ",
                                                     "7",
                                                     ", submitacl: ",
                                                     "u",
                                                     "}]}]\n"};
    std::string text;
    for (const std::string& fragment : kFragments) text += random() % 12 == 0 ? random_word(random) : fragment;
    return text;
}

bool is_sendable(const std::string& text) {
    return printable(text) == text;
}

} // namespace

TEST_CASE("A5 C-002 what is said about a configuration is UTF-8 without terminal commands, whatever is in it") {
    std::mt19937 random{5};
    std::size_t said = 0;
    for (int round = 0; round < 3000; ++round) {
        const std::string text = random_configuration(random);
        const LoadOutcome outcome = load(text, "queues.yaml");
        for (const Problem& problem : outcome.problems) {
            ++said;
            INFO(text);
            CHECK(is_sendable(problem.path));
            CHECK(is_sendable(problem.message));
        }
        CHECK(printable_lines(render(outcome, text)) == render(outcome, text));
    }
    CHECK(said > 1000);
}

TEST_CASE("A5 a value that is too long to be shown is cut between two letters") {
    const LoadOutcome outcome =
        load("partitions: \xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\n", "config");
    CHECK_THAT(outcome.problems.front().message, Catch::Contains("`\xc3\xa9\xc3\xa9\xc3\xa9...`"));
}

TEST_CASE("B8 the line in question is shown without what a terminal obeys, and cut") {
    const std::string text = "partitions:\n\t- name: \xe2\x80\xae" + std::string(300, 'x') + "\n";
    const std::string shown = render(load(text, "a\x1b[31m.yaml"), text);
    INFO(shown);
    CHECK(printable_lines(shown).size() >= shown.size() - 1);
    CHECK(shown.find('\x1b') == std::string::npos);
    CHECK(shown.find("\xe2\x80\xae") == std::string::npos);
    CHECK(shown.find(std::string(200, 'x')) == std::string::npos);
    CHECK(shown.find("...\n") != std::string::npos);
}
