// SPDX-License-Identifier: Apache-2.0
#include "protocol/work/output.h"

#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <sstream>

#include "tests/unit/protocol/work/running.h"

namespace yk::work {
namespace {

std::string read(const std::string& path) {
    std::ifstream file{path};
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
}

OutputFolder opened(const std::string& path, std::uint64_t limit) {
    auto folder = OutputFolder::open(path, limit);
    REQUIRE(folder.ok());
    return std::move(folder).value();
}

TEST_CASE("a name of a file is one name, whatever the text is") {
    CHECK(file_name_part("web-1_A") == "web-1_A");
    CHECK(file_name_part("../../etc/passwd") == "%2E%2E%2F%2E%2E%2Fetc%2Fpasswd");
    CHECK(file_name_part(std::string("\0\n+%", 4)) == "%00%0A%2B%25");
    CHECK(file_name_part("").empty());
    const std::string one = file_name_part(std::string(5000, 'x') + "1");
    CHECK(one.size() < 130);
    CHECK(one != file_name_part(std::string(5000, 'x') + "2"));
}

TEST_CASE("output goes into a file of its own that only its user reads, up to a limit") {
    const Folder base;
    const auto folder = opened(base / "made", 10);
    auto file = folder.file("a");
    REQUIRE(file.ok());
    (*file)->write("12345");
    (*file)->write("67890abc");
    (*file)->write("more");
    CHECK(read(base / "made/a") == "1234567890" + limit_text(10));
    struct stat info {};
    REQUIRE(::stat((base / "made/a").c_str(), &info) == 0);
    CHECK((info.st_mode & 07777) == 0600);
    REQUIRE(::stat((base / "made").c_str(), &info) == 0);
    CHECK((info.st_mode & 0777) == 0700);
    auto next = folder.file("a"); // full: it is set aside
    REQUIRE(next.ok());
    (*next)->write("new");
    CHECK(read(base / "made/a") == "new");
    CHECK(read(base / "made/a.old").substr(0, 10) == "1234567890");
    auto again = folder.file("a");
    (*again)->write("er");
    CHECK(read(base / "made/a") == "newer");
}

TEST_CASE("links and what is no file are refused") {
    const Folder base;
    const auto folder = opened(base.path(), 100);
    std::ofstream{base / "victim"} << "precious";
    REQUIRE(::symlink((base / "victim").c_str(), (base / "link").c_str()) == 0);
    REQUIRE(::link((base / "victim").c_str(), (base / "hard").c_str()) == 0);
    REQUIRE(::mkfifo((base / "fifo").c_str(), 0600) == 0);
    for (const char* name : {"link", "hard", "fifo"}) CHECK_FALSE(folder.file(name).ok());
    CHECK(read(base / "victim") == "precious");
    REQUIRE(::chmod(base.path().c_str(), 0777) == 0);
    CHECK_FALSE(OutputFolder::open(base.path(), 100).ok());
    CHECK_FALSE(OutputFolder::open(base / "victim", 100).ok());
    CHECK_FALSE(OutputFolder::open(base / "no/such", 100).ok());
}

} // namespace
} // namespace yk::work
