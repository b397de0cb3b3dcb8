"""Runs the WebSocket benchmark: the echo server on core 0, each peer in a separate process on core 1, in turns.

    websocket.py SERVER [--rounds N] [--idle COUNT] -- NAME=PROGRAM…

PROGRAMs take `echo PORT CONNECTIONS SIZE MESSAGES` or `idle PORT CONNECTIONS` and print one JSON object, as
Reference/websocket.c says. Prints a JSON object for each median to stdout, and a table to stderr. run.sh builds the
programs and calls this.
"""
import argparse
import json
import statistics
import subprocess
import sys

# Size, connections, messages.
CASES = [(64, 1, 30_000), (64, 64, 200_000), (65536, 1, 5_000), (65536, 64, 20_000)]
#: The limits for ours, beside the others.
BARS = {"c": 1.1, "nio": 1.0}
IDLE_KIB = 12


def run(program, *arguments):
    command = ["taskset", "-c", "1", program, *map(str, arguments)]
    return json.loads(subprocess.run(command, check=True, stdout=subprocess.PIPE, timeout=300).stdout)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("server")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--idle", type=int, default=10_000)
    parser.add_argument("programs", nargs="+")
    options = parser.parse_args()
    programs = dict(program.split("=", 1) for program in options.programs)
    server = subprocess.Popen(
        ["taskset", "-c", "0", options.server], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    port = int(server.stdout.readline())
    tell = lambda *row: print("| " + " | ".join(row) + " |", file=sys.stderr)
    try:
        tell("Messages, connections", "", *(f"{name}: µs of CPU, messages/s" for name in programs))
        tell("---", "---", *("---:" for _ in programs))
        for size, connections, messages in CASES:
            results = {name: [] for name in programs}
            for _ in range(options.rounds):
                for name, program in programs.items():
                    results[name].append(run(program, "echo", port, connections, size, messages))
            cpu = {n: statistics.median(1e6 * r["cpu_seconds"] / messages for r in rs) for n, rs in results.items()}
            rate = {n: statistics.median(messages / r["seconds"] for r in rs) for n, rs in results.items()}
            for name in programs:
                print(json.dumps({"case": "echo", "size": size, "connections": connections, "program": name,
                                  "cpu_us": round(cpu[name], 3), "messages_per_second": round(rate[name])}))
            tell(f"{size} B, {connections}", "", *(f"{cpu[n]:.2f}, {rate[n]:,.0f}" for n in programs))
            for name, bar in BARS.items():
                if name in programs:
                    ratio = cpu["ours"] / cpu[name]
                    tell("", f"ours beside {name}: {ratio:.2f}, at most {bar}: "
                         + ("met" if ratio <= bar else "missed"), *("" for _ in programs))
        idle = {name: run(program, "idle", port, options.idle)["kib"] / options.idle
                for name, program in programs.items()}
        for name in programs:
            print(json.dumps({"case": "idle", "connections": options.idle, "program": name,
                              "kib_per_connection": round(idle[name], 2)}))
        tell(f"idle, {options.idle}", "", *(f"{idle[n]:.1f} KiB" for n in programs))
        if "c" in idle:
            more = idle["ours"] - idle["c"]
            tell("", f"ours beyond c: {more:.1f} KiB, at most {IDLE_KIB}: "
                 + ("met" if more <= IDLE_KIB else "missed"), *("" for _ in programs))
    finally:
        server.stdin.close()
        server.wait(timeout=10)


main()
