// SPDX-License-Identifier: Apache-2.0
#include "ykctl/replay/curves.h"

#include <catch2/catch.hpp>

#include <cmath>

namespace yk::replay {
namespace {

/// A run in which all that is asked for is allocated, up to a share of the GPUs.
std::vector<CurvePoint> run(double most) {
    std::vector<CurvePoint> points(kMostArrived + 1);
    for (std::size_t at = 0; at < points.size(); ++at)
        points[at] = {std::min(static_cast<double>(at) / 100, most), at == 100 ? 0.05 : 0};
    return points;
}

Experiment experiment() {
    Experiment made;
    made.nodes = 3;
    made.gpus = 12;
    made.seed = 1;
    made.runs = 2;
    made.curves = {curve_of("fragmentation", {run(0.95), run(0.97)}), curve_of("fair", {run(0.9), run(0.9)})};
    return made;
}

TEST_CASE("section 4: a curve is the mean of its runs, with their deviation at the end") {
    const Curve curve = curve_of("fair", {run(0.95), run(0.97)});
    CHECK(curve.points.size() == kMostArrived + 1);
    CHECK(curve.points[50].allocated == Approx(0.5));
    CHECK(curve.points[130].allocated == Approx(0.96));
    CHECK(curve.points[100].unusable == Approx(0.05));
    CHECK(curve.deviation == Approx(std::sqrt(2.0) / 100));
    CHECK(curve_of("fair", {run(0.95)}).deviation == 0);
}

TEST_CASE("replay --experiment: the report has a row for each policy, and the curves every ten per cent") {
    const std::string text = experiment_text(experiment());
    CHECK(text.find("3, with 12 GPUs") != std::string::npos);
    CHECK(text.find("fragmentation     96.00     96.00       1.41") != std::string::npos);
    CHECK(text.find("fair              90.00     90.00       0.00") != std::string::npos);
    CHECK(text.find("50 %") != std::string::npos);
    const wire::Value value = experiment_value(experiment());
    CHECK(value["curves"].size() == 2);
    CHECK(value["curves"][0]["points"].size() == kMostArrived + 1);
    CHECK(value["curves"][0]["points"][110]["arrived"] == 1.1);
}

TEST_CASE("replay --experiment: the picture has a line and a name for each policy") {
    const std::string svg = experiment_svg(experiment());
    CHECK(svg.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\""));
    CHECK(svg.ends_with("</svg>\n"));
    std::size_t lines = 0;
    for (std::size_t at = svg.find("<polyline"); at != std::string::npos; at = svg.find("<polyline", at + 1)) ++lines;
    CHECK(lines == 2);
    CHECK(svg.find(">fragmentation</text>") != std::string::npos);
    CHECK(svg.find("of 12 in 3 nodes (mean of 2 runs)") != std::string::npos);
    CHECK(svg.find("nan") == std::string::npos);
}

} // namespace
} // namespace yk::replay
