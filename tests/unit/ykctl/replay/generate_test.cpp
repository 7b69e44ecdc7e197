// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include <fstream>
#include <sstream>
#include <string>

#include "tests/support/system/temp_dir.h"
#include "ykctl/replay/replay.h"
#include "ykctl/replay/trace.h"

namespace yk::replay {
namespace {

std::string file_text(const std::string& path) {
    std::ifstream file{path};
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

int generate(const GenerateOptions& options, std::string& messages) {
    std::ostringstream out, err;
    const int status = generate_trace(options, out, err);
    messages = out.str() + err.str();
    return status;
}

TEST_CASE("issue 2: a generated trace can be read, and the same seed gives the same bytes") {
    const testing::TempDir folder;
    std::string messages;
    REQUIRE(generate({folder.path("a/b"), 7, 50, 3}, messages) == 0);
    REQUIRE(generate({folder.path("c"), 7, 50, 3}, messages) == 0);
    REQUIRE(generate({folder.path("d"), 7, 50, 4}, messages) == 0);
    const auto trace = load_trace(folder.path("a/b/nodes.csv"), folder.path("a/b/pods.csv"));
    REQUIRE(trace.ok());
    CHECK(trace->nodes.size() == 7);
    CHECK(trace->pods.size() == 50);
    CHECK(file_text(folder.path("a/b/pods.csv")) == file_text(folder.path("c/pods.csv")));
    CHECK(file_text(folder.path("a/b/nodes.csv")) == file_text(folder.path("c/nodes.csv")));
    CHECK(file_text(folder.path("c/pods.csv")) != file_text(folder.path("d/pods.csv")));
}

TEST_CASE("replay gen: what cannot be done is said") {
    const testing::TempDir folder;
    std::string messages;
    CHECK(generate({"", 1, 1, 1}, messages) == 2);
    CHECK(generate({folder.path("x"), 0, 1, 1}, messages) == 2);
    CHECK(generate({folder.path("x"), 1, 2'000'000, 1}, messages) == 2);
    CHECK(messages.find("1 to 1000000 pods") != std::string::npos);
    std::ofstream{folder.path("file")} << "x";
    CHECK(generate({folder.path("file/below"), 1, 1, 1}, messages) == 2);
    CHECK(messages.find("file/below") != std::string::npos);
}

} // namespace
} // namespace yk::replay
