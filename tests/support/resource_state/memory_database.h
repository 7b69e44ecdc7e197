// SPDX-License-Identifier: Apache-2.0
#pragma once
// MemoryDatabase: rows and a change log in memory, as a database with triggers has them: each change and its event are
// there together or not at all. A test says what goes wrong: `store_fault`, `down`, `purge()`, `begin_epoch()`.

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "libcore/resource_state/ports/change_log.h"
#include "libcore/resource_state/ports/resource_store.h"

namespace yk::testing {

class MemoryDatabase {
public:
    /// The events, the oldest that was not purged first; their positions ascend by one.
    [[nodiscard]] const std::vector<rs::ChangeEvent>& events() const { return events_; }
    [[nodiscard]] std::uint64_t last() const { return last_; }
    /// The events up to here were purged.
    [[nodiscard]] std::uint64_t floor() const { return floor_; }
    [[nodiscard]] const std::string& epoch() const { return epoch_; }
    [[nodiscard]] rs::Cursor head() const { return {epoch_, {rs::Position{0, last_}}}; }

    void append(rs::Kind kind, std::string id, rs::Op op, std::string uid = {}, std::int64_t version = 0) {
        const rs::Position before{0, last_}, at{0, ++last_};
        events_.push_back({kind, std::move(id), op, std::move(uid), version, 0, at, before});
    }
    void purge(std::uint64_t up_to) {
        floor_ = std::max(floor_, std::min(up_to, last_));
        std::erase_if(events_, [this](const rs::ChangeEvent& event) { return event.at.sequence <= floor_; });
    }
    /// As after a restore: the log begins anew.
    void begin_epoch(std::string name) {
        epoch_ = std::move(name);
        events_.clear();
        last_ = floor_ = 0;
    }
    [[nodiscard]] std::string new_uid() { return "uid-" + std::to_string(++uids_); }

    /// What is wrong with a call of the store now, if anything; `what` is its name, such as read_many.
    std::function<std::optional<rs::StoreError>(std::string_view what)> store_fault;
    bool is_log_down = false;
    bool is_log_damaged = false; // while it is down

    [[nodiscard]] std::optional<rs::StoreError> fault(std::string_view what) const {
        return store_fault ? store_fault(what) : std::nullopt;
    }

private:
    std::vector<rs::ChangeEvent> events_;
    std::uint64_t last_ = 0, floor_ = 0, uids_ = 0;
    std::string epoch_ = "first";
};

template <rs::Resource T>
class MemoryStore final : public rs::ResourceStore<T> {
public:
    using Traits = rs::ResourceTraits<T>;

    explicit MemoryStore(MemoryDatabase& database) : database_(database) {}

    // --- changes of somebody else ---------------------------------------------------------------
    /// Adds a row, with a new uid. REQUIRES: the id is free.
    void create(T object) {
        object.meta.uid = database_.new_uid();
        object.meta.version = object.meta.generation = 1;
        log(rs::Op::Insert, object.meta);
        rows_.emplace(object.meta.id, std::move(object));
    }
    /// Changes a row, which gets a new version, and a new generation unless `status_only`.
    void change(std::string_view id, const std::function<void(T&)>& how, bool status_only = false) {
        T& row = rows_.find(id)->second;
        how(row);
        ++row.meta.version;
        row.meta.generation += status_only ? 0 : 1;
        log(rs::Op::Update, row.meta);
    }
    void drop(std::string_view id) {
        const auto found = rows_.find(id);
        log(rs::Op::Delete, found->second.meta);
        rows_.erase(found);
    }
    /// The rows themselves: a change here is one that no event says.
    [[nodiscard]] std::map<std::string, T, std::less<>>& rows() { return rows_; }
    std::set<std::string, std::less<>> broken; // ids of rows that cannot be understood
    std::uint64_t reads = 0;                   // calls of read_many
    std::uint64_t pages = 0;

    // --- the port -------------------------------------------------------------------------------
    [[nodiscard]] Result<rs::Rows<T>, rs::StoreError> read_many(std::span<const std::string> ids) override {
        ++reads;
        if (auto fault = database_.fault("read_many")) return *fault;
        rs::Rows<T> answer;
        for (const std::string& id : ids) {
            if (auto fault = database_.fault("read " + id)) return *fault;
            answer.found.push_back(find(id));
        }
        answer.head = database_.head();
        return answer;
    }
    [[nodiscard]] Result<rs::Page<T>, rs::StoreError> read_page(std::string_view after, std::size_t limit) override {
        ++pages;
        if (auto fault = database_.fault("read_page")) return *fault;
        rs::Page<T> page;
        auto at = rows_.upper_bound(after);
        for (; at != rows_.end() && page.found.size() < limit; ++at) {
            page.found.push_back(find(at->first));
            page.last_id = at->first;
        }
        page.is_last = at == rows_.end();
        page.head = database_.head();
        return page;
    }

private:
    using Done = Result<void, rs::StoreError>;

    [[nodiscard]] rs::Found<T> find(const std::string& id) const {
        const auto found = rows_.find(id);
        if (found == rows_.end()) return rs::AbsentRow{};
        if (broken.contains(id)) return rs::BrokenRow{id, "not to be understood"};
        return std::make_shared<const T>(found->second);
    }
    void log(rs::Op op, const rs::ResourceMeta& meta) {
        database_.append(Traits::kKind, meta.id, op, meta.uid, meta.version);
    }

    Done do_insert(const rs::WriterIdentity& /*writer*/, const T& object) override {
        if (auto fault = database_.fault("insert")) return *fault;
        if (rows_.contains(object.meta.id)) return conflict(object.meta.id + " is there");
        create(object);
        return {};
    }
    Done do_update(const rs::WriterIdentity& /*writer*/, const T& object, const rs::Expect& expect) override {
        if (auto fault = database_.fault("update")) return *fault;
        const auto found = rows_.find(object.meta.id);
        if (found == rows_.end() || !fits(found->second.meta, expect)) return conflict("it has changed");
        if (object.meta.version != found->second.meta.version + 1)
            return rs::StoreError{rs::StoreFault::Fatal, "the version must be the old one plus 1"};
        found->second = object;
        log(rs::Op::Update, object.meta);
        return {};
    }
    Done do_erase(const rs::WriterIdentity& /*writer*/, std::string_view id, const rs::Expect& expect) override {
        if (auto fault = database_.fault("erase")) return *fault;
        const auto found = rows_.find(id);
        if (found == rows_.end()) return {};
        if (!fits(found->second.meta, expect)) return conflict("it has changed");
        drop(id);
        return {};
    }
    [[nodiscard]] static bool fits(const rs::ResourceMeta& meta, const rs::Expect& expect) {
        return meta.uid == expect.uid && (expect.version == 0 || meta.version == expect.version);
    }
    [[nodiscard]] static rs::StoreError conflict(std::string why) { return {rs::StoreFault::Conflict, std::move(why)}; }

    MemoryDatabase& database_;
    std::map<std::string, T, std::less<>> rows_;
};

/// The log of a MemoryDatabase as it should be.
class MemoryChangeLog final : public rs::ChangeLog {
public:
    explicit MemoryChangeLog(MemoryDatabase& database) : database_(database) {}

    [[nodiscard]] Result<void, rs::LogFault> open(const rs::CapturedCursor& from) override {
        if (database_.is_log_down) return down();
        position_ = from.cursor();
        return check();
    }
    [[nodiscard]] Result<rs::EventBatch, rs::LogFault> poll(std::size_t most) override {
        if (database_.is_log_down) return down();
        YK_CHECKED(check());
        rs::EventBatch batch;
        const std::uint64_t after = position_.lanes[0].sequence;
        const auto& events = database_.events();
        auto at = std::find_if(events.begin(), events.end(),
                               [after](const rs::ChangeEvent& event) { return event.at.sequence > after; });
        for (; at != events.end() && batch.events.size() < most; ++at) {
            batch.events.push_back(*at);
            position_.lanes[0] = at->at;
        }
        batch.may_have_more = at != events.end();
        batch.position = position_;
        return batch;
    }

private:
    [[nodiscard]] Result<rs::Cursor, rs::LogFault> read_latest() override {
        if (database_.is_log_down) return down();
        return database_.head();
    }
    [[nodiscard]] rs::LogFault down() const {
        return {rs::LogFault::What::Down, {}, "no answer", database_.is_log_damaged};
    }
    /// A position below the floor, or above the end, is a gap.
    [[nodiscard]] Result<void, rs::LogFault> check() const {
        using What = rs::LogFault::What;
        const std::uint64_t at = position_.lanes.at(0).sequence;
        if (position_.epoch != database_.epoch() || at > database_.last())
            return rs::LogFault{What::Gap, rs::RelistReason::Epoch, "another log"};
        if (at < database_.floor()) return rs::LogFault{What::Gap, rs::RelistReason::Purged, "purged"};
        return {};
    }

    MemoryDatabase& database_;
    rs::Cursor position_;
};

} // namespace yk::testing
