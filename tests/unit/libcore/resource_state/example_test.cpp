// SPDX-License-Identifier: Apache-2.0
// The framework in another program: a painter who makes a cover for each album of a shop. Read it from top to bottom.
//
// The shop writes albums. The painter owns covers: it makes one when an album comes, throws it away when the album has
// gone, and now and then looks for what slipped through.

#include <catch2/catch.hpp>

#include "libcore/resource_state/state_manager.h"
#include "tests/support/resource_state/albums.h"          // 1. the rows, and what the framework has to know of them
#include "tests/support/resource_state/memory_database.h" // 2. the ports: here rows and log in memory
#include "tests/support/resource_state/world.h"

namespace yk::testing {
namespace {

using namespace std::chrono_literals;

/// 3. What the painter does with covers. It reads the caches, and writes only what it owns.
class Painter {
public:
    Painter(rs::ResourceStore<Cover>& covers, const rs::ResourceCache<Cover>& known) : covers_(covers), known_(known) {}

    /// Makes what is missing, and nothing if it is there: this may be called again for what was done already.
    rs::HandlerResult paint(const Album& album) {
        const auto present = known_.get(album.meta.id);
        if (present && present->album_uid == album.meta.uid) return rs::HandlerResult::ok();
        if (present) return burn(*present, true); // it is of an album that had the id before
        Cover cover;
        cover.meta.id = album.meta.id;
        cover.album_uid = album.meta.uid;
        cover.colour = "blue";
        return answer(covers_.insert(self_, cover), false);
    }
    rs::HandlerResult burn(const Cover& cover, bool look_again) {
        return answer(covers_.erase(self_, cover.meta.id, {cover.meta.uid}), look_again);
    }

private:
    static rs::HandlerResult answer(const Result<void, rs::StoreError>& written, bool look_again) {
        if (written.ok()) return look_again ? rs::HandlerResult::again_after(50ms) : rs::HandlerResult::ok();
        if (written.error().fault == rs::StoreFault::Conflict)
            return rs::HandlerResult::conflict(written.error().message);
        return rs::HandlerResult::retry(written.error().message);
    }

    rs::ResourceStore<Cover>& covers_;
    const rs::ResourceCache<Cover>& known_;
    const rs::WriterIdentity self_{"painter"};
};

/// 4. When: an album came, changed or went.
class OnAlbum final : public rs::ResourceEventHandler<Album> {
public:
    OnAlbum(Painter& painter, const rs::ResourceCache<Cover>& covers) : painter_(painter), covers_(covers) {}

    [[nodiscard]] std::string_view name() const override { return "painter"; }
    [[nodiscard]] rs::HandlerResult on_add(const rs::EventContext&, const rs::Ptr<Album>& album) override {
        return painter_.paint(*album);
    }
    [[nodiscard]] rs::HandlerResult on_update(const rs::EventContext&, const rs::Ptr<Album>&,
                                              const rs::Ptr<Album>& album) override {
        return painter_.paint(*album);
    }
    [[nodiscard]] rs::HandlerResult on_delete(const rs::EventContext&, const rs::Ptr<Album>& album) override {
        const auto cover = covers_.get(album->meta.id);
        if (!cover || cover->album_uid != album->meta.uid) return rs::HandlerResult::ok();
        return painter_.burn(*cover, false);
    }

private:
    Painter& painter_;
    const rs::ResourceCache<Cover>& covers_;
};

/// 5. What no event brings up again: covers of albums that went while the painter was not there.
class LostCovers final : public rs::PeriodicReconciler {
public:
    LostCovers(Painter& painter, const rs::ResourceCache<Album>& albums, const rs::ResourceCache<Cover>& covers,
               rs::ResourceStore<Album>& album_rows)
        : painter_(painter), albums_(albums), covers_(covers), album_rows_(album_rows) {}

    [[nodiscard]] std::string_view name() const override { return "lost-covers"; }
    [[nodiscard]] Result<rs::RepairReport> run_once(const rs::PeriodicContext& context) override {
        rs::RepairReport report;
        if (!context.may_conclude) return report; // what is missing in the caches may be in the database
        for (const auto& cover : covers_.list([this](const Cover& each) { return is_lost(each); })) {
            ++report.found;
            // Never for the cache's word alone: the row of the album decides.
            const std::string ids[] = {cover->meta.id};
            const auto rows = album_rows_.read_many(ids);
            if (!rows.ok()) return Error::of(rows.error().message);
            const auto* const row = std::get_if<rs::Ptr<Album>>(&rows.value().found[0]);
            const bool is_gone = std::holds_alternative<rs::AbsentRow>(rows.value().found[0]) ||
                                 (row != nullptr && (*row)->meta.uid != cover->album_uid);
            if (is_gone && painter_.burn(*cover, false).what() == rs::HandlerResult::What::Ok) ++report.repaired;
        }
        return report;
    }

private:
    [[nodiscard]] bool is_lost(const Cover& cover) const {
        const auto album = albums_.get(cover.meta.id);
        return !album || album->meta.uid != cover.album_uid;
    }

    Painter& painter_;
    const rs::ResourceCache<Album>& albums_;
    const rs::ResourceCache<Cover>& covers_;
    rs::ResourceStore<Album>& album_rows_;
};

/// 6. All of it put together: one manager, two kinds, a handler, a periodic reconciler.
struct PaintingProgram {
    PaintingProgram(MemoryStore<Album>& album_rows, MemoryStore<Cover>& cover_rows, rs::ChangeLog& log,
                    rs::NoticeSink& notices, Instant now)
        : manager(log, notices, {}, 1),
          albums(manager.add(album_rows)),
          covers(manager.add(cover_rows)),
          painter(cover_rows, covers.cache()),
          on_album(painter, covers.cache()),
          lost_covers(painter, albums.cache(), covers.cache(), album_rows) {
        albums.add_handler(on_album, {}, now);
        manager.add(lost_covers, {});
        manager.start(now);
    }

    /// 7. The loop: whatever is to be done, then sleep until next_due(), or until an own write calls wake().
    void run_for(Duration time, Instant& now) {
        const Instant end = now + time;
        do {
            while (rs::drive(manager, now)) {
            }
            now = std::max(now + 1ms, manager.next_due(now).value_or(end));
        } while (now < end);
        now = end;
    }

    rs::StateManager manager;
    rs::ResourceInformer<Album>& albums;
    rs::ResourceInformer<Cover>& covers;
    Painter painter;
    OnAlbum on_album;
    LostCovers lost_covers;
};

struct Shop {
    Instant now{1'000'000'000'000};
    MemoryDatabase database;
    MemoryStore<Album> albums{database};
    MemoryStore<Cover> covers{database};
    MemoryChangeLog log{database};
    KeptNotices notices;

    [[nodiscard]] std::string covered() {
        std::string ids;
        for (const auto& [id, cover] : covers.rows())
            ids += albums.rows().contains(id) && albums.rows().at(id).meta.uid == cover.album_uid ? id : "?";
        return ids;
    }
};

} // namespace

TEST_CASE("the example: each album gets its cover, and loses it when it goes") {
    Shop shop;
    shop.albums.create(album("a"));
    PaintingProgram program{shop.albums, shop.covers, shop.log, shop.notices, shop.now};
    program.run_for(1s, shop.now);
    CHECK(shop.covered() == "a");
    shop.albums.create(album("b"));
    program.run_for(1s, shop.now);
    CHECK(shop.covered() == "ab");
    shop.albums.drop("a");
    shop.albums.drop("b");
    shop.albums.create(album("b", "another one with the same id"));
    program.run_for(1s, shop.now);
    CHECK(shop.covered() == "b");
}

TEST_CASE("F-01, F-02, F-08 the example: what happened while the program was away is made good at its start") {
    Shop shop;
    for (const char* id : {"a", "b"}) shop.albums.create(album(id));
    {
        PaintingProgram program{shop.albums, shop.covers, shop.log, shop.notices, shop.now};
        program.run_for(1s, shop.now);
    }
    shop.albums.drop("a");
    shop.albums.create(album("c"));
    CHECK(shop.covered() == "?b");
    PaintingProgram program{shop.albums, shop.covers, shop.log, shop.notices, shop.now};
    program.run_for(1s, shop.now);
    CHECK(shop.covered() == "bc");
    CHECK(program.manager.periodic()[0]->total().repaired == 1);
}

TEST_CASE("F-03, F-04 the example: a database that is away is waited for, and its changes are not lost") {
    Shop shop;
    PaintingProgram program{shop.albums, shop.covers, shop.log, shop.notices, shop.now};
    program.run_for(1s, shop.now);
    shop.database.store_fault = [](std::string_view) { return rs::StoreError{rs::StoreFault::Down, "no route"}; };
    shop.albums.create(album("a"));
    program.run_for(1min, shop.now);
    CHECK(shop.covered().empty());
    shop.database.store_fault = {};
    program.run_for(2s, shop.now);
    CHECK(shop.covered() == "a");
}

} // namespace yk::testing
