// SPDX-License-Identifier: Apache-2.0
// The framework in another program: a painter who makes a cover for each album of a shop. Read it from top to bottom.
// libcore/resource_state/README.md explains it, and quotes parts of it.
//
// The shop writes albums. The painter owns covers: it makes one when an album comes, throws it away when the album has
// gone, and now and then looks for what slipped through. Several programs may run, of which the one with the lease
// paints. Each has a window that shows what can be sold, for which it needs nothing but its caches.

#include <algorithm>
#include <deque>
#include <fstream>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include <catch2/catch.hpp>

#include "libcore/resource_state/state_manager.h"
#include "tests/support/resource_state/albums.h"          // 1. the rows, and what the framework has to know of them
#include "tests/support/resource_state/memory_database.h" // 2. the ports: here rows and log in memory
#include "tests/support/resource_state/world.h"

namespace yk::testing {
namespace {

using namespace std::chrono_literals;

constexpr std::string_view kPainter = "painter"; // the service that owns covers, and its lease

struct Ports {
    rs::ResourceStore<Album>& albums;
    rs::ResourceStore<Cover>& covers;
    rs::ChangeLog& log;
    rs::NoticeSink& notices;
};

/// 3. What the painter does with covers. It waits for nothing: a write is an IoCall, which the loop has run on another
/// thread, and whoever wanted it is given the result when it has ended.
class Painter {
public:
    using Report = std::function<void(const rs::HandlerResult& result, Instant now)>;
    using ReadAgain = std::function<void(std::string_view id, Instant now)>;

    Painter(const Ports& ports, const rs::ResourceCache<Cover>& known, ReadAgain read_again)
        : albums_(ports.albums), covers_(ports.covers), known_(known), read_again_(std::move(read_again)) {}

    /// Makes what is missing, and nothing if it is there: this may be called again for what was done already.
    rs::HandlerResult paint(const Album& album, const rs::Lease& lease, Report report) {
        const auto known = known_.get(album.meta.id);
        if (known && known->album_uid == album.meta.uid) return rs::HandlerResult::ok();
        Cover cover;
        cover.meta.id =
            album.meta.id; // the uid is made by the memory store; for a real one, think of a random one here
        cover.album_uid = album.meta.uid;
        cover.colour = "blue";
        if (!known)
            return start(cover.meta.id, lease, std::move(report),
                         [this, cover](const rs::WriterIdentity& self) { return covers_.insert(self, cover); });
        cover.meta = known->meta; // it is of an album that had the id before, and is painted over
        ++cover.meta.version;
        const rs::Expect old{known->meta.uid, known->meta.version};
        return start(cover.meta.id, lease, std::move(report),
                     [this, cover, old](const rs::WriterIdentity& self) { return covers_.update(self, cover, old); });
    }

    /// The album has gone. Its cover may be so new that no cache shows it, so its row is looked for.
    rs::HandlerResult burn(const Album& gone, const rs::Lease& lease, Report report) {
        return start(gone.meta.id, lease, std::move(report),
                     [this, id = gone.meta.id, uid = gone.meta.uid](const rs::WriterIdentity& self) -> Written {
                         YK_TRY(cover, find(covers_, id));
                         if (!cover || cover->album_uid != uid) return {};
                         return covers_.erase(self, id, {cover->meta.uid});
                     });
    }

    /// The album of this cover is not in the cache. Nothing is thrown away for the cache's word alone: its row decides.
    rs::HandlerResult burn_if_lost(const Cover& cover, const rs::Lease& lease, Report report) {
        return start(cover.meta.id, lease, std::move(report), [this, cover](const rs::WriterIdentity& self) -> Written {
            YK_TRY(album, find(albums_, cover.meta.id));
            if (album && album->meta.uid == cover.album_uid) return {};
            return covers_.erase(self, cover.meta.id, {cover.meta.uid});
        });
    }

    /// The next call that somebody has to run and finish; nullptr: none.
    [[nodiscard]] std::unique_ptr<rs::IoCall> next_call() {
        if (calls_.empty()) return nullptr;
        auto call = std::move(calls_.front());
        calls_.pop_front();
        return call;
    }

private:
    using Written = Result<void, rs::StoreError>;

    template <class Write>
    rs::HandlerResult start(const std::string& id, const rs::Lease& lease, Report report, Write write) {
        if (!lease.is_valid) return rs::HandlerResult::retry("the lease is in doubt"); // another one may paint by now
        const rs::WriterIdentity self{std::string{kPainter}, lease.epoch};
        const auto take = [this, id, report = std::move(report)](const Written& written, Instant now) {
            read_again_(id, now);
            report(result_of(written), now);
        };
        calls_.push_back(rs::make_io_call([self, write] { return write(self); }, take));
        return rs::HandlerResult::later();
    }
    [[nodiscard]] static rs::HandlerResult result_of(const Written& written) {
        if (written.ok()) return rs::HandlerResult::ok();
        const std::string& why = written.error().message;
        switch (written.error().fault) {
        case rs::StoreFault::Conflict: return rs::HandlerResult::conflict(why); // somebody was faster: look again
        case rs::StoreFault::Fenced: return rs::HandlerResult::ok();            // another one paints, and knows what
        case rs::StoreFault::NotOwner:
        case rs::StoreFault::Fatal: return rs::HandlerResult::permanent(why);
        default: return rs::HandlerResult::retry(why);
        }
    }
    /// nullptr: there is none. A row that cannot be understood is there.
    template <rs::Resource T>
    [[nodiscard]] static Result<rs::Ptr<T>, rs::StoreError> find(rs::ResourceStore<T>& store, const std::string& id) {
        const std::string ids[] = {id};
        YK_TRY(rows, store.read_many(ids));
        const rs::Found<T>& found = rows.found[0];
        if (const auto* const broken = std::get_if<rs::BrokenRow>(&found))
            return rs::StoreError{rs::StoreFault::Transient, broken->message};
        const auto* const row = std::get_if<rs::Ptr<T>>(&found);
        return row == nullptr ? rs::Ptr<T>{} : *row;
    }

    rs::ResourceStore<Album>& albums_; // with threads: of a connection of its own, as is the next one
    rs::ResourceStore<Cover>& covers_;
    const rs::ResourceCache<Cover>& known_;
    const ReadAgain read_again_;
    std::deque<std::unique_ptr<rs::IoCall>> calls_;
};

/// 4. When: an album came, changed or went. It is of a service, so it is called only while this program has the lease.
class OnAlbum final : public rs::ResourceEventHandler<Album> {
public:
    OnAlbum(Painter& painter, rs::ResourceInformer<Album>& albums) : painter_(painter), albums_(albums) {}

    [[nodiscard]] std::string_view name() const override { return "painter"; }
    [[nodiscard]] rs::HandlerResult on_add(const rs::EventContext& context, const rs::Ptr<Album>& album) override {
        return painter_.paint(*album, context.lease, report(context));
    }
    [[nodiscard]] rs::HandlerResult on_update(const rs::EventContext& context, const rs::Ptr<Album>& /*old*/,
                                              const rs::Ptr<Album>& album) override {
        return painter_.paint(*album, context.lease, report(context));
    }
    [[nodiscard]] rs::HandlerResult on_delete(const rs::EventContext& context, const rs::Ptr<Album>& last) override {
        return painter_.burn(*last, context.lease, report(context));
    }

private:
    [[nodiscard]] Painter::Report report(const rs::EventContext& context) {
        return [this, call = context.call](const rs::HandlerResult& result, Instant now) {
            albums_.finish(name(), call, result, now); // false: the lease has gone, and nobody waits for it any more
        };
    }

    Painter& painter_;
    rs::ResourceInformer<Album>& albums_;
};

/// 5. What needs the caches alone, and is done when the call returns: the window, with each album that has its cover.
/// Which of the two comes first does not matter: whoever misses the other does nothing, and the other's call does it.
class Window {
public:
    Window(const rs::ResourceCache<Album>& albums, const rs::ResourceCache<Cover>& covers)
        : albums_(albums), covers_(covers) {}

    rs::HandlerResult look_at(const std::string& id) {
        const auto album = albums_.get(id);
        const auto cover = covers_.get(id);
        if (album && cover && cover->album_uid == album->meta.uid)
            shown[id] = album->title + " in " + cover->colour;
        else
            shown.erase(id);
        return rs::HandlerResult::ok();
    }

    std::map<std::string, std::string> shown; // by id

private:
    const rs::ResourceCache<Album>& albums_;
    const rs::ResourceCache<Cover>& covers_;
};

template <rs::Resource T>
class OnWindow final : public rs::ResourceEventHandler<T> {
public:
    explicit OnWindow(Window& window) : window_(window) {}

    [[nodiscard]] std::string_view name() const override { return "window"; }
    [[nodiscard]] rs::HandlerResult on_add(const rs::EventContext& /*context*/, const rs::Ptr<T>& object) override {
        return window_.look_at(object->meta.id);
    }
    [[nodiscard]] rs::HandlerResult on_update(const rs::EventContext& /*context*/, const rs::Ptr<T>& /*old*/,
                                              const rs::Ptr<T>& object) override {
        return window_.look_at(object->meta.id);
    }
    [[nodiscard]] rs::HandlerResult on_delete(const rs::EventContext& /*context*/, const rs::Ptr<T>& last) override {
        return window_.look_at(last->meta.id);
    }

private:
    Window& window_;
};

/// 6. What no event brings up again: covers of albums that went while nobody painted. It must not wait either.
class LostCovers final : public rs::PeriodicReconciler {
public:
    LostCovers(Painter& painter, const rs::ResourceCache<Album>& albums, const rs::ResourceCache<Cover>& covers)
        : painter_(painter), albums_(albums), covers_(covers) {}

    [[nodiscard]] std::string_view name() const override { return "lost-covers"; }
    [[nodiscard]] Result<rs::RepairReport> run_once(const rs::PeriodicContext& context) override {
        rs::RepairReport report;
        if (!context.may_conclude) return report; // what is missing in the caches may be in the database
        next_ = covers_.for_each_from(next_, kSlice, [&](const rs::Ptr<Cover>& cover) {
            const auto album = albums_.get(cover->meta.id);
            if (album && album->meta.uid == cover->album_uid) return;
            ++report.found;
            const auto begun = painter_.burn_if_lost(*cover, context.lease, [](const rs::HandlerResult&, Instant) {});
            if (begun.what() == rs::HandlerResult::What::Later) ++report.repaired; // if that fails it is found again
        });
        report.has_more = next_ < covers_.end();
        if (!report.has_more) next_ = 0;
        return report;
    }

private:
    static constexpr std::size_t kSlice = 1000; // covers that are looked at in one go

    Painter& painter_;
    const rs::ResourceCache<Album>& albums_;
    const rs::ResourceCache<Cover>& covers_;
    rs::ResourceCache<Cover>::Slot next_ = 0;
};

/// 7. A thread that runs calls, one after the other, and rings for the loop at the end of each. Here the clock of the
/// test stands for it: a call takes its time and is run at the end of that.
class Worker {
public:
    explicit Worker(Duration each) : takes(each) {}

    void give(std::unique_ptr<rs::IoCall> call, Instant now) {
        const Instant begins = calls_.empty() ? now : std::max(now, calls_.back().ends);
        calls_.push_back({std::move(call), begins + takes});
    }
    /// The next call that was run; nullptr: none.
    [[nodiscard]] std::unique_ptr<rs::IoCall> next_done(Instant now) {
        if (calls_.empty() || calls_.front().ends > now) return nullptr;
        auto call = std::move(calls_.front().call);
        calls_.pop_front();
        call->run();
        return call;
    }
    [[nodiscard]] std::optional<Instant> next_due() const {
        return calls_.empty() ? std::nullopt : std::optional{calls_.front().ends};
    }

    Duration takes;

private:
    struct Given {
        std::unique_ptr<rs::IoCall> call;
        Instant ends;
    };
    std::deque<Given> calls_;
};

/// 8. All of it put together: one manager, two kinds, handlers of a service and of no service, a periodic reconciler.
struct PaintingProgram {
    PaintingProgram(const Ports& ports, const std::optional<rs::Lease>& lease, Instant now)
        : manager(ports.log, ports.notices, {}, 1),
          albums(manager.add(ports.albums)),
          covers(manager.add(ports.covers)),
          painter(ports, covers.cache(), [this](std::string_view id, Instant at) { wrote(id, at); }),
          on_album(painter, albums),
          window(albums.cache(), covers.cache()),
          lost_covers(painter, albums.cache(), covers.cache()) {
        rs::HandlerOptions painting{std::string{kPainter}};
        painting.reads_cache = true; // it may know an album from there before it was called for it
        albums.add_handler(on_album, painting, now);
        albums.add_handler(album_in_window, {}, now);
        covers.add_handler(cover_in_window, {}, now);
        manager.add(lost_covers, {std::string{kPainter}});
        manager.set_lease(kPainter, lease, now);
        manager.start(now);
    }

    /// Own writes are read before all else, and the log has something new. Another thread that commits rings for the
    /// loop, which calls wake().
    void wrote(std::string_view id, Instant now) {
        manager.enqueue(rs::ResourceTraits<Cover>::kKind, id, now);
        manager.wake();
    }

    /// One round of the loop. False: there is nothing to do before next_due(), unless somebody rings.
    bool work(Instant now) {
        bool any = false;
        for (Worker* const worker : {&reader, &writer}) {
            while (const auto call = worker->next_done(now)) {
                call->finish(now);
                any = true;
            }
        }
        while (auto call = manager.next_call(now)) {
            reader.give(std::move(call), now);
            any = true;
        }
        while (auto call = painter.next_call()) {
            writer.give(std::move(call), now);
            any = true;
        }
        return manager.turn(now) || any;
    }
    [[nodiscard]] Instant next_due(Instant now) const {
        Instant due = now + 1h;
        for (const auto& each : {manager.next_due(now), reader.next_due(), writer.next_due()})
            if (each) due = std::min(due, *each);
        return due;
    }
    /// The loop itself. A thread sleeps until next_due(), or until somebody rings; the test moves its clock instead.
    void run_for(Duration time, Instant& now) {
        for (const Instant end = now + time;; now = std::min(end, std::max(next_due(now), now + 1ms))) {
            while (work(now)) {
            }
            if (now >= end) return;
        }
    }

    /// What an operator has to look at; empty: all is well.
    [[nodiscard]] std::string trouble(Instant now) const {
        std::string text;
        if (!manager.is_running()) text += "starting; ";
        if (!manager.is_store_up()) text += "the database is away; ";
        if (manager.staleness(now) > 30s) text += "the caches do not follow; ";
        for (const rs::KindStatus& kind : manager.status()) {
            if (kind.broken_rows != 0) text += kind.name + ": rows that cannot be understood; ";
            if (kind.counters.repairs != 0) text += kind.name + ": changes without an event; ";
            for (const rs::HandlerStatus& handler : kind.handlers)
                if (handler.dead_letters != 0) text += handler.name + " fails; ";
        }
        return text;
    }
    [[nodiscard]] rs::HandlerStatus painting() const { return manager.status().front().handlers.front(); }

    rs::StateManager manager;
    rs::ResourceInformer<Album>& albums;
    rs::ResourceInformer<Cover>& covers;
    Painter painter;
    OnAlbum on_album;
    Window window;
    OnWindow<Album> album_in_window{window};
    OnWindow<Cover> cover_in_window{window};
    LostCovers lost_covers;
    Worker reader{1ms}, writer{20ms}; // the last ones: what they run needs the others
};

/// 9. The world around it, and what is to be true in it.
struct Shop {
    Instant now{1'000'000'000'000};
    MemoryDatabase database;
    MemoryStore<Album> albums{database};
    MemoryStore<Cover> covers{database};
    MemoryChangeLog log{database};
    KeptNotices notices;
    const Ports ports{albums, covers, log, notices};

    /// The ids of covers in the database; ?: of an album that is not there.
    [[nodiscard]] std::string covered() {
        std::string ids;
        for (const auto& [id, cover] : covers.rows())
            ids += albums.rows().contains(id) && albums.rows().at(id).meta.uid == cover.album_uid ? id : "?";
        return ids;
    }
};

/// Whether a cache has the rows of the database, and no others.
template <rs::Resource T>
bool agree(MemoryStore<T>& store, const rs::ResourceCache<T>& cache) {
    const auto& rows = store.rows();
    return rows.size() == cache.size() && std::all_of(rows.begin(), rows.end(), [&](const auto& row) {
               const auto cached = cache.get(row.first);
               return cached && rs::image_of(*cached) == rs::image_of(row.second);
           });
}
bool agree(Shop& shop, const PaintingProgram& program) {
    return agree(shop.albums, program.albums.cache()) && agree(shop.covers, program.covers.cache());
}

} // namespace

TEST_CASE("the example: the smallest program follows one kind, on one thread") {
    Shop shop;
    shop.albums.create(album("a"));
    KeptCalls<Album> handler;
    const Instant now = shop.now;

    rs::StateManager manager{shop.log, shop.notices, rs::Settings{}, /*seed=*/1};
    rs::ResourceInformer<Album>& albums = manager.add(shop.albums);
    albums.add_handler(handler, {}, now);
    manager.start(now);
    while (rs::drive(manager, now)) {
    }

    CHECK(agree(shop.albums, albums.cache()));
    CHECK(handler.take() == std::vector<std::string>{"add a v1"});
    CHECK(manager.next_due(now) > now);
}

TEST_CASE("the example: each album gets its cover, and loses it when it goes") {
    Shop shop;
    shop.albums.create(album("a"));
    PaintingProgram program{shop.ports, rs::Lease{1}, shop.now};
    program.run_for(1s, shop.now);
    CHECK(shop.covered() == "a");
    CHECK(program.window.shown["a"] == "Untitled in blue");
    shop.albums.create(album("b"));
    program.run_for(1s, shop.now);
    CHECK(shop.covered() == "ab");
    shop.albums.drop("a");
    shop.albums.drop("b");
    shop.albums.create(album("b", "Another with its id"));
    program.run_for(1s, shop.now);
    CHECK(shop.covered() == "b");
    CHECK(program.window.shown == std::map<std::string, std::string>{{"b", "Another with its id in blue"}});
    CHECK(agree(shop, program));
    CHECK(program.trouble(shop.now).empty());
}

TEST_CASE("F-01, F-02, F-08 the example: what happened while the program was away is made good at its start") {
    Shop shop;
    for (const char* id : {"a", "b"}) shop.albums.create(album(id));
    {
        PaintingProgram program{shop.ports, rs::Lease{1}, shop.now};
        program.run_for(1s, shop.now);
    }
    shop.albums.drop("a");
    shop.albums.create(album("c"));
    CHECK(shop.covered() == "?b");
    PaintingProgram program{shop.ports, rs::Lease{2}, shop.now};
    program.run_for(1s, shop.now);
    CHECK(shop.covered() == "bc");
    CHECK(program.manager.periodic()[0]->total().repaired == 1);
}

TEST_CASE("F-03, F-04 the example: a database that is away is waited for, and its changes are not lost") {
    Shop shop;
    PaintingProgram program{shop.ports, rs::Lease{1}, shop.now};
    program.run_for(1s, shop.now);
    shop.database.store_fault = [](std::string_view) { return rs::StoreError{rs::StoreFault::Down, "no route"}; };
    shop.albums.create(album("a"));
    program.run_for(1min, shop.now);
    CHECK(shop.covered().empty());
    CHECK(program.trouble(shop.now) == "the database is away; ");
    shop.database.store_fault = {};
    program.run_for(2s, shop.now);
    CHECK(shop.covered() == "a");
    CHECK(program.trouble(shop.now).empty());
}

TEST_CASE("F-05, F-06 the example: a change whose event is lost is found by the next resync, and counted") {
    Shop shop;
    for (const char* id : {"a", "b"}) shop.albums.create(album(id));
    PaintingProgram program{shop.ports, rs::Lease{1}, shop.now};
    program.run_for(1s, shop.now);
    Album unannounced = album("c");
    unannounced.meta.uid = "uid of c";
    shop.albums.rows().emplace("c", unannounced);
    shop.albums.rows().erase("a");
    program.run_for(5s, shop.now);
    CHECK(shop.covered() == "?b");
    CHECK_FALSE(agree(shop, program));
    program.run_for(11min, shop.now); // a period, or request_resync()
    CHECK(shop.covered() == "bc");
    CHECK(agree(shop, program));
    CHECK(program.trouble(shop.now) == "album: changes without an event; ");
    CHECK(shop.notices.count("repair album/") == 2);
}

TEST_CASE("rs R-089 the example: while a write is under way, all else goes on") {
    Shop shop;
    PaintingProgram program{shop.ports, rs::Lease{1}, shop.now};
    program.run_for(1s, shop.now);
    program.writer.takes = 10s;
    for (const char* id : {"a", "b"}) shop.albums.create(album(id));
    program.run_for(1s, shop.now);
    shop.albums.change("a", [](Album& row) { row.title = "Second"; });
    program.run_for(1s, shop.now);
    CHECK(shop.covered().empty());
    CHECK(agree(shop, program));
    CHECK(program.painting().counters.calls == 2); // both are under way, and a key is in one call at a time
    CHECK(program.painting().backlog == 2);
    program.run_for(1min, shop.now);
    CHECK(shop.covered() == "ab");
    CHECK(program.window.shown["a"] == "Second in blue");
    CHECK(program.painting().backlog == 0);
    CHECK(program.painting().counters.failures == 0); // conflicts with what was written meanwhile are none
}

TEST_CASE("rs R-092, rs R-140 the example: who has the lease paints, and whoever gets it looks at everything") {
    Shop shop;
    shop.albums.create(album("a"));
    PaintingProgram program{shop.ports, std::nullopt, shop.now};
    program.run_for(1min, shop.now);
    CHECK(program.painting().counters.calls == 0);
    CHECK(agree(shop, program)); // it is ready
    program.manager.set_lease(kPainter, rs::Lease{7}, shop.now);
    program.run_for(1s, shop.now);
    CHECK(shop.covered() == "a");
    program.manager.set_lease(kPainter, std::nullopt, shop.now);
    const std::uint64_t calls = program.painting().counters.calls;
    shop.albums.drop("a");
    shop.albums.create(album("b"));
    program.run_for(20min, shop.now); // with a resync
    CHECK(program.painting().counters.calls == calls);
    CHECK_FALSE(program.painting().is_active);
    CHECK(shop.covered() == "?");
    CHECK(program.window.shown.empty()); // this one follows without a lease
    program.manager.set_lease(kPainter, rs::Lease{9}, shop.now);
    program.run_for(1s, shop.now);
    CHECK(shop.covered() == "b");
}

TEST_CASE("rs R-090, rs R-142 the example: who may not lead any more writes nothing") {
    Shop shop;
    PaintingProgram program{shop.ports, rs::Lease{7}, shop.now};
    program.run_for(1s, shop.now);
    shop.albums.create(album("a"));
    SECTION("since the lease could not be renewed") {
        program.manager.set_lease(kPainter, rs::Lease{7, false}, shop.now);
        program.run_for(5s, shop.now);
        CHECK(shop.covered().empty());
        CHECK(program.painting().backlog == 1); // it is still wanted
        program.manager.set_lease(kPainter, rs::Lease{7}, shop.now);
        program.run_for(10s, shop.now);
        CHECK(shop.covered() == "a");
    }
    SECTION("since the database knows that another one leads, before this one does") {
        shop.database.store_fault = [](std::string_view what) -> std::optional<rs::StoreError> {
            if (what == "insert") return rs::StoreError{rs::StoreFault::Fenced, "another one has the lease"};
            return std::nullopt;
        };
        program.run_for(10s, shop.now);
        CHECK(program.painting().counters.calls == 1);
        CHECK(program.painting().backlog == 0); // it is the other one's business
    }
    SECTION("since the lease goes while a call is under way, the end of which is nobody's") {
        program.writer.takes = 10s;
        program.run_for(1s, shop.now);
        CHECK(program.painting().backlog == 1);
        program.manager.set_lease(kPainter, std::nullopt, shop.now);
        program.run_for(1min, shop.now);
        CHECK(program.painting().counters.calls == 1);
        CHECK(program.painting().backlog == 0);
        CHECK(program.trouble(shop.now).empty());
    }
}

namespace {

/// The lines of a file without their indentation.
std::string lines_of(const std::string& path) {
    std::ifstream file{YK_SOURCE_DIR + path};
    std::string text;
    for (std::string line; std::getline(file, line);) text += line.erase(0, line.find_first_not_of(' ')) + '\n';
    return text;
}

} // namespace

TEST_CASE("the code in the README of resource_state is code of this example") {
    const std::string readme = lines_of("/libcore/resource_state/README.md");
    const std::string code = lines_of("/tests/unit/libcore/resource_state/example_test.cpp") +
                             lines_of("/tests/support/resource_state/albums.h");
    const std::string begin = "\n```cpp\n", end = "```\n";
    std::size_t count = 0;
    for (std::size_t at = readme.find(begin); at != std::string::npos; at = readme.find(begin, at)) {
        at += begin.size();
        const std::string quoted = readme.substr(at, readme.find(end, at) - at);
        INFO(quoted);
        CHECK(code.find(quoted) != std::string::npos);
        ++count;
    }
    CHECK(count >= 4);
}

} // namespace yk::testing
