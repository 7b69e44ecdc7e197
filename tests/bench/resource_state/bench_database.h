// SPDX-License-Identifier: Apache-2.0
#pragma once
// BenchDatabase: a database of mcs with rows in it, for one measurement: a file in a folder of its own, or a database
// of a private server that waits for the disk.
//
// What is here runs in the process that measures, but for the two functions that say so: SQLite must not be open when a
// process is divided in two.

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <variant>

#include "libcore/base/result.h"
#include "libcore/mcs/deployment.h"
#include "libcore/resource_state/ports/resource_store.h"
#include "protocol/databases/sql_connection.h"
#include "ykd/mcs/database_place.h"
#include "ykd/mcs/mcs_connections.h"

namespace yk::bench {

enum class Engine : std::uint8_t { Sqlite, Postgres };
[[nodiscard]] std::string name_of(Engine engine);
/// Why this machine has no such database, as a sentence; empty: it has.
[[nodiscard]] std::string why_missing(Engine engine);

/// Which rows there are.
struct Rows {
    std::size_t deployments = 0;
    std::size_t nodes = 0;
    bool has_scales = false;    // one for each Deployment, as the Autoscaler would have it
    bool has_schedules = false; // likewise, with all replicas placed
    std::string policy = "{}";  // of the Deployments; else they have two replicas

    friend auto operator<=>(const Rows&, const Rows&) = default;
};

/// The Deployment with this number, as it is in the database at first. Ids are 36 bytes long, and in no order.
[[nodiscard]] mcs::Deployment deployment_of(std::uint32_t number, const Rows& rows);
/// Of a name.
[[nodiscard]] std::uint32_t number_of(const mcs::Deployment& deployment);

class BenchDatabase {
public:
    BenchDatabase(Engine engine, std::string where) : engine_(engine), where_(std::move(where)) {}
    ~BenchDatabase();
    BenchDatabase(const BenchDatabase&) = delete;
    BenchDatabase& operator=(const BenchDatabase&) = delete;

    [[nodiscard]] Engine engine() const { return engine_; }
    [[nodiscard]] service::DatabasePlace place() const;
    /// As mcs.db.url of a daemon.
    [[nodiscard]] std::string url() const;
    /// A connection that is not the product's: it may take long.
    [[nodiscard]] Result<std::unique_ptr<rs::SqlConnection>> open() const;

private:
    const Engine engine_;
    const std::string where_; // the folder, or the name of the database
};

/// Databases with rows, each of which is filled once and then copied.
class FilledDatabases {
public:
    /// A new one with these rows. In the process that measures nothing.
    [[nodiscard]] Result<std::unique_ptr<BenchDatabase>> make(Engine engine, const Rows& rows);

private:
    std::map<std::pair<Engine, Rows>, std::unique_ptr<BenchDatabase>> filled_;
    int made_ = 0;
};

/// Changes every Deployment `times` times, and writes the events of that in an order that has nothing to do with that
/// of the ids. The same is in the database as if each change had been a transaction of its own, but it takes seconds.
[[nodiscard]] Result<void> change_all(const BenchDatabase& database, int times);

[[nodiscard]] inline Error to_error(const rs::StoreError& error) {
    return Error::at("database", error.message);
}

/// Calls `use` with each row of a kind, by ascending id.
template <rs::Resource T, class Use>
[[nodiscard]] Result<void> for_each_row(rs::ResourceStore<T>& store, Use&& use) {
    std::string after;
    for (bool is_last = false; !is_last;) {
        const auto page = store.read_page(after, 2000);
        if (!page.ok()) return to_error(page.error());
        for (const rs::Found<T>& found : page->found) {
            const auto* const row = std::get_if<rs::Ptr<T>>(&found);
            if (row == nullptr) return Error::at("database", "a row cannot be understood");
            use(**row);
        }
        after = page->last_id;
        is_last = page->is_last;
    }
    return {};
}

/// A hash over ids, uids, versions and contents of all rows of a kind in the order of their ids, and their number.
struct Digest {
    std::uint64_t hash = 0;
    std::size_t rows = 0;
    friend bool operator==(const Digest&, const Digest&) = default;

    template <rs::Resource T>
    void add(const T& row) {
        add(rs::meta_of(row), rs::ResourceTraits<T>::content_hash(row));
    }
    void add(const rs::ResourceMeta& meta, std::uint64_t content);
};
template <rs::Resource T>
[[nodiscard]] Result<Digest> digest_of(rs::ResourceStore<T>& store) {
    Digest digest;
    YK_CHECKED(for_each_row(store, [&digest](const T& row) { digest.add(row); }));
    return digest;
}
/// Of the Deployments.
[[nodiscard]] Result<Digest> digest_of(const BenchDatabase& database);

} // namespace yk::bench
