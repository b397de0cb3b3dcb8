"""Measures what the pipeline costs beside the bare transport. run.sh builds the program and calls this:

    api.py FOLDER [--rounds ROUNDS] [--count COUNT] [--cases CASE...] -- PROGRAM

On stdout a JSON object a line for each measurement, on stderr a table and what is aimed at.
"""
import argparse
import json
import os
import pathlib
import re
import shutil
import socket
import statistics
import subprocess
import sys
import threading
import urllib.parse

from server import servers

CORE = "1"
WAYS = ("bare", "foundation", "client", "full", "intercepted", "metrics", "tracing")
#: Those with a front end. Without callgrind, under which no program sends more requests a second than are shown.
INSPECTED = ("inspected", "shown")
#: The numbers of requests under callgrind: the difference between the two runs excludes the cost of the start. With
#: fewer, the first run may open fewer connections than the second.
FEW, MANY = 1300, 4300
#: The runs under callgrind, of which the median counts.
RUNS = 3
ITEMS = 1_000_000


def program_lines(program, *words):
    """The lines of JSON that a run of the program prints, shown as they come."""
    with subprocess.Popen(["taskset", "-c", CORE, program, *map(str, words)], stdout=subprocess.PIPE, text=True) as run:
        lines = []
        for line in run.stdout:
            print(line, end="", flush=True)
            lines.append(json.loads(line))
    if run.returncode != 0:
        sys.exit(f"{' '.join(map(str, words))}: exit status {run.returncode}")
    return lines


def read_inspector(address):
    """Opens a front end at the WebSocket, and returns when it is sent requests; it reads until the end."""
    url = urllib.parse.urlsplit(address)
    connection = socket.create_connection((url.hostname, url.port))
    connection.sendall((f"GET {url.path} HTTP/1.1\r\nHost: {url.netloc}\r\nUpgrade: websocket\r\n"
                        "Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
                        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n").encode())
    command = b'{"id":1,"method":"Network.enable"}'
    # The masking key 0 changes nothing.
    connection.sendall(bytes([0x81, 0x80 | len(command), 0, 0, 0, 0]) + command)
    received = b""
    while b'"id":1' not in received:
        part = connection.recv(1 << 16)
        if not part:
            sys.exit(f"the inspector refuses a front end: {received[:200]}")
        received += part

    def read():
        os.sched_setaffinity(0, {0})
        while True:
            try:
                if not connection.recv(1 << 20):
                    return
            except ConnectionError:
                return

    threading.Thread(target=read, daemon=True).start()


def once(command, way, address, count):
    """Runs one way by the command, those of INSPECTED with a front end. Returns its last line and its standard error."""
    with subprocess.Popen([*command, "once", way, address, str(count)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True) as run:
        if way in INSPECTED:
            read_inspector(json.loads(run.stdout.readline())["inspector"])
        lines, errors = run.communicate("\n")
    if run.returncode != 0:
        sys.exit(f"{way}: exit status {run.returncode}: {errors.strip()[-500:]}")
    return json.loads(lines.splitlines()[-1]), errors


def instructions(program, way, address, count):
    """What all threads of a run execute outside the kernel."""
    _, errors = once(["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", program], way, address, count)
    found = re.search(r"Collected : (\d+)", errors)
    if not found:
        sys.exit(f"callgrind: {errors.strip()[-500:]}")
    return int(found[1])


def inspected(program, address, options, full):
    """The ways with an inspector: their times beside those of the full way, each in processes of their own, by turns. With
    five times the requests, so that those that are shown at once at the beginning count less than those of each second."""
    times = {way: [] for way in ("full", *INSPECTED)}
    for _ in range(options.rounds):
        for way in times:
            line, _ = once(["taskset", "-c", CORE, program], way, address, 5 * options.count)
            times[way].append(line["microseconds"])
    for way in INSPECTED:
        ratio = statistics.median(time / plain for time, plain in zip(times[way], times["full"]))
        result = {"case": "requests", "way": way, "microseconds": statistics.median(times[way]),
                  "ratio": full["ratio"] * ratio}
        print(json.dumps(result), flush=True)
        yield way, result


def requests(program, addresses, options):
    lines = program_lines(program, "requests", addresses["plain"], options.count, options.rounds)
    results = {line["way"]: line for line in lines}
    results |= inspected(program, addresses["plain"], options, results["full"])
    if shutil.which("valgrind"):
        # valgrind 3.19 cannot read the debug information of Swift 6.3.
        stripped = options.folder / "program"
        subprocess.run(["strip", "--strip-debug", "-o", stripped, program], check=True)
        # By turns, because libcurl's share differs from run to run.
        runs = {way: [] for way in WAYS}
        for _ in range(RUNS):
            for way in WAYS:
                few, many = (instructions(stripped, way, addresses["plain"], count) for count in (FEW, MANY))
                runs[way].append(round((many - few) / (MANY - FEW)))
        for way in WAYS:
            results[way]["instructions"] = statistics.median(runs[way])
            print(json.dumps({"case": "instructions", "way": way, "instructions": runs[way]}), flush=True)
    row("Way", "µs", "beside bare", "instructions", "beside bare", "mallocs")
    row("---", *["---:"] * 5)
    for way in WAYS + INSPECTED:
        result = results[way]
        count, bare = (results[name].get("instructions") for name in (way, "bare"))
        row(way, f"{result['microseconds']:.1f}", f"{result['ratio']:.2f}", f"{count:,}" if count else "–",
            f"{count / bare:.2f}" if count else "–", f"{result['mallocs']:.1f}" if "mallocs" in result else "–")
    yield "processor time of the full way, beside the bare one", "≤", 1.2, results["full"]["ratio"]
    yield "allocations of the full way, beyond the bare one", "≤", 12, results["full"]["mallocs"] - results["bare"]["mallocs"]
    # Instructions if possible: the limits are smaller than the differences between the times of two runs.
    measure, name = ("instructions", "instructions") if "instructions" in results["full"] else ("ratio", "processor time")
    for way, other, limit in (("client", "bare", 1.08), ("full", "bare", 1.15), ("intercepted", "bare", 1.25),
                              ("metrics", "full", 1.01), ("tracing", "full", 1.06)):
        yield (f"{name} of the way {way}, beside {other}", "≤", limit, results[way][measure] / results[other][measure])
    yield ("processor time of the way inspected, beside the full one", "≤", 1.15,
           results["inspected"]["ratio"] / results["full"]["ratio"])
    yield ("processor time of the full way, beside the transport and Foundation's decoder", "≤", 1.15,
           results["full"]["ratio"] / results["foundation"]["ratio"])


def cache(program, addresses, options):
    lines = program_lines(program, "cache", addresses["plain"], 10 * options.count, options.rounds)
    row("Response by", "µs")
    row("---", "---:")
    for line in lines:
        row(line["way"], f"{line['microseconds']:.2f}")
    yield "µs for a response from memory, through a client", "≤", 3, lines[-1]["microseconds"]


def items(program, addresses, options):
    lines = program_lines(program, "items", addresses["pages"], ITEMS)
    row("Items", "resident MiB", "µs an item")
    row("---:", "---:", "---:")
    for line in lines:
        row(f"{line['items']:,}", f"{line['residentKiB'] / 1024:.1f}", f"{line['microseconds']:.2f}")
    resident = [line["residentKiB"] for line in lines]
    yield ("memory in the second half of a million items, beside that in the first", "≤", 1.05,
           statistics.median(resident[5:]) / statistics.median(resident[:5]))


CASES = {"requests": requests, "cache": cache, "items": items}


def row(*cells):
    print("| " + " | ".join(cells) + " |", file=sys.stderr)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--cases", nargs="*", default=[])
    parser.add_argument("program")
    options = parser.parse_args()
    if unknown := [case for case in options.cases if case not in CASES]:
        sys.exit(f"no such case: {' '.join(unknown)}; there are: {' '.join(CASES)}")
    aims = []
    with servers(options.folder) as addresses:
        for case in options.cases or CASES:
            aims += CASES[case](options.program, addresses, options)
            print(file=sys.stderr)
    row("Aim", "", "this run", "")
    row("---", "---:", "---:", "---")
    for text, sign, bar, value in aims:
        row(text, f"{sign} {bar}", f"{value:.2f}", "met" if value <= bar else "missed")


if __name__ == "__main__":
    main()
