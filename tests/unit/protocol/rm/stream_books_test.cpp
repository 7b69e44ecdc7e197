// SPDX-License-Identifier: Apache-2.0
#include "protocol/rm/stream_books.h"

#include <fstream>

#include <catch2/catch.hpp>

#include "protocol/si/request_item.h"
#include "protocol/wire/body_reader.h"
#include "tests/support/books_folder.h"

namespace yk::testing {

using rm::group_at_front;
using rm::StreamBooks;
using wire::Value;

namespace {

si::StreamItem item_of(std::uint64_t n, std::string_view kind, const Value& body) {
    si::StreamItem item;
    item.n = n;
    item.kind = kind;
    item.body.bytes = wire::encoded_value(body);
    return item;
}

si::StreamItem request(std::uint64_t n, unsigned answers) {
    return item_of(n, si::item::kRequest,
                   {{"answers", answers}, {"kind", "UpdateNode"}, {"impersonated", false}, {"body", Value::object()}});
}

std::string why_not(const std::string& path, const std::string& rm_id) {
    const auto opened = StreamBooks::open(path, rm_id);
    return opened.ok() ? std::string{} : opened.error().message;
}

} // namespace

TEST_CASE("I-269 a request and its answers belong together, other items stand alone") {
    const auto answer = [](std::uint64_t n) { return item_of(n, si::item::kUpdateNode, Value::object()); };
    const auto notice = [](std::uint64_t n) { return item_of(n, si::item::kNotice, Value::object()); };
    CHECK(group_at_front({}) == 0);
    CHECK(group_at_front(std::vector{notice(1), notice(2)}) == 1);
    CHECK(group_at_front(std::vector{answer(1), answer(2)}) == 1);
    CHECK(group_at_front(std::vector{request(1, 0), answer(2)}) == 1);
    CHECK(group_at_front(std::vector{request(1, 1), answer(2), answer(3)}) == 2);
    CHECK(group_at_front(std::vector{request(1, 2), answer(2), notice(3), answer(4), answer(5)}) == 4);
    CHECK(group_at_front(std::vector{request(1, 2), answer(2), notice(3)}) == 0);
    const auto strange = item_of(1, si::item::kRequest, {{"answers", "many"}});
    CHECK(group_at_front(std::vector{strange, answer(2)}) == 1);
}

TEST_CASE("I-269 the place in the stream is kept with the books, whatever bytes the boot id has") {
    const BooksFolder folder;
    const std::string boot{"a\nb\0\n\n", 6};
    {
        const auto books = StreamBooks::open(folder.file(), "rm").value();
        CHECK(books->position().epoch == 0);
        books->begin({boot, 7, 0});
        books->take(std::vector{request(12, 0)}, false);
        CHECK(books->is_kept());
    }
    const auto books = StreamBooks::open(folder.file(), "rm").value();
    CHECK(books->position().boot_id == boot);
    CHECK(books->position().epoch == 7);
    CHECK(books->position().number == 12);
}

TEST_CASE("I-114 I-269 of two elements about one ask the one that was refused changes nothing in the books") {
    const BooksFolder folder;
    const auto books = StreamBooks::open(folder.file(), "rm").value();
    const auto sent = [](std::uint64_t n, std::string_view kind, unsigned answers, const Value& body) {
        return item_of(n, si::item::kRequest,
                       {{"answers", answers}, {"kind", kind}, {"impersonated", false}, {"body", body}});
    };
    const auto ask = [](int vcore) {
        return Value{{"allocationKey", "k"}, {"applicationID", "app"}, {"resourceAsk", {{"vcore", vcore}}}};
    };
    const unsigned refused = GENERATE(0U, 1U);
    const Value rejected{{"allocationKey", "k"}, {"applicationID", "app"}, {"reason", "no"}, {"element", refused}};
    books->take(std::vector{sent(1, "UpdateApplication", 0,
                                 {{"rmID", "rm"}, {"new", Value::array({{{"applicationID", "app"}}})}})},
                false);
    books->take(std::vector{sent(2, "UpdateAllocation", 1, {{"rmID", "rm"}, {"asks", Value::array({ask(1), ask(2)})}}),
                            item_of(3, si::item::kUpdateAllocation, {{"rejected", Value::array({rejected})}})},
                false);
    const auto replay = books->replay();
    REQUIRE(replay.ok());
    CHECK(replay->claim.expected.asks == 1);
    REQUIRE(books->is_kept());
    const std::string kept = refused == 0 ? "\2" : "\1"; // vcore: N, as msgpack has it
    std::string bytes;
    for (const wire::EncodedRequest& each : replay->requests) bytes += each.body;
    CHECK(bytes.find("vcore" + kept) != std::string::npos);
}

TEST_CASE("I-269 a file that is something else is named and left alone") {
    const BooksFolder folder;
    SECTION("another process has it open") {
        const auto books = StreamBooks::open(folder.file(), "rm").value();
        CHECK(why_not(folder.file(), "rm").find("another process uses these books") != std::string::npos);
    }
    SECTION("it has the books of another RM") {
        { const auto books = StreamBooks::open(folder.file(), "other").value(); }
        CHECK(why_not(folder.file(), "rm").find("the books of RM other, not of rm") != std::string::npos);
    }
    SECTION("ykd keeps it") {
        {
            const auto file = folder.open();
            REQUIRE(file->set("registration", "x").ok());
        }
        CHECK(why_not(folder.file(), "rm").find("books that ykd keeps") != std::string::npos);
    }
    SECTION("it is no database") {
        std::ofstream{folder.file()} << std::string(10'000, 'x');
        CHECK(why_not(folder.file(), "rm").find("the books are damaged, or this is another file") != std::string::npos);
    }
    SECTION("its folder is not there") {
        CHECK(why_not("/tmp/yk.nowhere/books", "rm").find("/tmp/yk.nowhere/books: No such file") != std::string::npos);
    }
}

} // namespace yk::testing
