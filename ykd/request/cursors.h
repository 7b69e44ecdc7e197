// SPDX-License-Identifier: Apache-2.0
#pragma once
// Cursors: where the next pages begin of lists that sessions fetch page by page. Each cursor is kept for a while, and
// is of no use to another session. The number and the weight of lists are limited. The list to be dropped first is one
// that was read to its end; then, so that nobody displaces the lists of others, one of the identity whose lists weigh
// most: not the newest list of its session, if there is another; of those the one that was used least recently.
//
// Thread: any, under the owner's lock.

#include <algorithm>
#include <list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "libcore/base/check.h"
#include "protocol/wire/envelope.h"
#include "ykd/runtime/clock.h"

namespace yk::service {

/// Who reads a list.
struct CursorOwner {
    wire::Sid session;
    std::string identity; // as Grant::name; several sessions may have the same
};

/// The limits of one kind of lists.
struct CursorBounds {
    const char* name;                // the text of a cursor is the name and a number
    SteadyClock::duration keep;      // how long a cursor is kept
    SteadyClock::duration keep_last; // the same for that of the last page, in case its answer gets lost
    std::size_t of_session;          // how many lists a session may have
    std::size_t weight;              // of all lists together; a single list may be heavier
};

template <class Cursor, const CursorBounds& kBounds>
class Cursors {
public:
    /// Keeps `position`, where the next page begins, and returns its text for the client. `used`: the text for the page
    /// just made, empty for the first one; it is kept in case the client asks again, and those before it are forgotten.
    /// `weight`: of the whole list. Costs O(n log n) for n cursors.
    [[nodiscard]] std::string keep(const CursorOwner& owner, Cursor position, std::size_t weight,
                                   const std::string& used) {
        sweep();
        std::uint64_t list = list_of(owner.session, used);
        if (list == 0) list = ++last_;
        kept_.remove_if([&](const Kept& one) { return one.list == list && one.cursor != used; });
        const auto until = SteadyClock::now() + kBounds.keep;
        kept_.push_back(
            {kBounds.name + std::to_string(++last_), owner, std::move(position), list, weight, false, until});
        evict();
        return kept_.back().cursor;
    }
    /// Where the page with this cursor begins; nullopt: the cursor is unknown, of another session, or too old.
    [[nodiscard]] std::optional<Cursor> find(const wire::Sid& session, const std::string& cursor) {
        sweep();
        for (const Kept& one : kept_)
            if (one.cursor == cursor && one.owner.session == session) return one.position;
        return std::nullopt;
    }
    /// The same, and forgets the list.
    [[nodiscard]] std::optional<Cursor> take(const wire::Sid& session, const std::string& cursor) {
        auto found = find(session, cursor);
        if (const std::uint64_t list = list_of(session, cursor); found)
            kept_.remove_if([list](const Kept& one) { return one.list == list; });
        return found;
    }
    /// Notes that the last page of the list, with the cursor `used`, was answered.
    void end(const wire::Sid& session, const std::string& used) {
        const std::uint64_t list = list_of(session, used);
        kept_.remove_if([&](const Kept& one) { return one.list == list && one.cursor != used; });
        for (Kept& one : kept_)
            if (one.list == list) {
                one.is_last = true;
                one.until = std::min(one.until, SteadyClock::now() + kBounds.keep_last);
            }
    }
    /// Forgets the cursors that are too old.
    void sweep(SteadyClock::time_point now = SteadyClock::now()) {
        kept_.remove_if([now](const Kept& one) { return one.until <= now; });
    }

private:
    struct Kept {
        std::string cursor; // its text
        CursorOwner owner;
        Cursor position;
        std::uint64_t list; // number of the list, the same for all of its pages
        std::size_t weight; // of the list
        bool is_last;       // its page was the last one
        SteadyClock::time_point until;
    };

    /// The number of the list that a cursor is of; 0: there is no such cursor.
    [[nodiscard]] std::uint64_t list_of(const wire::Sid& session, const std::string& cursor) const {
        for (const Kept& one : kept_)
            if (one.cursor == cursor && one.owner.session == session) return one.list;
        return 0;
    }
    /// The newest cursor of each list, those used least recently first.
    [[nodiscard]] std::vector<const Kept*> lists() const {
        std::vector<const Kept*> found;
        std::set<std::uint64_t> seen;
        for (auto one = kept_.rbegin(); one != kept_.rend(); ++one)
            if (seen.insert(one->list).second) found.push_back(&*one);
        std::reverse(found.begin(), found.end());
        return found;
    }
    /// Forgets lists until the others are within the limits. The list of the newest cursor stays. REQUIRES: there is
    /// one.
    void evict() {
        YK_ASSUME(!kept_.empty(), "there is a newest cursor");
        std::vector<const Kept*> lists = this->lists();
        const wire::Sid session = lists.back()->owner.session;
        std::size_t of_session = 0, weight = 0;
        std::map<std::string, std::size_t> held; // weight by identity
        std::map<wire::Sid, std::uint64_t> newest;
        for (const Kept* one : lists) {
            weight += one->weight;
            held[one->owner.identity] += one->weight;
            newest[one->owner.session] = one->list;
            if (one->owner.session == session) ++of_session;
        }
        lists.pop_back();
        std::set<std::uint64_t> dropped;
        const auto forget = [&](const auto& key) {
            const auto first = std::min_element(lists.begin(), lists.end(),
                                                [&key](const Kept* a, const Kept* b) { return key(*a) < key(*b); });
            weight -= (*first)->weight;
            held[(*first)->owner.identity] -= (*first)->weight;
            dropped.insert((*first)->list);
            lists.erase(first);
        };
        if (of_session > kBounds.of_session)
            forget([&](const Kept& one) { return std::pair{one.owner.session != session, !one.is_last}; });
        std::erase_if(lists, [](const Kept* one) { return one->weight == 0; }); // to drop them would not help
        while (weight > kBounds.weight && !lists.empty())
            forget([&](const Kept& one) {
                return std::tuple{!one.is_last, weight - held[one.owner.identity],
                                  newest[one.owner.session] == one.list};
            });
        kept_.remove_if([&dropped](const Kept& one) { return dropped.count(one.list) > 0; });
    }

    std::list<Kept> kept_;   // oldest first
    std::uint64_t last_ = 0; // number that was given out last
};

} // namespace yk::service
