// SPDX-License-Identifier: Apache-2.0
#include "ykd/state/kept_files.h"

#include <catch2/catch.hpp>

#include <sys/stat.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <thread>

#include "tests/support/comes_true.h"
#include "tests/support/system/few_descriptors.h"

using namespace yk;
using namespace yk::service;
using namespace yk::testing;

namespace {

struct Folder {
    std::string path = "/tmp/yk.XXXXXX";
    Folder() { REQUIRE(::mkdtemp(path.data()) != nullptr); }
    ~Folder() { std::filesystem::remove_all(path); }
    [[nodiscard]] std::string file(const std::string& name = "file") const { return path + "/" + name; }
    [[nodiscard]] std::size_t size() const {
        return static_cast<std::size_t>(std::distance(std::filesystem::directory_iterator(path), {}));
    }
};

void put(const std::string& path, const std::string& bytes) {
    std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

/// `damaged`, `newer`, `unreadable`, or the text.
std::string outcome_of(const std::string& path, std::string_view what = "word") {
    const auto read = read_kept_file(path, what);
    if (read.ok()) return *read ? "text " + **read : "none";
    CHECK(read.error().message.find(path) == 0);
    switch (read.error().kind) {
    case KeptFault::Kind::Damaged: return "damaged";
    case KeptFault::Kind::Newer: return "newer";
    case KeptFault::Kind::Unreadable: return "unreadable";
    }
    return {};
}

} // namespace

TEST_CASE("I-270 a file has what was written, and nobody else may read it") {
    const Folder folder;
    CHECK(outcome_of(folder.file()) == "none");
    for (const std::string& text : {std::string{}, std::string{"a\nb\0c", 5}, std::string(100'000, 'x')}) {
        REQUIRE(write_kept_file(folder.file(), "word", text).ok());
        CHECK(outcome_of(folder.file()) == "text " + text);
    }
    struct stat info {};
    REQUIRE(::stat(folder.file().c_str(), &info) == 0);
    CHECK((info.st_mode & 07777U) == 0600);
    CHECK(folder.size() == 1);
}

TEST_CASE("I-270 damage of any byte is found, and so are missing and further ones") {
    const Folder folder;
    const std::string good = kept_form_of("word", "some text\nof two lines");
    for (std::size_t i = 0; i < good.size(); ++i) {
        for (const int bit : {0x01, 0x80}) {
            INFO("byte " << i << ", bit " << bit);
            std::string bytes = good;
            bytes[i] = static_cast<char>(bytes[i] ^ bit);
            put(folder.file(), bytes);
            CHECK(outcome_of(folder.file()) == "damaged");
        }
        INFO("cut at byte " << i);
        put(folder.file(), good.substr(0, i));
        CHECK(outcome_of(folder.file()) == "damaged");
    }
    for (const std::string& bytes : {good + "x", good + std::string(1, '\0'), "x" + good, good + good,
                                     std::string(1000, '\n'), std::string(1000, '\0')}) {
        put(folder.file(), bytes);
        CHECK(outcome_of(folder.file()) == "damaged");
    }
    put(folder.file(), good);
    CHECK(outcome_of(folder.file(), "other") == "damaged"); // a file of something else under this name
    CHECK(outcome_of(folder.file()) == "text some text\nof two lines");
}

TEST_CASE("I-270 a whole file of another version is told from a damaged one") {
    const Folder folder;
    put(folder.file(), kept_form_of("word", "of a later version", 2));
    CHECK(outcome_of(folder.file()) == "newer");
    put(folder.file(), kept_form_of("another-word", "of a later version", 77));
    CHECK(outcome_of(folder.file()) == "newer");
    CHECK(read_kept_file(folder.file(), "word").error().message ==
          folder.file() + " was written by another ykd, in version 77; this one knows version 1");
    std::string bytes = kept_form_of("word", "of a later version", 2);
    bytes.back() = 'x';
    put(folder.file(), bytes);
    CHECK(outcome_of(folder.file()) == "damaged");
    std::filesystem::create_directory(folder.file("folder"));
    CHECK(outcome_of(folder.file("folder")) == "unreadable");
    std::filesystem::create_symlink(folder.file(), folder.file("link")); // somebody put it there
    CHECK(outcome_of(folder.file("link")) == "unreadable");
}

TEST_CASE("I-270 a file that cannot be written stays as it was") {
    const Folder folder;
    REQUIRE(write_kept_file(folder.file(), "word", "before").ok());
    std::filesystem::create_directories(folder.file(".file.tmp") + "/full"); // nothing can be made under this name
    const auto failed = write_kept_file(folder.file(), "word", "after");
    REQUIRE_FALSE(failed.ok());
    CHECK(failed.error().message.find("cannot write " + folder.file() + ": ") == 0);
    CHECK(outcome_of(folder.file()) == "text before");
}

TEST_CASE("I-270 a file that has its name already, when the disk fails, is told from one that stayed as it was") {
    const Folder folder;
    REQUIRE(write_kept_file(folder.file(), "word", "before").ok());
    const auto failed = [&] {
        const FewDescriptors few(1); // none for the folder
        return write_kept_file(folder.file(), "word", "after");
    }();
    REQUIRE_FALSE(failed.ok());
    CHECK(failed.error().message == folder.file() + " is written, but a loss of power may undo that: its folder cannot "
                                                    "be synced: Too many open files");
    CHECK(outcome_of(folder.file()) == "text after");
    CHECK(folder.size() == 1);
}

namespace {

KeptFiles::MakeText text(std::string text) {
    return [text = std::move(text)] { return text; };
}

/// What was reported of files that cannot be written.
struct Faults {
    std::mutex mutex;
    std::string last;
    std::atomic<int> good{0}, bad{0};
    KeptFiles::OnFault listener() {
        return [this](const std::string&, const std::string& fault) {
            ++(fault.empty() ? good : bad);
            const std::lock_guard lock(mutex);
            last = fault;
        };
    }
};

} // namespace

TEST_CASE("I-270 what was put last is written, read before it is, and waited for") {
    const Folder folder;
    Faults faults;
    KeptFiles files(faults.listener());
    files.put(folder.file(), "word", text("before the thread runs"));
    CHECK(**files.read(folder.file(), "word") == "before the thread runs");
    files.start();
    for (int i = 0; i < 100; ++i) files.put(folder.file(), "word", text(std::to_string(i)));
    CHECK(**files.read(folder.file(), "word") == "99");
    std::atomic<bool> written{false};
    files.when_written([&] { written = true; });
    CHECK(comes_true([&] { return written.load(); }));
    CHECK(outcome_of(folder.file()) == "text 99");
    CHECK(faults.good < 100); // those in between are left out
    files.remove(folder.file());
    CHECK(!*files.read(folder.file(), "word"));
    files.put(folder.file("other"), "word", text("last"));
    files.stop();
    CHECK(outcome_of(folder.file()) == "none");
    CHECK(outcome_of(folder.file("other")) == "text last");
    CHECK(faults.bad == 0);
}

TEST_CASE("I-270 who waits for a file waits no longer than the disk takes, whenever that began") {
    constexpr int kRounds = 200;
    const Folder folder;
    Faults faults;
    KeptFiles files(faults.listener());
    files.start();
    const auto begun = std::chrono::steady_clock::now();
    for (int i = 0; i < kRounds; ++i) {
        files.put(folder.file(), "word", text("x"));
        if (i % 2 == 0) std::this_thread::yield(); // it may be under way by now
        std::atomic<bool> written{false};
        files.when_written([&] { written = true; });
        REQUIRE(comes_true([&] { return written.load(); }));
    }
    CHECK(std::chrono::steady_clock::now() - begun < kPatience); // not one look of a second each
}

TEST_CASE("I-270 a file that cannot be written is tried again until it can, and keeps nobody waiting") {
    const Folder folder;
    const std::string path = folder.file("missing") + "/file";
    Faults faults;
    KeptFiles files(faults.listener());
    files.start();
    files.put(path, "word", text("first"));
    std::atomic<bool> tried{false};
    files.when_written([&] { tried = true; });
    CHECK(comes_true([&] { return tried.load(); }));
    CHECK(faults.bad >= 1);
    CHECK(**files.read(path, "word") == "first");
    files.put(path, "word", text("second"));
    std::filesystem::create_directory(folder.file("missing"));
    CHECK(comes_true([&] { return outcome_of(path) == "text second"; }));
    files.stop();
    const std::lock_guard lock(faults.mutex);
    CHECK(faults.last.empty());
}

TEST_CASE("I-270 a file is not taken for removed before the disk knows it") {
    const Folder folder;
    Faults faults;
    KeptFiles files(faults.listener());
    files.start();
    REQUIRE(write_kept_file(folder.file(), "word", "text").ok());
    {
        const FewDescriptors none(0); // for the folder
        files.remove(folder.file());
        CHECK(comes_true([&] { return faults.bad >= 1; }));
        const std::lock_guard lock(faults.mutex);
        CHECK(faults.last == folder.file() + " is removed, but a loss of power may bring it back: its folder cannot be "
                                             "synced: Too many open files");
    }
    CHECK(comes_true([&] { return faults.good >= 1; })); // it is tried again
    CHECK(outcome_of(folder.file()) == "none");
}
