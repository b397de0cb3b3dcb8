"""Runs the HTTP benchmark: the server, each peer in a process of its own, by turns.

    http.py FOLDER [--rounds N] [--cases CASE…] -- NAME=PROGRAM…

PROGRAMs take KIND URL COUNT INFLIGHT [FILE] and print one JSON object, as Reference/multi_uv.c says. A CASE is a name
or the beginning of some. On stdout a JSON object a line for each measurement and for each median, on stderr tables.
run.sh builds the programs and calls this.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
from dataclasses import dataclass

from server import LARGE, servers

CORE = "1"
OURS = "ours"


@dataclass(frozen=True)
class Case:
    name: str
    kind: str
    path: str
    count: int
    in_flight: int
    server: str = "plain"
    #: URLSession is an order of magnitude slower with small requests; its count is divided by this number.
    url_session_part: int = 4

    @property
    def is_large(self):
        return self.path == "/large" or self.kind == "upload"

    def figure(self, result):
        """Megabytes a second for large bodies, else requests a second."""
        return (result["bytes"] / 1e6 if self.is_large else result["requests"]) / result["seconds"]


CASES = [
    Case("get-1", "get", "/json", 12_000, 1),
    Case("get-64", "get", "/json", 40_000, 64),
    Case("get-256", "get", "/json", 40_000, 256),
    Case("get-1000", "get", "/json", 40_000, 1000),
    Case("typed-64", "typed", "/items", 20_000, 64),
    Case("post-64", "post", "/post", 30_000, 64),
    Case("connect-64", "get", "/closing", 6_000, 64),
    Case("tls-64", "get", "/json", 30_000, 64, "tls"),
    Case("http2-1", "http2", "/json", 12_000, 1, "http2"),
    Case("http2-64", "http2", "/json", 30_000, 64, "http2"),
    Case("discard", "discard", "/large", 6, 1, url_session_part=1),
    Case("download", "download", "/large", 4, 1, url_session_part=1),
    Case("upload", "upload", "/upload", 4, 1, url_session_part=1),
    Case("waiting-1000", "waiting", "/", 2_000, 1000, "waiting", url_session_part=1),
    Case("waiting-5000", "waiting", "/", 10_000, 5000, "waiting", url_session_part=1),
]


class Bar:
    """What is aimed at: one figure over another, at least or at most so much."""

    def __init__(self, text, case, field, least, peer="c", than=None):
        self.text, self.case, self.field, self.least, self.peer, self.than = text, case, field, least, peer, than

    def value(self, medians):
        ours, peer = medians.get((self.case, OURS)), medians.get((self.than or self.case, self.peer))
        return ours[self.field] / peer[self.field] if ours and peer else None


BARS = [
    *(Bar(f"{n} in flight, beside C", f"get-{n}", "figure", 0.9) for n in (1, 64, 256)),
    Bar("64 in flight, beside AsyncHTTPClient", "get-64", "figure", 2, "ahc"),
    Bar("64 in flight, beside URLSession", "get-64", "figure", 9, "urlsession"),
    *(Bar(f"256 MB, {n}, beside C", n, "figure", 0.95) for n in ("discard", "download", "upload")),
    Bar("typed, beside AsyncHTTPClient with JSONDecoder", "typed-64", "figure", 1.6, "ahc"),
    Bar("peak memory with 1,000 in flight, beside AsyncHTTPClient", "waiting-1000", "peak_kib", -1, "ahc"),
    Bar("cost of a request with 1,000 in flight, beside that with 64", "get-1000", "cost", -1.2, OURS, "get-64"),
]


# Measuring

def measure(case, name, program, addresses, folder):
    count = case.count // case.url_session_part if name == "urlsession" else case.count
    words = [case.kind, addresses[case.server] + case.path, str(count), str(case.in_flight)]
    if case.kind == "download":
        words.append(str(folder / "downloaded"))
    if case.kind == "upload":
        words.append(str(folder / "large"))
    environment = os.environ | {"CURL_CA_BUNDLE": str(folder / "cert.pem")}
    try:
        done = subprocess.run(["taskset", "-c", CORE, program, *words], env=environment, timeout=60,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    except subprocess.TimeoutExpired:
        return {"error": "not done within 60 seconds"}
    if done.returncode != 0:
        return {"error": done.stderr.strip()[-500:] or f"exit status {done.returncode}"}
    result = json.loads(done.stdout)
    moved = LARGE if case.is_large else 1
    if result["requests"] != count or result["bytes"] < count * moved:
        return {"error": f"not all of the work was done: {result}"}
    return result | {"figure": case.figure(result), "cost": result["cpu_seconds"] / result["requests"] * 1e6}


def run(cases, programs, rounds, addresses, folder):
    """The medians by case and client, and the clients that have failed; these sit the rest of a case out."""
    medians, failed = {}, set()
    for case in cases:
        # On Linux, URLSession accepts only the system's certificate authorities. The C program does not decode.
        left_out = "urlsession" if case.server in ("tls", "http2") else "c" if case.kind == "typed" else None
        results = {name: [] for name in programs if name.partition("@")[0] != left_out}
        for number in range(rounds):
            for name in list(results):
                result = measure(case, name, programs[name], addresses, folder)
                print(json.dumps({"case": case.name, "client": name, "round": number} | result), flush=True)
                if "error" in result:
                    print(f"{case.name}, {name}: {result['error']}", file=sys.stderr)
                    del results[name]
                    failed.add(name)
                else:
                    results[name].append(result)
        for name, measured in results.items():
            medians[case.name, name] = median(measured)
            print(json.dumps({"median": True, "case": case.name, "client": name} | medians[case.name, name]), flush=True)
        print(f"{case.name} measured", file=sys.stderr)
    return medians, failed


def median(results):
    return {field: statistics.median(result[field] for result in results)
            for field in ("figure", "cost", "cpu_seconds", "peak_kib")}


# Tables

def ours_beside(name):
    """Ours with the libcurl that the peer has, named behind an @ where it is not the system's."""
    return OURS + "".join(name.partition("@")[1:])


def row(*cells):
    print("| " + " | ".join(cells) + " |", file=sys.stderr)


def table(title, cases, names, medians, value, ratio):
    print(f"\n{title}\n", file=sys.stderr)
    others = [name for name in names if not name.startswith(OURS)]
    row("Case", *names, *(f"{ours_beside(name)} / {name}" for name in others if ratio))
    row("---", *("---:" for _ in range(len(names) + (len(others) if ratio else 0))))
    for case in cases:
        cells = [medians.get((case.name, name)) for name in names]
        pairs = [(medians.get((case.name, ours_beside(name))), medians.get((case.name, name))) for name in others]
        ratios = [f"{ours['figure'] / peer['figure']:.2f}" if ours and peer else "–" for ours, peer in pairs] \
            if ratio else []
        row(case.name, *(value(case, cell) if cell else "–" for cell in cells), *ratios)


def report(cases, names, medians):
    table("Requests a second; for the large bodies megabytes a second", cases, names, medians,
          lambda case, cell: f"{cell['figure']:,.0f}", True)
    table("Processor time, µs a request", cases, names, medians, lambda case, cell: f"{cell['cost']:,.1f}", False)
    table("Peak memory, MiB", cases, names, medians, lambda case, cell: f"{cell['peak_kib'] / 1024:,.1f}", False)
    values = [(bar, bar.value(medians)) for bar in BARS]
    if not any(value for _, value in values):
        return
    print("\nWhat is aimed at\n", file=sys.stderr)
    row("Aim", "", "this run", "")
    row("---", "---:", "---:", "---")
    for bar, value in values:
        if value is None:
            continue
        met = value >= bar.least if bar.least > 0 else value <= -bar.least
        sign = "≥" if bar.least > 0 else "≤"
        row(bar.text, f"{sign} {abs(bar.least)}", f"{value:.2f}", "met" if met else "missed")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("programs", nargs="+", metavar="NAME=PROGRAM")
    parser.add_argument("--cases", nargs="*", default=[])
    arguments = parser.parse_args()
    names = {case.name for case in CASES}
    chosen = {name for word in arguments.cases or [""]
              for name in names if name == word or word not in names and name.startswith(word)}
    cases = [case for case in CASES if case.name in chosen]
    if not cases:
        sys.exit("no such case; there are: " + " ".join(case.name for case in CASES))
    programs = dict(program.split("=", 1) for program in arguments.programs)

    with servers(arguments.folder) as addresses:
        medians, failed = run(cases, programs, arguments.rounds, addresses, arguments.folder)
    report(cases, list(programs), medians)
    sys.exit(OURS in failed)


if __name__ == "__main__":
    main()
