// SPDX-License-Identifier: Apache-2.0
#include "ykctl/work/line_output.h"

#include <unistd.h>

#include <array>

#include <catch2/catch.hpp>

namespace yk::cli {
namespace {

/// What is written with these parts.
std::string written(const std::vector<std::string>& parts, std::uint64_t limit = 1000) {
    std::array<int, 2> pipe{};
    REQUIRE(::pipe(pipe.data()) == 0);
    {
        LineOutput output{pipe[1], "app/key: ", limit};
        for (const std::string& part : parts) output.write(part);
    }
    ::close(pipe[1]);
    std::string text;
    std::array<char, 4096> buffer{};
    for (ssize_t got = 0; (got = ::read(pipe[0], buffer.data(), buffer.size())) > 0;)
        text.append(buffer.data(), static_cast<std::size_t>(got));
    ::close(pipe[0]);
    return text;
}

TEST_CASE("each line says whose it is, however it comes") {
    CHECK(written({"one\nt", "wo", "\n\nrest"}) == "app/key: one\napp/key: two\napp/key: \napp/key: rest\n");
    CHECK(written({}).empty());
}

TEST_CASE("nothing that a terminal obeys comes through") {
    CHECK(written({"\033[2Jred\r\n"}) == "app/key: ?[2Jred?\n");
}

TEST_CASE("long lines are broken, and after the limit it is said that the rest is dropped") {
    const std::string text = written({std::string(5000, 'x')}, 100'000);
    CHECK(text == "app/key: " + std::string(4096, 'x') + "\napp/key: " + std::string(904, 'x') + "\n");
    CHECK(written({"12345", "6789\n", "more\n"}, 7) ==
          "app/key: 1234567\napp/key: [output beyond 7 bytes is dropped]\n");
}

TEST_CASE("nobody waits for a reader that has stopped") {
    std::array<int, 2> pipe{};
    REQUIRE(::pipe(pipe.data()) == 0);
    LineOutput output{pipe[1], "app/key: ", 10'000'000};
    for (int lines = 0; lines < 1000; ++lines) output.write(std::string(3000, 'x') + "\n"); // more than a pipe holds
    std::array<char, 1 << 20> buffer{};
    const ssize_t got = ::read(pipe[0], buffer.data(), buffer.size());
    CHECK(got > 3000);
    output.write("again\n");
    const ssize_t more = ::read(pipe[0], buffer.data(), buffer.size());
    CHECK(std::string(buffer.data(), static_cast<std::size_t>(more)) == "app/key: again\n");
    ::close(pipe[0]);
    ::close(pipe[1]);
}

} // namespace
} // namespace yk::cli
