#pragma once
// The parts of a cycle that its observer may measure (interface.md section 6). Without an observer they cost a test.

#include "libcore/scheduler/cluster_context.h"

namespace yk {

/// A stage, from construction to destruction.
class StageScope {
public:
    StageScope(CycleObserver* observer, Stage stage) : observer_(observer), stage_(stage) {
        if (observer_ != nullptr) observer_->begin(stage_);
    }
    ~StageScope() {
        if (observer_ != nullptr) observer_->end(stage_);
    }
    StageScope(const StageScope&) = delete;
    StageScope& operator=(const StageScope&) = delete;

private:
    CycleObserver* observer_;
    Stage stage_;
};

} // namespace yk
