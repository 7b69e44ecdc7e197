// SPDX-License-Identifier: Apache-2.0
#include <catch2/catch.hpp>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "ykctl/replay/replay.h"
#include "ykctl/replay/trace.h"

namespace yk::replay {
namespace {

class Folder {
public:
    Folder() {
        std::string name = "/tmp/ykt.XXXXXX";
        REQUIRE(mkdtemp(name.data()) != nullptr);
        path_ = name;
    }
    ~Folder() { std::filesystem::remove_all(path_); }
    Folder(const Folder&) = delete;
    Folder& operator=(const Folder&) = delete;

    [[nodiscard]] std::string at(const std::string& name) const { return path_ + "/" + name; }

private:
    std::string path_;
};

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
    const Folder folder;
    std::string messages;
    REQUIRE(generate({folder.at("a/b"), 7, 50, 3}, messages) == 0);
    REQUIRE(generate({folder.at("c"), 7, 50, 3}, messages) == 0);
    REQUIRE(generate({folder.at("d"), 7, 50, 4}, messages) == 0);
    const auto trace = load_trace(folder.at("a/b/nodes.csv"), folder.at("a/b/pods.csv"));
    REQUIRE(trace.ok());
    CHECK(trace->nodes.size() == 7);
    CHECK(trace->pods.size() == 50);
    CHECK(file_text(folder.at("a/b/pods.csv")) == file_text(folder.at("c/pods.csv")));
    CHECK(file_text(folder.at("a/b/nodes.csv")) == file_text(folder.at("c/nodes.csv")));
    CHECK(file_text(folder.at("c/pods.csv")) != file_text(folder.at("d/pods.csv")));
}

TEST_CASE("replay gen: what cannot be done is said") {
    const Folder folder;
    std::string messages;
    CHECK(generate({"", 1, 1, 1}, messages) == 2);
    CHECK(generate({folder.at("x"), 0, 1, 1}, messages) == 2);
    CHECK(generate({folder.at("x"), 1, 2'000'000, 1}, messages) == 2);
    CHECK(messages.find("1 to 1000000 pods") != std::string::npos);
    std::ofstream{folder.at("file")} << "x";
    CHECK(generate({folder.at("file/below"), 1, 1, 1}, messages) == 2);
    CHECK(messages.find("file/below") != std::string::npos);
}

} // namespace
} // namespace yk::replay
