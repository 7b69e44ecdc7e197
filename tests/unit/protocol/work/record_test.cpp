// SPDX-License-Identifier: Apache-2.0
#include "protocol/work/record.h"

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>

#include "tests/unit/protocol/work/running.h"

namespace yk::work {
namespace {

Record opened(const std::string& path) {
    auto record = Record::open(path);
    INFO((record.ok() ? std::string{} : record.error().text()));
    REQUIRE(record.ok());
    return std::move(record).value();
}

/// A command as its own session, with a child that is known by its environment; nobody guards it.
struct Left {
    Left() {
        std::array<int, 2> ends{};
        REQUIRE(::pipe(ends.data()) == 0);
        leader = ::fork();
        REQUIRE(leader >= 0);
        if (leader == 0) {
            ::setsid();
            ::dup2(ends[1], 1);
            ::close(ends[0]);
            ::close(ends[1]);
            const char* const environment[] = {"PATH=/usr/bin:/bin", "YK_ALLOCATION_KEY=a", nullptr};
            ::execle("/bin/sh", "sh", "-c", "sleep 1000 >/dev/null & echo $!; exec sleep 1000", nullptr, environment);
            ::_exit(127);
        }
        ::close(ends[1]);
        std::array<char, 32> text{};
        REQUIRE(::read(ends[0], text.data(), text.size() - 1) > 0);
        ::close(ends[0]);
        child = std::stoi(text.data());
    }
    void reap_leader() const { REQUIRE(::waitpid(leader, nullptr, 0) == leader); }
    pid_t leader = 0, child = 0;
};

TEST_CASE("the next process ends what was left, with its children") {
    const Folder folder;
    const Left left;
    {
        Record record = opened(folder / "r");
        CHECK(*record.end_left_over() == 0);
        REQUIRE(record.add(left.leader).ok());
    }
    SECTION("its leader runs") {
        Record record = opened(folder / "r");
        CHECK(*record.end_left_over() == 2);
        left.reap_leader();
    }
    SECTION("its leader has ended") {
        ::kill(left.leader, SIGKILL);
        left.reap_leader();
        Record record = opened(folder / "r");
        CHECK(*record.end_left_over() == 1);
    }
    await_gone(left.child);
    Record record = opened(folder / "r");
    CHECK(*record.end_left_over() == 0);
}

TEST_CASE("what is not surely its own is left alone") {
    const Folder folder;
    const Left left;
    {
        Record record = opened(folder / "r");
        CHECK(*record.end_left_over() == 0);
        REQUIRE(record.add(left.leader).ok());
        SECTION("it was taken out") {
            record.remove(left.leader);
        }
        SECTION("the number was given to another process since") {
            std::fstream file{folder / "r", std::ios::in | std::ios::out};
            file.seekp(48);
            file << left.leader << " 1                 ";
        }
        SECTION("the machine was started anew") {
            std::fstream file{folder / "r", std::ios::in | std::ios::out};
            file << "00000000-0000-0000-0000-000000000000";
        }
        SECTION("it is no record") {
            std::ofstream{folder / "r"} << "something\nelse 1 2 3\n\n-1 -1\n";
        }
    }
    Record record = opened(folder / "r");
    const auto ended = record.end_left_over();
    REQUIRE(ended.ok());
    CHECK(*ended == 0);
    CHECK(is_alive(left.leader));
    CHECK(is_alive(left.child));
    ::kill(-left.leader, SIGKILL);
    left.reap_leader();
}

TEST_CASE("the file has a line for what runs at once, and no more") {
    const Folder folder;
    Record record = opened(folder / "r");
    CHECK(*record.end_left_over() == 0);
    for (int i = 0; i < 1000; ++i) {
        REQUIRE(record.add(::getpid()).ok());
        record.remove(::getpid());
    }
    CHECK(std::filesystem::file_size(folder / "r") == 96);
}

TEST_CASE("a link is no record") {
    const Folder folder;
    std::ofstream{folder / "victim"} << "precious";
    REQUIRE(::symlink((folder / "victim").c_str(), (folder / "r").c_str()) == 0);
    CHECK_FALSE(Record::open(folder / "r").ok());
    REQUIRE(::link((folder / "victim").c_str(), (folder / "hard").c_str()) == 0);
    CHECK_FALSE(Record::open(folder / "hard").ok());
}

} // namespace
} // namespace yk::work
