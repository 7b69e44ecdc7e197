#pragma once
// Clears: a flag that says "somebody is at it" falls at the end of the scope, also when something throws there.

#include <atomic>

namespace yk {

class Clears {
public:
    explicit Clears(std::atomic<bool>& flag) noexcept : flag_(flag) {}
    ~Clears() { flag_ = false; }
    Clears(const Clears&) = delete;
    Clears& operator=(const Clears&) = delete;

private:
    std::atomic<bool>& flag_;
};

} // namespace yk
