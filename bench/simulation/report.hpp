// SPDX-License-Identifier: MIT
//
// report: tables of the results, as text and as JSON. With several seeds: the median and the worst.

#ifndef WAYBILL_BENCH_SIMULATION_REPORT_HPP
#define WAYBILL_BENCH_SIMULATION_REPORT_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <map>
#include <string>
#include <vector>

#include "broker.hpp"

namespace simulation {

/// One figure over all seeds.
class figure {
public:
    void add(double value) { values_.push_back(value); }

    [[nodiscard]] const std::vector<double>& values() const { return values_; }
    [[nodiscard]] double median() const
    {
        std::vector<double> v = values_;
        std::sort(v.begin(), v.end());
        return v.empty() ? 0 : v[v.size() / 2];
    }
    /// Less is better in all of them.
    [[nodiscard]] double worst() const
    {
        return values_.empty() ? 0 : *std::max_element(values_.begin(), values_.end());
    }

private:
    std::vector<double> values_;
};

/// Figures by name; the names are those of the JSON.
using figures = std::map<std::string, figure>;

inline figures figures_of(const std::vector<tally>& seeds)
{
    figures f;
    const auto add = [&](const char* name, std::uint64_t n) {
        f[name].add(static_cast<double>(n));
    };
    for (const tally& t : seeds) {
        add("accepted", t.accepted);
        add("refused", t.refused);
        add("unknown", t.unknown);
        add("bytes_again", t.bytes_again);
        add("optimum", t.optimum);
        add("lost", t.lost);
        add("twice", t.twice);
        add("wrong", t.wrong);
        f["ratio"].add(t.ratio());
    }
    return f;
}

/// One algorithm with one kind of evidence: its tallies by scenario, for each seed.
struct row {
    std::string name;
    std::string sees;
    std::map<std::size_t, std::vector<tally>> by_scenario;
    std::string note{};  // a remark for the table

    [[nodiscard]] bool ran(std::size_t number) const { return by_scenario.count(number) != 0; }

    [[nodiscard]] bool ran_all_eight() const
    {
        for (std::size_t n = 1; n <= 8; ++n) {
            if (!ran(n)) return false;
        }
        return true;
    }

    [[nodiscard]] figures of(std::size_t number) const
    {
        const auto found = by_scenario.find(number);
        return found == by_scenario.end() ? figures{} : figures_of(found->second);
    }

    /// S1 to S8 together, or those of them that ran: all counts, the ratio of the sums as `ratio`,
    /// and the mean of the ratios as `mean`.
    [[nodiscard]] figures together() const
    {
        std::vector<tally> sums;
        std::vector<double> means;
        double ran_so_far = 0;
        for (const auto& [number, seeds] : by_scenario) {
            if (number > 8) continue;
            sums.resize(seeds.size());
            means.resize(seeds.size());
            ++ran_so_far;
            for (std::size_t i = 0; i != seeds.size(); ++i) {
                sums[i] += seeds[i];
                means[i] += seeds[i].ratio();
            }
        }
        figures f = figures_of(sums);
        for (const double m : means) f["mean"].add(m / ran_so_far);
        return f;
    }

    /// True if no message was lost, duplicated without an unknown outcome, or settled wrongly.
    [[nodiscard]] bool sound() const
    {
        for (const auto& [number, seeds] : by_scenario) {
            for (const tally& t : seeds) {
                if (t.lost != 0 || t.wrong != 0) return false;
            }
        }
        return true;
    }
};

/// Four digits, or three after the point.
inline std::string short_ratio(double r)
{
    char text[32];
    std::snprintf(text, sizeof text, "%.*f", r < 10 ? 3 : r < 100 ? 2 : 1, r);
    return text;
}

inline std::string count_pair(const figure& f)
{
    char text[64];
    std::snprintf(text, sizeof text, "%.0f/%.0f", f.median(), f.worst());
    return text;
}

inline std::string ratio_pair(const figure& f)
{
    return short_ratio(f.median()) + "/" + short_ratio(f.worst());
}

inline std::string label(const row& r)
{
    return r.name + ", " + r.sees;
}

/// A line for each algorithm: the median ratio of each scenario, and S1 to S8 together.
inline void print_overview(const std::vector<row>& rows)
{
    std::printf("%-14s", "");
    for (std::size_t n = 1; n <= scenarios; ++n) {
        std::printf(" %5s", ("S" + std::to_string(n)).c_str());
    }
    std::printf(" %9s %11s %11s\n", "refused", "mean", "summed");
    for (const row& r : rows) {
        std::printf("%-14s", label(r).c_str());
        for (std::size_t n = 1; n <= scenarios; ++n) {
            std::printf(" %5s", r.ran(n) ? short_ratio(r.of(n)["ratio"].median()).c_str() : "-");
        }
        figures f = r.together();
        const bool any = !f["mean"].values().empty();
        std::printf(" %9s %11s %11s%s\n", any ? count_pair(f["refused"]).c_str() : "-",
                    any ? ratio_pair(f["mean"]).c_str() : "-",
                    any ? ratio_pair(f["ratio"]).c_str() : "-", r.sound() ? "" : " !");
    }
}

inline void print_details(const std::vector<row>& rows)
{
    const auto line = [](const row& r, figures f) {
        std::printf("%-14s %11s %11s %7s %13s %13s %5.0f %11s %5.0f\n", label(r).c_str(),
                    count_pair(f["accepted"]).c_str(), count_pair(f["refused"]).c_str(),
                    count_pair(f["unknown"]).c_str(),
                    (short_ratio(f["bytes_again"].median() / 1e6) + "/" +
                     short_ratio(f["bytes_again"].worst() / 1e6))
                        .c_str(),
                    ratio_pair(f["ratio"]).c_str(), f["lost"].worst(),
                    count_pair(f["twice"]).c_str(), f["wrong"].worst());
    };
    const auto head = [](const std::string& what, const figure& optimum) {
        std::printf("\n%s, at best %s sends\n%-14s %11s %11s %7s %13s %13s %5s %11s %5s\n",
                    what.c_str(), count_pair(optimum).c_str(), "", "accepted", "refused", "unknown",
                    "MB again", "ratio", "lost", "twice", "wrong");
    };
    for (std::size_t n = 1; n <= scenarios; ++n) {
        bool headed = false;
        for (const row& r : rows) {
            if (!r.ran(n)) continue;
            figures f = r.of(n);
            if (!headed) head("S" + std::to_string(n), f["optimum"]);
            headed = true;
            line(r, f);
        }
    }
    bool headed = false;
    for (const row& r : rows) {
        figures f = r.together();
        if (f["mean"].values().empty()) continue;
        if (!headed) head("S1 to S8 summed", f["optimum"]);
        headed = true;
        line(r, f);
    }
}

/// The cost of one calibration for two destinations: S11, separate senders against a shared one.
inline void print_shared(const std::vector<row>& own, const std::vector<row>& shared)
{
    std::printf("\nS11, what was learnt is each destination's own, or shared by both\n");
    std::printf("%-14s %15s %15s %15s %15s\n", "", "ratio, own", "ratio, shared", "refused, own",
                "refused, shared");
    for (const row& s : shared) {
        for (const row& o : own) {
            if (label(o) != label(s) || !o.ran(11)) continue;
            figures a = o.of(11);
            figures b = s.of(11);
            std::printf("%-14s %15s %15s %15s %15s%s\n", label(s).c_str(),
                        ratio_pair(a["ratio"]).c_str(), ratio_pair(b["ratio"]).c_str(),
                        count_pair(a["refused"]).c_str(), count_pair(b["refused"]).c_str(),
                        s.sound() ? "" : " !");
        }
    }
}

/// An array of objects, one for each algorithm, evidence and scenario.
class json_file {
public:
    explicit json_file(const char* path) : file_(std::fopen(path, "w")) {}
    json_file(const json_file&) = delete;
    json_file& operator=(const json_file&) = delete;
    ~json_file()
    {
        if (file_) std::fclose(file_);
    }

    /// Returns false if the file could not be written.
    [[nodiscard]] bool write(const std::vector<row>& own, const std::vector<row>& shared,
                             const std::vector<row>& guessed)
    {
        if (!file_) return false;
        std::fputs("[", file_);
        for (const row& r : own) {
            for (const auto& [number, seeds] : r.by_scenario) {
                object(r, "S" + std::to_string(number), figures_of(seeds));
            }
            const figures f = r.together();
            if (f.count("mean") != 0) object(r, "S1-S8", f);
        }
        for (const row& r : shared) object(r, "S11 shared", r.of(11));
        for (const row& r : guessed) object(r, "S8, " + r.note, r.of(8));
        std::fputs("\n]\n", file_);
        return std::fflush(file_) == 0 && std::ferror(file_) == 0;
    }

private:
    void object(const row& r, const std::string& which, const figures& all)
    {
        std::fprintf(file_, "%s\n{\"algorithm\": \"%s\", \"evidence\": \"%s\",\n",
                     first_ ? "" : ",", r.name.c_str(), r.sees.c_str());
        std::fprintf(file_, " \"scenario\": \"%s\"", which.c_str());
        first_ = false;
        for (const auto& [name, f] : all) {
            std::fprintf(file_, ",\n \"%s\": {\"median\": %.10g, \"worst\": %.10g, \"seeds\": [",
                         name.c_str(), f.median(), f.worst());
            for (std::size_t i = 0; i != f.values().size(); ++i) {
                std::fprintf(file_, "%s%.10g", i == 0 ? "" : ", ", f.values()[i]);
            }
            std::fputs("]}", file_);
        }
        std::fputs("}", file_);
    }

    std::FILE* file_;
    bool first_ = true;
};

}  // namespace simulation

#endif  // WAYBILL_BENCH_SIMULATION_REPORT_HPP
