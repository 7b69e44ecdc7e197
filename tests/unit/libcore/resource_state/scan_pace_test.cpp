// SPDX-License-Identifier: Apache-2.0
#include "libcore/resource_state/scan_pace.h"

#include <catch2/catch.hpp>

namespace yk::rs {

using namespace std::chrono_literals;

TEST_CASE("rs R-097 a scan reads no more rows per second than it may") {
    const ResyncSettings settings;
    ScanPace pace{settings};
    Instant now{0};
    pace.begin(now);
    std::size_t rows = 0;
    for (; now < Instant{} + 10s; now = now + 1ms) {
        if (!pace.may_read(0, {}, now)) continue;
        pace.rows_read(2000, now);
        rows += 2000;
    }
    CHECK(rows >= 490'000);
    CHECK(rows <= 510'000);
}

TEST_CASE("rs R-097 what reading takes does not come on top of the rate, and long reads are not made up for") {
    const ResyncSettings settings;
    ScanPace pace{settings};
    Instant now{0};
    pace.begin(now);
    for (int pages = 0; pages < 100; ++pages) {
        now = std::max(now, pace.next());
        REQUIRE(pace.may_read(0, {}, now));
        now = now + (pages == 50 ? 1s : 10ms); // until it is read
        pace.rows_read(2000, now);
    }
    CHECK(pace.next() - Instant{} == 100 * 40ms + 1s - 40ms);
}

TEST_CASE("rs R-094, rs P-09 a page that takes long is read in parts, and whole again when it does not") {
    PageSize size;
    CHECK(size.rows(2000) == 2000);
    const auto after = [&size](Duration time) {
        size.took(time);
        return size.rows(2000);
    };
    CHECK(after(6ms) == 1000);
    CHECK(after(3ms) == 1000);
    CHECK(after(6ms) == 500);
    CHECK(after(60ms) == 500); // smaller ones cost more than they spare
    CHECK(after(1ms) == 1000);
    CHECK(after(1ms) == 2000);
    CHECK(after(1ms) == 2000);
    CHECK(after(6ms) == 1000);
    CHECK(size.rows(1) == 1);
}

TEST_CASE("rs R-097 a scan pauses for live work, but after one period goes on at a tenth of the rate") {
    ResyncSettings settings;
    settings.period = GENERATE(Duration{10min}, Duration{}); // 0: only when asked to, and as patient
    for (const bool by_latency : {false, true}) {
        ScanPace pace{settings};
        Instant now{0};
        pace.begin(now);
        const auto may_read = [&] {
            return by_latency ? pace.may_read(0, 101ms, now) : pace.may_read(10'001, {}, now);
        };
        while (!may_read()) {
            now = pace.next();
            REQUIRE(now < Instant{} + 11min);
        }
        CHECK(now >= Instant{} + 10min);
        pace.rows_read(2000, now);
        CHECK(pace.next() - now == 400ms);
        now = pace.next();
        CHECK(may_read());
        CHECK(pace.may_read(0, {}, now));
        pace.rows_read(2000, now);
        CHECK(pace.next() - now < 90ms); // the live work is done
    }
}

TEST_CASE("rs F-49 after each pause a scan is slower, and comes back to its rate little by little") {
    const ResyncSettings settings;
    ScanPace pace{settings};
    Instant now{0};
    pace.begin(now);
    const auto read = [&] { // how long a page takes at the pace of now
        REQUIRE(pace.may_read(0, {}, now));
        pace.rows_read(2000, now);
        const Duration took = pace.next() - now;
        now = pace.next();
        return took;
    };
    const auto pause = [&] {
        for (int look = 0; look < 5; ++look) {
            CHECK_FALSE(pace.may_read(0, 101ms, now));
            now = pace.next();
        }
    };
    CHECK(read() == 40ms);
    pause();
    CHECK(read() == 80ms);
    pause();
    CHECK(read() > 155ms);
    for (int pauses = 0; pauses < 5; ++pauses) pause();
    CHECK(read() <= 400ms);
    Duration took{};
    for (int pages = 0; pages < 250; ++pages) took += read();
    CHECK(took > 20s);
    CHECK(read() == 40ms);
}

TEST_CASE("the latency of the last seconds is known to a factor of two") {
    LatencyWindow window;
    Instant now{Instant{} + 100s};
    CHECK(window.p99(now) == Duration{});
    for (int each = 0; each < 990; ++each) window.add(3ms, now);
    for (int each = 0; each < 9; ++each) window.add(2s, now);
    CHECK(window.p99(now) >= 3ms);
    CHECK(window.p99(now) <= 6ms);
    for (int each = 0; each < 9; ++each) window.add(2s, now);
    CHECK(window.p99(now) >= 2s);
    window.add(-1s, now + 1s); // the one before still counts
    CHECK(window.p99(now + 1s) >= 2s);
    CHECK(window.p99(now + 3s) == Duration{});
    window.add(1ms, now + 4s);
    CHECK(window.p99(now + 4s) <= 2ms);
}

} // namespace yk::rs
