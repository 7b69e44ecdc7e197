// SPDX-License-Identifier: Apache-2.0
#include "tests/sim/disk.h"

#include <fcntl.h>
#include <sqlite3.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <new>

namespace yk::sim {
namespace {

constexpr double kFewer = 20; // operations of SQLite for each of one that concerns a file without it

Disk* the_disk = nullptr; // SQLite hands its own pointers to the functions below

/// What SQLite sees as an open file. The file of the layer below follows it in memory.
struct LayerFile {
    sqlite3_file base;
    std::string* path; // nullptr: a temporary file, which no fault concerns
    sqlite3_file* real;
};

LayerFile& of(sqlite3_file* file) {
    return *reinterpret_cast<LayerFile*>(file);
}

sqlite3_vfs& below(sqlite3_vfs* vfs) {
    return *static_cast<sqlite3_vfs*>(vfs->pAppData);
}

int close_file(sqlite3_file* file) {
    LayerFile& layer = of(file);
    const int code = layer.real->pMethods != nullptr ? layer.real->pMethods->xClose(layer.real) : SQLITE_OK;
    delete layer.path;
    layer.path = nullptr;
    return code;
}

int read_file(sqlite3_file* file, void* into, int size, sqlite3_int64 at) {
    LayerFile& layer = of(file);
    if (!the_disk->works()) return SQLITE_IOERR_READ;
    if (layer.path != nullptr && the_disk->strikes(the_disk->faults().failed_read, "disk: failed read"))
        return SQLITE_IOERR_READ;
    return layer.real->pMethods->xRead(layer.real, into, size, at);
}

/// Remembers `size` bytes at `at`.
void remember(LayerFile& layer, int size, sqlite3_int64 at) {
    sqlite3_int64 length = 0;
    layer.real->pMethods->xFileSize(layer.real, &length);
    std::string before;
    if (at < length) {
        before.resize(static_cast<std::size_t>(std::min<sqlite3_int64>(size, length - at)));
        layer.real->pMethods->xRead(layer.real, before.data(), static_cast<int>(before.size()), at);
    }
    the_disk->remember(*layer.path, at, std::move(before), length);
}

int write_file(sqlite3_file* file, const void* bytes, int size, sqlite3_int64 at) {
    LayerFile& layer = of(file);
    if (!the_disk->works()) return SQLITE_IOERR_WRITE;
    if (layer.path == nullptr) return layer.real->pMethods->xWrite(layer.real, bytes, size, at);
    if (the_disk->strikes(the_disk->faults().full, "disk: full")) return SQLITE_FULL;
    if (the_disk->world().sabotages(sabotage::kLostWrite, 0.02)) return SQLITE_OK;
    remember(layer, size, at);
    if (the_disk->strikes(the_disk->faults().short_write, "disk: short write")) {
        const int part = static_cast<int>(the_disk->world().choose(static_cast<std::size_t>(size)));
        if (part > 0) layer.real->pMethods->xWrite(layer.real, bytes, part, at);
        return SQLITE_FULL; // as SQLite has it for a write that was cut short
    }
    return layer.real->pMethods->xWrite(layer.real, bytes, size, at);
}

int truncate_file(sqlite3_file* file, sqlite3_int64 size) {
    LayerFile& layer = of(file);
    if (!the_disk->works()) return SQLITE_IOERR_TRUNCATE;
    if (layer.path != nullptr) {
        sqlite3_int64 length = 0;
        layer.real->pMethods->xFileSize(layer.real, &length);
        if (size < length) remember(layer, static_cast<int>(length - size), size);
    }
    return layer.real->pMethods->xTruncate(layer.real, size);
}

int sync_file(sqlite3_file* file, int flags) {
    LayerFile& layer = of(file);
    if (!the_disk->works()) return SQLITE_IOERR_FSYNC;
    if (layer.path == nullptr) return layer.real->pMethods->xSync(layer.real, flags);
    if (the_disk->strikes(the_disk->faults().failed_sync, "disk: failed sync")) return SQLITE_IOERR_FSYNC;
    the_disk->synced(*layer.path);
    return SQLITE_OK; // the file is in memory
}

int size_of_file(sqlite3_file* file, sqlite3_int64* size) {
    return of(file).real->pMethods->xFileSize(of(file).real, size);
}
int lock_file(sqlite3_file* file, int level) {
    return of(file).real->pMethods->xLock(of(file).real, level);
}
int unlock_file(sqlite3_file* file, int level) {
    return of(file).real->pMethods->xUnlock(of(file).real, level);
}
int check_lock(sqlite3_file* file, int* result) {
    return of(file).real->pMethods->xCheckReservedLock(of(file).real, result);
}
int control_file(sqlite3_file* file, int what, void* with) {
    return of(file).real->pMethods->xFileControl(of(file).real, what, with);
}
int sector_size(sqlite3_file* file) {
    return of(file).real->pMethods->xSectorSize(of(file).real);
}
int characteristics(sqlite3_file* file) {
    return of(file).real->pMethods->xDeviceCharacteristics(of(file).real);
}

/// Version 1: without shared memory, which books do not use, as they lock their file for themselves.
const sqlite3_io_methods kMethods{
    1,         close_file,  read_file,  write_file,   truncate_file, sync_file,       size_of_file,
    lock_file, unlock_file, check_lock, control_file, sector_size,   characteristics, nullptr,
    nullptr,   nullptr,     nullptr,    nullptr,      nullptr};

int open_file(sqlite3_vfs* vfs, const char* name, sqlite3_file* file, int flags, int* out_flags) {
    LayerFile& layer = *new (file) LayerFile{};
    layer.real = reinterpret_cast<sqlite3_file*>(&layer + 1);
    if (!the_disk->works()) return SQLITE_CANTOPEN;
    const int code = below(vfs).xOpen(&below(vfs), name, layer.real, flags, out_flags);
    if (code != SQLITE_OK) return code;
    if (name != nullptr) layer.path = new std::string(name);
    layer.base.pMethods = &kMethods;
    return code;
}

int delete_file(sqlite3_vfs* vfs, const char* name, int sync) {
    if (!the_disk->works()) return SQLITE_IOERR_DELETE;
    the_disk->forget(name);
    return below(vfs).xDelete(&below(vfs), name, sync);
}

/// Each connection has its log copied into its file after fewer pages than usual, or a run would hardly come to it.
int open_connection(sqlite3* connection, char** /*message*/, const sqlite3_api_routines* /*routines*/) {
    return sqlite3_wal_autocheckpoint(connection, the_disk->checkpoint_pages());
}

sqlite3_vfs layer_vfs{};

} // namespace

Disk::Disk() {
    the_disk = this;
    const std::string memory =
        std::filesystem::is_directory("/dev/shm") ? "/dev/shm" : std::filesystem::temp_directory_path().string();
    std::string name = memory + "/ykd_sim.XXXXXX";
    if (::mkdtemp(name.data()) == nullptr) {
        std::perror(name.c_str());
        std::exit(1);
    }
    root_ = name;
    folder_ = root_ + "/state";
    sqlite3_initialize();
    sqlite3_vfs* const real = sqlite3_vfs_find(nullptr);
    layer_vfs = *real;
    layer_vfs.pNext = nullptr;
    layer_vfs.zName = "simulated";
    layer_vfs.szOsFile = static_cast<int>(sizeof(LayerFile)) + real->szOsFile;
    layer_vfs.pAppData = real;
    layer_vfs.xOpen = open_file;
    layer_vfs.xDelete = delete_file;
    sqlite3_vfs_register(&layer_vfs, 1);
    sqlite3_auto_extension(reinterpret_cast<void (*)()>(open_connection));
}

Disk::~Disk() {
    sqlite3_reset_auto_extension();
    sqlite3_vfs_unregister(&layer_vfs);
    std::filesystem::remove_all(root_);
}

void Disk::begin(World& world) {
    world_ = &world;
    faults_ = {};
    dead_ = false;
    dies_in_ = strikes_ = 0;
    constexpr std::array kPages{1, 1, 8, 1000};
    checkpoint_pages_ = kPages.at(world.choose(kPages.size()));
    unsynced_.clear();
    plain_.forget();
    world.set_files(
        [this](FileStep step, const std::string& path, const std::string& to) { return before(step, path, to); });
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directory(folder_);
}

bool Disk::strikes(double probability, const char* what) {
    if (probability <= 0 || !world_->chance(probability)) return false;
    ++strikes_;
    world_->trace("{}", what);
    world_->cover(state_ ? fmt::format("{} while {}", what, state_()) : what);
    return true;
}

void Disk::die_in(std::uint64_t operations, std::function<void()> died) {
    dies_in_ = operations;
    died_ = std::move(died);
}

bool Disk::works() {
    if (dies_in_ != 0 && --dies_in_ == 0 && !dead_) {
        dead_ = true;
        if (const auto died = std::exchange(died_, {})) died();
    }
    return !dead_;
}

void Disk::synced(const std::string& path) {
    if (!world_->sabotages(sabotage::kForgottenSync, 1)) unsynced_.erase(path);
}

void Disk::remember(const std::string& path, std::int64_t at, std::string before, std::int64_t size_before) {
    unsynced_[path].push_back({at, std::move(before), size_before});
}

/// Of a file without SQLite: the errno of what strikes; 0: nothing does.
int Disk::before(FileStep step, const std::string& path, const std::string& to) {
    if (!works()) return EIO;
    if (const int fault = fault_of(step); fault != 0) return fault;
    const bool is_sync = step == FileStep::Sync || step == FileStep::SyncFolder;
    if (!is_sync || !world_->sabotages(sabotage::kForgottenSync, 1)) plain_.note(step, path, to);
    return 0;
}

int Disk::fault_of(FileStep step) {
    switch (step) {
    case FileStep::Read: return strikes(kFewer * faults_.failed_read, "kept file: failed read") ? EIO : 0;
    case FileStep::Write:
        return strikes(kFewer * (faults_.full + faults_.short_write), "kept file: disk full") ? ENOSPC : 0;
    case FileStep::Sync:
    case FileStep::SyncFolder: return strikes(faults_.failed_sync, "kept file: failed sync") ? EIO : 0;
    case FileStep::Rename:
    case FileStep::Remove: return strikes(kFewer * faults_.full, "kept file: failed rename or removal") ? EIO : 0;
    }
    return 0;
}

/// Of what was not synced a part from the beginning is there, in the order of the writes, and perhaps some of the rest.
void Disk::lose_unsynced(const std::string& path, const std::vector<Change>& changes) {
    const int file = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
    if (file < 0) return;
    const std::size_t kept = world_->choose(changes.size() + 1);
    for (std::size_t i = changes.size(); i > kept; --i) {
        const Change& change = changes[i - 1];
        const auto at = static_cast<off_t>(change.at);
        if (!change.before.empty() && ::pwrite(file, change.before.data(), change.before.size(), at) !=
                                          static_cast<ssize_t>(change.before.size()))
            world_->fail("the simulation cannot write " + path);
        if (::ftruncate(file, static_cast<off_t>(change.size_before)) != 0)
            world_->fail("the simulation cannot cut " + path);
    }
    ::close(file);
    world_->trace("disk: {} of {} unsynced writes are left in {}", kept, changes.size(), path.substr(folder_.size()));
}

void Disk::revive(bool power) {
    dead_ = false;
    dies_in_ = 0;
    const auto unsynced = std::exchange(unsynced_, {});
    if (!power) return; // what was written stays in the memory of the system, and reaches the disk some time
    for (const auto& [path, changes] : unsynced) lose_unsynced(path, changes);
    if (plain_.lose_unsynced(*world_)) world_->cover("disk: unsynced kept files lost");
    if (!unsynced.empty()) world_->cover("disk: unsynced writes lost");
}

} // namespace yk::sim
