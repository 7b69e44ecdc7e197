// SPDX-License-Identifier: Apache-2.0
#include "ykd/service/book_shelf.h"

#include <filesystem>

#include <catch2/catch.hpp>

#include "protocol/wire/codec.h"
#include "tests/support/system/few_descriptors.h"
#include "tests/support/system/temp_dir.h"

using namespace yk;
using namespace yk::service;
using namespace yk::testing;

namespace {

std::string all_of(const Degraded& degraded) {
    std::string all;
    for (const std::string& each : degraded.list()) all += each + "\n";
    return all;
}

} // namespace

TEST_CASE("I-268 books whose removal a loss of power may undo are named") {
    const TempDir folder;
    Degraded degraded;
    BookShelf shelf(folder.path(), degraded);
    REQUIRE(shelf.open().ok());
    REQUIRE(shelf.begin("rm").ok());
    {
        const FewDescriptors none(0);
        shelf.remove("rm");
    }
    CHECK(std::filesystem::is_empty(folder.path("books")));
    CHECK(all_of(degraded).find("the RM would be back after a loss of power") != std::string::npos);
    REQUIRE(shelf.begin("rm").ok()); // it registers anew
    shelf.remove("rm");
    CHECK(all_of(degraded).empty());
}

TEST_CASE(
    "I-268 books that are still there are not gone on with, and those under the name of another RM are left alone") {
    const TempDir folder;
    Degraded degraded;
    const std::string own = [&] {
        BookShelf shelf(folder.path(), degraded);
        REQUIRE(shelf.open().ok());
        const auto keeper = shelf.begin("rm");
        REQUIRE(keeper.ok());
        si::RegisterResourceManagerRequest request;
        request.rm_id = "rm";
        (*keeper)->note_setting("registration", wire::encoded(request));
        (*keeper)->note({1, "sum", "origin", "text"}, {"default"});
        return std::filesystem::directory_iterator(folder.path("books"))->path().string();
    }();
    std::filesystem::copy_file(own, folder.path("books/copy.books"));
    BookShelf shelf(folder.path(), degraded);
    REQUIRE(shelf.open().ok());
    const auto found = shelf.find();
    REQUIRE(found.size() == 1);
    CHECK(found.front().path == own);
    CHECK(all_of(degraded).find("copy.books: they are of RM rm, whose books are " + own) != std::string::npos);
    const auto again = shelf.begin("rm");
    REQUIRE_FALSE(again.ok());
    CHECK(again.error().message == "the former books of the RM are still there: " + own);
}
