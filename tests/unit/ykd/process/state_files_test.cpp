// SPDX-License-Identifier: Apache-2.0
#include "ykd/process/state_files.h"

#include <catch2/catch.hpp>

#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "tests/support/system/temp_dir.h"

using namespace yk;
using namespace yk::service;
using yk::testing::TempDir;

namespace {

std::string text_of(const std::string& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
}

Result<std::size_t> written(const std::string& directory, const std::string& name, std::string_view text) {
    StateFile file(directory, name);
    file.write(text);
    return file.finish();
}

} // namespace

TEST_CASE("a dump is named after its time in UTC") {
    CHECK(dump_name(1'763'675'442'123'456'789) == "dump-20251120T215042.123Z.json");
    CHECK(dump_name(0) == "dump-19700101T000000.000Z.json");
}

TEST_CASE("a state file is written whole, for its owner only") {
    const TempDir folder;
    REQUIRE(written(folder.path(), "a.json", "first").ok());
    REQUIRE(written(folder.path(), "a.json", "second").ok());
    CHECK(text_of(folder.path() + "/a.json") == "second");
    struct stat info {};
    REQUIRE(::stat((folder.path() + "/a.json").c_str(), &info) == 0);
    CHECK((info.st_mode & 07777U) == 0600);
    std::filesystem::create_directory(folder.path() + "/b.json"); // cannot be replaced
    const auto refused = written(folder.path(), "b.json", "x");
    REQUIRE_FALSE(refused.ok());
    CHECK(refused.error().message.find("cannot write " + folder.path() + "/b.json: ") == 0);
    std::size_t files = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder.path())) files += entry.exists() ? 1U : 0U;
    CHECK(files == 2); // nothing unfinished is left
    CHECK_FALSE(written(folder.path() + "/none", "a", "x").ok());
}

TEST_CASE("A10 of a state file that is given up nothing is left") {
    const TempDir folder;
    {
        StateFile file(folder.path(), "a.json");
        file.write(std::string(std::size_t{2} << 20U, 'x'));
        CHECK(file.is_good());
    }
    CHECK(std::filesystem::is_empty(folder.path()));
}

TEST_CASE("C-469 the state directory is a directory") {
    const TempDir folder;
    CHECK(check_state_directory(folder.path()).ok());
    CHECK_FALSE(check_state_directory(folder.path() + "/none").ok());
    std::ofstream(folder.path() + "/file") << "x";
    CHECK_FALSE(check_state_directory(folder.path() + "/file").ok());
}

TEST_CASE("C-469 a directory whose files count is one that nobody else can put files into") {
    const TempDir folder;
    for (const unsigned mode : {0700U, 0755U}) {
        REQUIRE(::chmod(folder.path().c_str(), mode) == 0);
        CHECK(check_own_directory(folder.path(), "the book").ok());
    }
    const std::string link = folder.path() + "/link";
    REQUIRE(::symlink(folder.path().c_str(), link.c_str()) == 0);
    CHECK(check_own_directory(link, "the book").ok());
    CHECK_FALSE(make_own_folder(link, "the books").ok()); // no link is followed there
    for (const unsigned mode : {0775U, 0757U, 01777U}) {
        REQUIRE(::chmod(folder.path().c_str(), mode) == 0);
        const auto refused = check_own_directory(folder.path(), "the book");
        REQUIRE_FALSE(refused.ok());
        CHECK(refused.error().message.find("the book in " + folder.path() +
                                           " cannot be trusted: it may be written by others (mode ") == 0);
    }
    REQUIRE(::chmod(folder.path().c_str(), 0700) == 0);
    if (::geteuid() == 0) { // nobody else can give a directory away
        REQUIRE(::chown(folder.path().c_str(), 12345, ::getegid()) == 0);
        const auto refused = check_own_directory(folder.path(), "the book");
        REQUIRE_FALSE(refused.ok());
        CHECK(refused.error().message.find("it belongs to uid 12345, and ykd runs as 0") != std::string::npos);
    }
    CHECK_FALSE(check_own_directory(folder.path() + "/none", "the book").ok());
}
