// SPDX-License-Identifier: Apache-2.0
#pragma once
// FairQueue<Item>: items that wait, from many clients of several identities. The identities take turns, and within each
// its clients do, so that whoever has thousands waiting delays the first item of somebody else by one item only.
//
// An item that was taken is at work until done() is called for its source. Clients and identities have so many at work
// at most, so that others find somebody free, and of long items an identity has fewer than of all, so that its own
// short ones need not wait for one of these to end. Items without an identity are the daemon's own: they take turns as
// those of one more identity, of which any number may be at work. While nothing waits, an item may be begun without
// being stored here at all (begin()).
//
// Thread: any, under the owner's lock. Cost of each call: the logarithm of the number of sources, and the number of
// items at work.

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "libcore/base/check.h"

namespace yk {

/// Whose an item is, and how it is to be treated among theirs.
struct ItemSource {
    std::string identity{}; // empty: the daemon itself
    std::uint64_t client = 0;
    bool is_long = false; // this item takes so long that who waits for its end notices
};

template <class Item>
class FairQueue {
public:
    /// How many items may be at work.
    struct Limits {
        std::size_t of_client = SIZE_MAX, of_identity = SIZE_MAX, long_of_identity = SIZE_MAX;
    };

    FairQueue() = default;
    explicit FairQueue(Limits limits) : limits_(limits) {}

    void push(const ItemSource& source, Item item) {
        identities_[source.identity].clients[source.client].waiting.push_back({std::move(item), source.is_long});
        ++waiting_;
    }
    /// Counts an item of this source as at work. False: it has to be pushed, since others wait, or since its source has
    /// as many at work as it may.
    [[nodiscard]] bool begin(const ItemSource& source) {
        if (waiting_ != 0 || !may_begin(source)) return false;
        Identity& identity = identities_[source.identity];
        begin(identity, identity.clients[source.client], source.is_long);
        return true;
    }

    [[nodiscard]] bool has_waiting() const { return waiting_ != 0; }

    struct Taken {
        ItemSource source;
        Item item;
    };
    /// Takes the item whose turn it is; nullopt: none waits, or all are of sources that have as many at work as they
    /// may.
    [[nodiscard]] std::optional<Taken> take() {
        typename Clients::iterator found;
        const auto identity = next(identities_, last_, [this, &found](auto& one) {
            found = find_client(one);
            return found != one.second.clients.end();
        });
        if (identity == identities_.end()) return std::nullopt;
        last_ = identity->first;
        identity->second.last = found->first;
        Client& client = found->second;
        Waiting& first = client.waiting.front();
        Taken taken{{identity->first, identity->second.last, first.is_long}, std::move(first.item)};
        client.waiting.pop_front();
        --waiting_;
        begin(identity->second, client, taken.source.is_long);
        return taken;
    }
    /// REQUIRES: take() returned an item of this source, or begin() counted one, and it is not at work any more.
    void done(const ItemSource& source) {
        const auto identity = identities_.find(source.identity);
        YK_ASSUME(identity != identities_.end(), "the identity has an item at work");
        const auto client = identity->second.clients.find(source.client);
        YK_ASSUME(client != identity->second.clients.end() && client->second.at_work > 0, "an item is at work");
        --identity->second.at_work;
        identity->second.long_at_work -= source.is_long ? 1U : 0U;
        --client->second.at_work;
        if (client->second.at_work == 0 && client->second.waiting.empty()) identity->second.clients.erase(client);
        if (identity->second.clients.empty()) identities_.erase(identity);
    }
    /// The number of clients that have something that waits or is at work.
    [[nodiscard]] std::size_t clients() const {
        std::size_t sum = 0;
        for (const auto& [name, identity] : identities_) sum += identity.clients.size();
        return sum;
    }

private:
    struct Waiting {
        Item item;
        bool is_long = false;
    };
    struct Client { // has something that waits or is at work
        std::deque<Waiting> waiting;
        std::size_t at_work = 0;
    };
    using Clients = std::map<std::uint64_t, Client>;
    struct Identity {
        Clients clients; // not empty
        std::size_t at_work = 0;
        std::size_t long_at_work = 0; // among these
        std::uint64_t last = 0;       // the client whose item was taken last
    };
    using Identities = std::map<std::string, Identity>;

    static void begin(Identity& identity, Client& client, bool is_long) {
        ++client.at_work;
        ++identity.at_work;
        identity.long_at_work += is_long ? 1U : 0U;
    }
    /// Whether one more item of an identity may be at work.
    [[nodiscard]] bool may_begin(const Identity& of, bool is_long) const {
        return of.at_work < limits_.of_identity && !(is_long && of.long_at_work >= limits_.long_of_identity);
    }
    [[nodiscard]] bool may_begin(const ItemSource& source) const {
        const auto identity = identities_.find(source.identity);
        if (source.identity.empty() || identity == identities_.end()) return true;
        const auto client = identity->second.clients.find(source.client);
        const std::size_t at_work = client == identity->second.clients.end() ? 0 : client->second.at_work;
        return at_work < limits_.of_client && may_begin(identity->second, source.is_long);
    }

    /// The first entry behind `last`, in a circle, for which `may` holds; the end: there is none.
    template <class Map, class May>
    [[nodiscard]] static auto next(Map& map, const typename Map::key_type& last, const May& may) {
        const auto start = map.upper_bound(last);
        for (auto it = start; it != map.end(); ++it)
            if (may(*it)) return it;
        for (auto it = map.begin(); it != start; ++it)
            if (may(*it)) return it;
        return map.end();
    }
    /// The client of the identity whose turn it is; the end: none may.
    [[nodiscard]] typename Clients::iterator find_client(typename Identities::value_type& identity) const {
        Identity& of = identity.second;
        const bool own = identity.first.empty();
        if (!own && !may_begin(of, false)) return of.clients.end();
        const bool no_long = !own && !may_begin(of, true);
        return next(of.clients, of.last, [this, own, no_long](const auto& one) {
            return !one.second.waiting.empty() && (own || one.second.at_work < limits_.of_client) &&
                   !(no_long && one.second.waiting.front().is_long);
        });
    }

    Limits limits_;
    Identities identities_;
    std::string last_;        // the identity whose item was taken last
    std::size_t waiting_ = 0; // items of all clients
};

} // namespace yk
