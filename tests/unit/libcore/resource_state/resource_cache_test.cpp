// SPDX-License-Identifier: Apache-2.0
#include "libcore/resource_state/resource_cache.h"

#include <memory>
#include <set>
#include <type_traits>
#include <utility>

#include <catch2/catch.hpp>

#include "libcore/resource_state/resource_informer.h"
#include "tests/support/resource_state/albums.h"

namespace yk::testing {
namespace {

using Cache = rs::ResourceCache<Album>;

Cache::Entry entry(Album object) {
    return {std::make_shared<const Album>(std::move(object)), 0, 0, 0};
}

} // namespace

TEST_CASE("rs R-057 an object that was got stays as it was while the cache moves on") {
    Cache cache;
    cache.put(entry(album("a", "Blue")));
    const auto held = cache.get("a");
    cache.put(entry(album("a", "Green")));
    CHECK(held->title == "Blue");
    CHECK(cache.get("a")->title == "Green");
    cache.erase("a");
    CHECK(held->title == "Blue");
    CHECK(cache.get("a") == nullptr);
    CHECK(cache.size() == 0);
}

TEST_CASE("rs R-062 who has an informer has its cache to read from, and nothing else changes that") {
    using Got = decltype(std::declval<rs::ResourceInformer<Album>&>().cache());
    CHECK(std::is_same_v<Got, const Cache&>);
    using Seen = decltype(std::declval<const rs::ResourceReconciler<Album>&>().queue());
    CHECK(std::is_const_v<std::remove_reference_t<Seen>>);
    CHECK_FALSE(std::is_copy_constructible_v<Cache>); // no second one of which the reconciler does not know
    CHECK(std::is_same_v<rs::Ptr<Album>, std::shared_ptr<const Album>>);
}

TEST_CASE("rs R-059 an index gives pages in the order of its keys, whatever changes between them") {
    Cache cache;
    const auto& by_title = cache.add_index<std::string>([](const Album& one) { return &one.title; });
    for (const char* title : {"Green", "Blue", "Red", "Aqua"}) cache.put(entry(album(title, title)));
    const auto page = [&](const std::string& after, std::size_t most) {
        std::string titles;
        for (const auto& each : cache.list_after(by_title, after, most)) titles += each->title + ' ';
        return titles;
    };
    CHECK(page("", 2) == "Aqua Blue ");
    CHECK(page("Blue", 2) == "Green Red ");
    CHECK(page("Red", 2).empty());
    cache.erase("Blue");
    cache.put(entry(album("Cyan", "Cyan")));
    CHECK(page("Blue", 9) == "Cyan Green Red ");
    CHECK(page("", 0).empty());
}

TEST_CASE("rs R-059 an index follows each change, and never leads to what has gone") {
    Cache cache;
    const auto& by_title = cache.add_index<std::string>([](const Album& one) { return &one.title; });
    const auto& by_year = cache.add_index<int>([](const Album& one) { return one.year == 0 ? nullptr : &one.year; });
    cache.put(entry(album("a", "Blue", 1971)));
    cache.put(entry(album("b", "Blue", 0)));
    const auto titled = [&](const std::string& title) { return cache.list(by_title, title).size(); };
    CHECK(titled("Blue") == 2);
    CHECK(cache.list(by_year, 1971).size() == 1);
    CHECK(cache.list(by_year, 0).empty()); // of no year is under none
    CHECK(cache.check().empty());
    cache.put(entry(album("a", "Green", 1980)));
    CHECK(titled("Blue") == 1);
    CHECK(cache.list(by_title, std::string{"Green"}).at(0)->meta.id == "a");
    CHECK(cache.list(by_year, 1971).empty());
    CHECK(cache.list(by_year, 1980).at(0)->meta.id == "a");
    cache.put(entry(album("b", "Blue", 1980)));
    CHECK(cache.list(by_year, 1980).size() == 2);
    cache.put(entry(album("a", "Green", 0)));
    CHECK(cache.list(by_year, 1980).at(0)->meta.id == "b");
    CHECK(cache.check().empty());
    cache.erase("a");
    CHECK(titled("Green") == 0);
    cache.begin_load();
    cache.load(entry(album("c", "Red")));
    CHECK(titled("Blue") == 1); // the old content stays until the new one is whole
    cache.end_load();
    CHECK(titled("Blue") == 0);
    CHECK(titled("Red") == 1);
    CHECK(cache.check().empty());
}

TEST_CASE("a walk in slices meets what is there all the time exactly once") {
    Cache cache;
    for (int each = 0; each < 1000; ++each) cache.put(entry(album("id" + std::to_string(each))));
    std::multiset<std::string> met;
    int changes = 0;
    for (Cache::Slot at = 0; at < cache.end();) {
        at = cache.for_each_from(at, 10, [&](const rs::Ptr<Album>& one) { met.insert(one->meta.id); });
        cache.put(entry(album("new" + std::to_string(changes))));
        if (changes % 2 == 0) cache.erase("id" + std::to_string(changes));
        ++changes;
        if (changes > 5000) break;
    }
    CHECK(changes < 5000);
    for (int each = 500; each < 1000; ++each) CHECK(met.count("id" + std::to_string(each)) == 1);
    CHECK(cache.check().empty());
}

TEST_CASE("rs R-061 a cache finds what it has among many") {
    Cache cache;
    for (int each = 0; each < 5000; ++each) cache.put(entry(album("id" + std::to_string(each), "t", each)));
    for (int each = 0; each < 5000; each += 2) cache.erase("id" + std::to_string(each));
    CHECK(cache.size() == 2500);
    for (int each = 0; each < 5000; ++each)
        CHECK((cache.get("id" + std::to_string(each)) != nullptr) == (each % 2 == 1));
    CHECK(cache.list([](const Album& one) { return one.year < 10; }).size() == 5);
    CHECK(cache.check().empty());
}

} // namespace yk::testing
