// SPDX-License-Identifier: Apache-2.0
#include "ykd/audit/audit_log.h"

#include <catch2/catch.hpp>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>

#include "tests/support/comes_true.h"
#include "tests/support/system/temp_dir.h"

using namespace yk;
using namespace yk::service;
using yk::wire::Value;

namespace {

Value record(const std::string& what, const std::string& outcome = "ok", const std::string& who = "uid 0") {
    return {{"who", who}, {"what", what}, {"outcome", outcome}};
}

std::vector<std::string> whats(AuditLog& log, std::uint64_t from = 0, std::size_t count = 100'000) {
    std::vector<std::string> texts;
    for (const Value& each : log.read(from, count).records) texts.push_back(each["what"]);
    return texts;
}

} // namespace

TEST_CASE("audit: records are numbered, and read in pages") {
    Degraded degraded;
    AuditLog log{{}, "", degraded};
    for (const char* what : {"a", "b", "c"}) log.add(record(what), Instant{7});
    const auto page = log.read(1, 2);
    REQUIRE(page.records.size() == 2);
    CHECK(page.records[0] == Value{{"n", 1}, {"at", 7}, {"who", "uid 0"}, {"what", "a"}, {"outcome", "ok"}});
    CHECK(page.next == 3);
    CHECK(page.lost == 0);
    CHECK(whats(log, 3) == std::vector<std::string>{"c"});
    CHECK(log.read(4, 10).records.empty());
    CHECK(log.read(99, 10).next == 4);
    CHECK(log.first_of_last(2) == 2);
    CHECK(log.first_of_last(50) == 1);
}

TEST_CASE("audit: the last ones are kept in memory, and what is gone is counted") {
    Degraded degraded;
    AuditLog log{{}, "", degraded};
    for (std::size_t i = 0; i < AuditLog::kKept + 5; ++i) log.add(record("x"), Instant{0});
    const auto page = log.read(1, 1);
    CHECK(page.records.at(0)["n"] == 6);
    CHECK(page.lost == 5);
    CHECK(log.read(0, 1).lost == 0);
}

TEST_CASE("audit: a restart reads the last records back, also over a rotation and a broken line") {
    const testing::TempDir folder;
    const std::string file = folder.path() + "/audit.jsonl";
    Degraded degraded;
    AuditSettings settings;
    settings.max_bytes = 4096;
    settings.files = 3;
    {
        AuditLog log{settings, file, degraded};
        for (int i = 0; i < 200; ++i) log.add(record(std::to_string(i)), Instant{i});
    }
    std::ofstream(file, std::ios::app) << "{\"n\":201,\"cut sho\n";
    struct stat info {};
    REQUIRE(::stat(file.c_str(), &info) == 0);
    CHECK((info.st_mode & 0777U) == 0600);
    std::size_t files = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder.path())) {
        CHECK(entry.file_size() < 4096 + 200);
        ++files;
    }
    CHECK(files == 3);
    AuditLog log{settings, file, degraded};
    log.add(record("after"), Instant{0});
    const auto all = whats(log);
    REQUIRE(all.size() > 20);
    CHECK(all.back() == "after");
    CHECK(all[all.size() - 2] == "199");
    CHECK(log.read(201, 1).records.at(0)["n"] == 201);
    CHECK(degraded.list().empty());
}

TEST_CASE("audit: a disk that takes nothing is said, and records stay in memory") {
    Degraded degraded;
    AuditLog log{{}, "/dev/full", degraded};
    log.add(record("a"), Instant{0});
    CHECK(whats(log) == std::vector<std::string>{"a"});
    REQUIRE(testing::comes_true([&] { return degraded.list().size() == 1; }));
    CHECK(degraded.list()[0].find("the audit log /dev/full cannot be written") == 0);
    AuditLog nowhere{{}, "/dev/null/audit.jsonl", degraded};
    nowhere.add(record("b"), Instant{0});
    CHECK(whats(nowhere) == std::vector<std::string>{"b"});
    CHECK(degraded.list()[0].find("the audit log /dev/null/audit.jsonl cannot be opened") == 0);
}

TEST_CASE("audit: who is refused again and again pushes nobody out") {
    Degraded degraded;
    AuditLog log{{}, "", degraded};
    log.add(record("drain"), Instant{0});
    for (int i = 0; i < 20'000; ++i) log.add(record("try", "E_FORBIDDEN", "uid 66"), Instant{0});
    log.add(record("undrain"), Instant{0});
    const auto all = whats(log);
    CHECK(all.size() == 12);
    CHECK(all.front() == "drain");
    CHECK(all.back() == "undrain");
}
