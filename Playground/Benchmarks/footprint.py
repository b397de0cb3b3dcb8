"""Measures how much of the processor's caches a request needs. run.sh builds the programs and calls this:

    footprint.py FOLDER [--rounds N] -- c=PROGRAM ours=PROGRAM api=PROGRAM neighbour=PROGRAM

c and ours take the arguments of http.py, api is APIBenchmark, whose ways bare and full decode what they receive: the
whole client is counted as ours and what full needs more than bare. First the times of C and ours with 1, 64 and 256 in
flight, while the neighbour walks over 8 MiB on the servers' core. Then cachegrind counts, in turn, with caches of fixed
sizes, so that the counts hardly differ between machines: 3,000 minus 1,000 GETs, 64 in flight. On stdout a JSON object a
line for each measurement, on stderr tables.
"""
import argparse
import json
import os
import pathlib
import re
import statistics
import subprocess
import sys

import http as cases
from server import CORE as SERVERS, servers

FEW, MANY = 1000, 3000
IN_FLIGHT = 64
CACHES = ["--cache-sim=yes", "--I1=32768,8,64", "--D1=32768,8,64", "--LL=262144,8,64"]
#: The lines of cachegrind's summary, and their names here.
COUNTS = {"I refs": "instructions", "I1 misses": "I1 misses", "LLi misses": "LL misses of instructions",
          "D1 misses": "D1 misses", "LL misses": "LL misses"}


def counts(program, words):
    """What cachegrind counts in a run, all threads together."""
    command = ["valgrind", "--tool=cachegrind", "--cachegrind-out-file=/dev/null", *CACHES, program, *map(str, words)]
    run = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    found = {re.sub(" +", " ", name): int(number.replace(",", ""))
             for name, number in re.findall(r"==\d+== ([A-Za-z0-9]+ +[a-z]+): +([\d,]+)", run.stderr)}
    if run.returncode != 0 or not COUNTS.keys() <= found.keys():
        sys.exit(f"cachegrind {program}: {run.stderr.strip()[-500:]}")
    return {name: found[line] for line, name in COUNTS.items()}


def footprints(programs, address, options):
    """The counts of a request, by program: medians of the rounds."""
    def words(name, count):
        if name in ("bare", "full"):
            return "once", name, address, count
        return "get", address + "/json", count, IN_FLIGHT

    rounds = {name: [] for name in ("c", "ours", "bare", "full")}
    for name in ("c", "ours", "api"):
        # valgrind 3.19 cannot read the debug information of Swift 6.3.
        stripped = options.folder / f"{name}-stripped"
        subprocess.run(["strip", "--strip-debug", "-o", stripped, programs[name]], check=True)
        programs[name] = stripped
    programs |= {"bare": programs["api"], "full": programs["api"]}
    for _ in range(options.rounds):
        for name, measured in rounds.items():
            few, many = (counts(programs[name], words(name, count)) for count in (FEW, MANY))
            measured.append({field: (many[field] - few[field]) / (MANY - FEW) for field in few})
            print(json.dumps({"client": name} | measured[-1]), flush=True)
    medians = {name: {field: statistics.median(one[field] for one in measured) for field in COUNTS.values()}
               for name, measured in rounds.items()}
    medians["client"] = {field: medians["ours"][field] + medians["full"][field] - medians["bare"][field]
                         for field in COUNTS.values()}
    shown = ("c", "ours", "client")
    cases.row("A request", *shown)
    cases.row("---", *("---:" for _ in shown))
    for field in COUNTS.values():
        cases.row(field, *(f"{medians[name][field]:,.0f}" for name in shown))
    return medians


def beside_a_neighbour(programs, addresses, options):
    """The requests a second of ours, in parts of those of C, while the neighbour runs."""
    with subprocess.Popen(["taskset", "-c", SERVERS, "nice", programs["neighbour"]]) as neighbour:
        try:
            chosen = [case for case in cases.CASES if case.name in ("get-1", "get-64", "get-256")]
            medians, failed = cases.run(chosen, {name: programs[name] for name in ("c", "ours")}, options.rounds,
                                        addresses, options.folder)
        finally:
            neighbour.kill()
    if failed:
        sys.exit(f"failed: {', '.join(failed)}")
    return {case.name: medians[case.name, "ours"]["figure"] / medians[case.name, "c"]["figure"] for case in chosen}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("programs", nargs="+", metavar="NAME=PROGRAM")
    options = parser.parse_args()
    programs = dict(program.split("=", 1) for program in options.programs)
    os.environ["CURL_CA_BUNDLE"] = str(options.folder / "cert.pem")
    with servers(options.folder) as addresses:
        timed = beside_a_neighbour(dict(programs), addresses, options)
        medians = footprints(programs, addresses["plain"], options)
    aims = [(f"{field} of {name}, beside C", "≤", bar, medians[name][field] / medians["c"][field])
            for name, field, bar in (("ours", "I1 misses", 1.2), ("ours", "LL misses", 1.5),
                                     ("client", "LL misses", 2.5))]
    aims += [(f"requests a second beside a neighbour, {name}, beside C", "≥", 0.85, ratio)
             for name, ratio in timed.items()]
    print(file=sys.stderr)
    cases.row("Aim", "", "this run", "")
    cases.row("---", "---:", "---:", "---")
    for text, sign, bar, value in aims:
        met = value <= bar if sign == "≤" else value >= bar
        cases.row(text, f"{sign} {bar}", f"{value:.2f}", "met" if met else "missed")


if __name__ == "__main__":
    main()
