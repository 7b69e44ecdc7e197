// SPDX-License-Identifier: Apache-2.0
#pragma once
// BookShelf: the books of detached RMs in the state directory, one file for each RM (protocol/books). Files that cannot
// be used are set aside under another name, never changed and never half used.
//
// Owner: Daemon. Thread: any; for one RM its owner thread, or the one that starts the daemon.

#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "libcore/base/result.h"
#include "protocol/books/book_keeper.h"
#include "ykd/process/degraded.h"

namespace yk::service {

/// The books that an earlier daemon left.
struct FoundBooks {
    std::string path;
    si::RegisterResourceManagerRequest registration;      // without an id: no RM was registered
    std::vector<std::string> partitions;                  // short names, as they ran
    bool from_file = false;                               // the configuration was that of the policy group's file
    std::vector<books::KeptConfiguration> configurations; // the oldest first, at least one
    std::unique_ptr<books::BookFile> file;
};

class BookShelf {
public:
    /// `directory`: the state directory; empty: no books are kept.
    BookShelf(std::string directory, Degraded& degraded) : directory_(std::move(directory)), degraded_(degraded) {}
    ~BookShelf();
    BookShelf(const BookShelf&) = delete;
    BookShelf& operator=(const BookShelf&) = delete;

    [[nodiscard]] bool is_open() const { return lock_ >= 0; }
    /// Takes the state directory for this process. An error: another ykd has it, or it cannot be used.
    [[nodiscard]] Result<void> open();
    /// The books in the directory that can be used. What cannot is set aside, or left alone when that is safer, and
    /// reported.
    [[nodiscard]] std::vector<FoundBooks> find();
    /// Starts to keep books that were found.
    [[nodiscard]] Result<std::shared_ptr<books::BookKeeper>> go_on(FoundBooks& found);
    /// Starts new books for an RM. An error: they cannot be made, or those that it had are still there.
    [[nodiscard]] Result<std::shared_ptr<books::BookKeeper>> begin(const std::string& rm_id);
    /// Removes the books of an RM, which are not kept any more. Those that were left are renamed.
    void remove(const std::string& rm_id);
    /// Leaves the books of an RM that could not be restored where they are, for the next start.
    void leave(const std::string& rm_id) { leave_path(path_of(rm_id)); }
    /// Gives a file another name, so that it is used by nobody, and reports why.
    void set_aside(const std::string& path, const std::string& why);

private:
    [[nodiscard]] std::string path_of(const std::string& rm_id) const;
    [[nodiscard]] Result<FoundBooks> read(std::unique_ptr<books::BookFile> file) const;
    [[nodiscard]] Result<std::shared_ptr<books::BookKeeper>> start(std::unique_ptr<books::BookFile> file,
                                                                   const std::string& rm_id);
    void leave_path(const std::string& path);
    /// Whether it was left; no longer.
    [[nodiscard]] bool take_left(const std::string& path);
    [[nodiscard]] std::string retire_left(const std::string& path, const std::string& rm_id);
    void refuse(const std::string& path, const books::BookFile::Refusal& refusal);
    [[nodiscard]] std::string folder() const { return directory_ + "/books"; }

    const std::string directory_;
    Degraded& degraded_;
    std::set<std::string> of_another_version_; // paths of books that another ykd can read; written by find() only
    int lock_ = -1;                            // the locked file
    std::mutex mutex_;                         // guards the rest
    std::set<std::string> left_;               // paths of books that were not restored, and are not to be lost
};

} // namespace yk::service
