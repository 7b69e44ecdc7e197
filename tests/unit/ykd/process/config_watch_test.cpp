// SPDX-License-Identifier: Apache-2.0
#include "ykd/process/config_watch.h"

#include <catch2/catch.hpp>
#include <unistd.h>

#include <cstdio>
#include <fstream>

using namespace yk::service;

namespace {

struct WatchedFiles {
    WatchedFiles() { REQUIRE(::mkdtemp(path.data()) != nullptr); }
    ~WatchedFiles() {
        std::remove(file().c_str());
        ::rmdir(path.c_str());
    }
    [[nodiscard]] std::string file() const { return path + "/queues.yaml"; }
    void write(const std::string& text) const { std::ofstream(file()) << text; }

    std::string path = "/tmp/yk-watch.XXXXXX";
};

} // namespace

TEST_CASE("C-469 --watch-config tells a change once, when the file was the same at two looks") {
    const WatchedFiles folder;
    folder.write("a");
    ConfigWatch watch({folder.file()});
    CHECK_FALSE(watch.changed());
    folder.write("ab");
    CHECK_FALSE(watch.changed()); // may still be written
    folder.write("abc");
    CHECK_FALSE(watch.changed());
    CHECK(watch.changed());
    CHECK_FALSE(watch.changed());
}

TEST_CASE("C-469 --watch-config: a file that is gone is no change, its successor is") {
    const WatchedFiles folder;
    folder.write("a");
    ConfigWatch watch({folder.file()});
    std::remove(folder.file().c_str());
    CHECK_FALSE(watch.changed());
    CHECK_FALSE(watch.changed());
    folder.write("longer");
    CHECK_FALSE(watch.changed());
    CHECK(watch.changed());
}
