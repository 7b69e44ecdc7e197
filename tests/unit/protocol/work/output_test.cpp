// SPDX-License-Identifier: Apache-2.0
#include "protocol/work/output.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
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
    auto folder = opened(base / "made", 10);
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

TEST_CASE("rs R-176 a tenth of a filesystem is left to others, 64 MiB at most") {
    constexpr std::uint64_t kMiB = 1U << 20U;
    CHECK(least_free(100 * kMiB) == 10 * kMiB);
    CHECK(least_free(640 * kMiB) == 64 * kMiB);
    CHECK(least_free(1ULL << 50U) == 64 * kMiB);
    CHECK(least_free(0) == 0);
    const Folder base;
    const Descriptor folder{::open(base.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
    const auto space = disk_space_of(folder.get());
    REQUIRE(space);
    CHECK(space->size >= space->free);
    CHECK(space->size > 0);
    CHECK_FALSE(disk_space_of(-1));
}

TEST_CASE("rs R-176 the filesystem is asked for its space once for each 64 KiB, and each time while it is short") {
    DiskSpace space{1000, 1000};
    int asked = 0;
    std::vector<bool> changes;
    FreeSpace free{[&] {
        ++asked;
        return std::optional{space};
    }};
    free.on_change([&](bool is_short, const DiskSpace& /*space*/) { changes.push_back(is_short); });
    for (int i = 0; i < 1 << 16; ++i) REQUIRE(free.allows(1));
    CHECK(asked == 1);
    space.free = 99; // a tenth is 100
    CHECK_FALSE(free.allows(1));
    CHECK(asked == 2);
    space.free = 124; // not a quarter more
    CHECK_FALSE(free.allows(1));
    CHECK(asked == 3);
    space.free = 125;
    CHECK(free.allows(1));
    CHECK(free.allows(1));
    CHECK(asked == 4);
    CHECK(changes == std::vector<bool>{true, false});
    space.free = 100; // it is not below
    CHECK(free.allows(1U << 20U));
    CHECK(FreeSpace{[] { return std::optional<DiskSpace>{}; }}.allows(1)); // nothing is known
}

TEST_CASE("rs R-176 while the filesystem is nearly full output is dropped, and the file says so afterwards") {
    const Folder base;
    DiskSpace space{99U << 20U, 1000U << 20U}; // 64 MiB are left to others
    auto opened_folder = OutputFolder::open(base / "made", 1000, [&] { return std::optional{space}; });
    REQUIRE(opened_folder.ok());
    auto folder = std::move(opened_folder).value();
    std::vector<std::string> said;
    folder.on_shortage([&](bool is_short, const std::string& sentence) {
        said.push_back((is_short ? "short " : "over ") + sentence);
    });
    auto file = folder.file("a");
    REQUIRE(file.ok());
    (*file)->write("first");
    space.free = 3U << 20U;
    const std::string large(70'000, 'x'); // more than is written unasked
    (*file)->write(large);
    (*file)->write("second");
    CHECK(read(base / "made/a") == "first");
    const std::string made = base / "made";
    CHECK(said == std::vector<std::string>{"short " + made +
                                           ": the output of commands is dropped, and they go on: of its filesystem 3 "
                                           "MiB are free, and the last 64 MiB are left to others; remove or move what "
                                           "fills it"});
    auto other = folder.file("b"); // of the same filesystem
    REQUIRE(other.ok());
    (*other)->write("lost");
    CHECK(read(base / "made/b").empty());
    CHECK(said.size() == 1);
    space.free = 99U << 20U;
    (*file)->write("third");
    CHECK(read(base / "made/a") == "first" + gap_text(70'006) + "third");
    REQUIRE(said.size() == 2);
    CHECK(said[1] == "over " + made + ": the output of commands is written again");
    other->reset(); // it writes nothing more, and says what it lost
    CHECK(read(base / "made/b") == gap_text(4));
    (*file)->write(std::string(2000, 'y'));
    CHECK(read(base / "made/a").size() == 1000 + limit_text(1000).size());
}

TEST_CASE("links and what is no file are refused") {
    const Folder base;
    auto folder = opened(base.path(), 100);
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

TEST_CASE("rs R-176 of many files the oldest go that nobody writes") {
    const Folder base;
    auto folder = opened(base / "made", 1000);
    folder.keep_at_most(10);
    auto first = folder.file("first");
    REQUIRE(first.ok());
    (*first)->write("a");
    constexpr int kFiles = 600; // the folder is looked over after each 256
    for (int i = 0; i < kFiles; ++i) REQUIRE(folder.file("f" + std::to_string(i)).ok());
    std::size_t left = 0;
    for (const auto& each : std::filesystem::directory_iterator{base / "made"})
        left += each.is_regular_file() ? 1U : 0U;
    CHECK(left < 10 + 256 + 1);
    CHECK(std::filesystem::exists(base / "made/first"));
}

TEST_CASE("rs R-176 the file of an allocation has a name of its own, and its parts are read") {
    si::Allocation allocation;
    allocation.partition_name = "[rm]default";
    allocation.application_id = "app/1";
    allocation.allocation_key = "k";
    CHECK(output_file_name(allocation) == "app%2F1+k.log");
    allocation.partition_name = std::string(300, '.');
    allocation.application_id = std::string(300, '/');
    allocation.allocation_key = std::string(300, '%');
    CHECK(output_file_name(allocation).size() + 4 <= 255); // with .old
    const Folder base;
    auto folder = opened(base / "made", 1000);
    auto file = folder.file("f");
    REQUIRE(file.ok());
    (*file)->write("0123456789");
    const auto part = [&](std::uint64_t offset, std::size_t most) {
        const auto read = read_output(base / "made", "f", offset, most);
        REQUIRE(read.ok());
        REQUIRE(*read);
        CHECK((*read)->size == 10);
        return (*read)->text;
    };
    CHECK(part(0, 4) == "0123");
    CHECK(part(8, 4) == "89");
    CHECK(part(10, 4).empty());
    CHECK(part(1ULL << 62U, 4).empty());
    const auto none = read_output(base / "made", "g", 0, 4);
    REQUIRE(none.ok());
    CHECK_FALSE(*none);
    CHECK_FALSE(read_output(base.path(), "made", 0, 4).ok());
}

} // namespace
} // namespace yk::work
