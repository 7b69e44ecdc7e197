#pragma once
// Cursors: where the pages of lists go on that a session fetches piece by piece, each for a while. A cursor is of no
// use to another session. Lists have bounds. What goes first is a list that was read to its end; then, so that nobody
// pushes out the lists of others, one of the identity that has most: not the newest of its session, if there is
// another; of those the one that was used least recently.
//
// Thread: the owner's lock.

#include <algorithm>
#include <list>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "protocol/wire/envelope.h"
#include "ykd/runtime/clock.h"

namespace yk::service {

/// Whose a list is.
struct CursorOwner {
    wire::Sid session;
    std::string identity; // several sessions may have the same
};

struct CursorBounds {
    const char* name;                // a cursor is name-NUMBER
    SteadyClock::duration keep;      // a cursor
    SteadyClock::duration keep_last; // the cursor of the last page, for whom the answer does not reach
    std::size_t of_session;          // lists
    std::size_t weight;              // of all lists together; one list may be heavier
};

template <class Place, const CursorBounds& kBounds>
class Cursors {
public:
    /// The cursor of the next page. `used`: the cursor of this one, which is kept for whoever asks again; those before
    /// it are forgotten. `weight`: of the whole list.
    [[nodiscard]] std::string keep(const CursorOwner& owner, Place place, std::size_t weight, const std::string& used) {
        sweep();
        std::uint64_t list = list_of(owner.session, used);
        if (list == 0) list = ++last_;
        kept_.remove_if([&](const Kept& one) { return one.list == list && one.cursor != used; });
        const auto until = SteadyClock::now() + kBounds.keep;
        kept_.push_back({kBounds.name + std::to_string(++last_), owner, std::move(place), list, weight, false, until});
        make_room();
        return kept_.back().cursor;
    }
    /// Nothing: unknown, of another session, or too old.
    [[nodiscard]] std::optional<Place> find(const wire::Sid& session, const std::string& cursor) {
        sweep();
        for (const Kept& one : kept_)
            if (one.cursor == cursor && one.owner.session == session) return one.place;
        return std::nullopt;
    }
    /// The last page was answered, whose cursor was `used`.
    void end(const wire::Sid& session, const std::string& used) {
        const std::uint64_t list = list_of(session, used);
        kept_.remove_if([&](const Kept& one) { return one.list == list && one.cursor != used; });
        for (Kept& one : kept_)
            if (one.list == list) {
                one.is_last = true;
                one.until = std::min(one.until, SteadyClock::now() + kBounds.keep_last);
            }
    }
    /// Forgets what is too old.
    void sweep(SteadyClock::time_point now = SteadyClock::now()) {
        kept_.remove_if([now](const Kept& one) { return one.until <= now; });
    }

private:
    struct Kept {
        std::string cursor;
        CursorOwner owner;
        Place place;
        std::uint64_t list; // all pages of one
        std::size_t weight; // of the list
        bool is_last;       // its page was the last one
        SteadyClock::time_point until;
    };

    /// 0: none.
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
    /// Forgets lists until the others are within the bounds. That of the newest cursor stays.
    void make_room() {
        std::vector<const Kept*> lists = this->lists();
        const wire::Sid session = lists.back()->owner.session;
        std::size_t of_session = 0, weight = 0;
        std::map<std::string, std::size_t> held; // of each identity
        std::map<wire::Sid, std::uint64_t> newest;
        for (const Kept* one : lists) {
            weight += one->weight;
            held[one->owner.identity] += one->weight;
            newest[one->owner.session] = one->list;
            if (one->owner.session == session) ++of_session;
        }
        lists.pop_back();
        std::set<std::uint64_t> gone;
        const auto forget = [&](const auto& key) {
            const auto first = std::min_element(lists.begin(), lists.end(),
                                                [&key](const Kept* a, const Kept* b) { return key(*a) < key(*b); });
            weight -= (*first)->weight;
            held[(*first)->owner.identity] -= (*first)->weight;
            gone.insert((*first)->list);
            lists.erase(first);
        };
        if (of_session > kBounds.of_session)
            forget([&](const Kept& one) { return std::pair{one.owner.session != session, !one.is_last}; });
        std::erase_if(lists, [](const Kept* one) { return one->weight == 0; }); // that would not help
        while (weight > kBounds.weight && !lists.empty())
            forget([&](const Kept& one) {
                return std::tuple{!one.is_last, weight - held[one.owner.identity],
                                  newest[one.owner.session] == one.list};
            });
        kept_.remove_if([&gone](const Kept& one) { return gone.count(one.list) > 0; });
    }

    std::list<Kept> kept_; // oldest first
    std::uint64_t last_ = 0;
};

} // namespace yk::service
