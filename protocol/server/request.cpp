// SPDX-License-Identifier: Apache-2.0
#include "protocol/server/request.h"

#include <utility>

namespace yk::wire {

Request::Request(std::shared_ptr<ReplyTarget> target, SpMessage message, TransportBudget::Charge charge)
    : target_(std::move(target)), message_(std::move(message)), charge_(std::move(charge)), peer_(target_->peer()) {}

Request& Request::operator=(Request&& other) noexcept {
    if (this == &other) return *this;
    if (target_) target_->drop(std::move(charge_));
    target_ = std::move(other.target_);
    message_ = std::move(other.message_);
    charge_ = std::move(other.charge_);
    peer_ = std::move(other.peer_);
    return *this;
}

Request::~Request() {
    if (target_) target_->drop(std::move(charge_));
}

void Request::reply(std::span<const std::string_view> parts) {
    if (target_) std::exchange(target_, nullptr)->reply(message_, std::move(charge_), parts);
}

void Request::disconnect() {
    if (target_) std::exchange(target_, nullptr)->give_up(std::move(charge_), "");
}

void Request::trust() const {
    if (target_) target_->trust();
}

} // namespace yk::wire
