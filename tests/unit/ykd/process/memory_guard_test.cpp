// SPDX-License-Identifier: Apache-2.0
#include "ykd/process/memory_guard.h"

#include <catch2/catch.hpp>
#include <fcntl.h>
#include <sys/mman.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "protocol/posix/descriptor.h"

using namespace yk::service;

namespace {

constexpr std::uint64_t kMiB = 1U << 20;

struct Groups {
    std::string root = "/tmp/yk.XXXXXX";
    Groups() {
        REQUIRE(::mkdtemp(root.data()) != nullptr);
        std::filesystem::create_directories(root + "/system.slice/ykd.service");
    }
    ~Groups() { std::filesystem::remove_all(root); }
    void write(const std::string& file, const std::string& text) const {
        std::ofstream(root + "/system.slice/" + file) << text;
    }
};

} // namespace

TEST_CASE("A10 when the process has too much nobody grows but who has little") {
    MemoryGuard guard(1920 * kMiB);
    guard.note(1920 * kMiB);
    CHECK_FALSE(guard.is_short());
    CHECK(guard.is_near());
    CHECK(guard.admits(1000 * kMiB));
    guard.note(1930 * kMiB);
    CHECK(guard.is_short());
    CHECK_FALSE(guard.admits(10 * kMiB + 1));
    CHECK(guard.admits(10 * kMiB));
    CHECK(guard.sentence() == "ykd has 1.88 GiB of memory, of at most 1.88 GiB (maxMemory)");
    guard.note(1850 * kMiB);
    CHECK(guard.is_short()); // a little has to be free
    guard.note(1820 * kMiB);
    CHECK_FALSE(guard.is_short());
    CHECK_FALSE(MemoryGuard(64 * kMiB).is_near());
    CHECK(MemoryGuard(64 * kMiB).always() == 4 * kMiB);
}

TEST_CASE("A10 the limit is that of the control group or of one above it") {
    const Groups groups;
    const auto limits = [&] { return limits_of_group(groups.root, "/system.slice/ykd.service"); };
    CHECK(limits().max == UINT64_MAX);
    CHECK(limits().high == UINT64_MAX);
    groups.write("ykd.service/memory.max", "max\n");
    groups.write("ykd.service/memory.high", "6442450944\n");
    groups.write("memory.max", "4294967296\n");
    CHECK(limits().max == 4096 * kMiB);
    CHECK(limits().high == 6144 * kMiB);
    groups.write("ykd.service/memory.max", "1073741824\n");
    CHECK(limits().max == 1024 * kMiB);
}

TEST_CASE("A10 what is mapped of files is not the process's own: the system has it back at any time") {
    const Groups folder;
    const std::string path = folder.root + "/mapped";
    std::ofstream{path}.close();
    std::filesystem::resize_file(path, 32 * kMiB);
    const std::uint64_t own = own_memory(), resident = resident_memory();
    const yk::Descriptor file{::open(path.c_str(), O_RDONLY | O_CLOEXEC)};
    void* const bytes = ::mmap(nullptr, 32 * kMiB, PROT_READ, MAP_SHARED | MAP_POPULATE, file.get(), 0);
    REQUIRE(bytes != MAP_FAILED);
    CHECK(resident_memory() >= resident + 24 * kMiB);
    CHECK(own_memory() < own + 8 * kMiB);
    ::munmap(bytes, 32 * kMiB);
}

TEST_CASE("A10 what the process has and may have can be read here") {
    CHECK(resident_memory() > kMiB);
    CHECK(default_memory_limit() > 64 * kMiB);
    CHECK(default_memory_limit() < UINT64_MAX / 4 * 3);
}
