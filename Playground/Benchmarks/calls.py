"""Counts the functions of the framework that a request calls. run.sh builds the program, for debugging, and calls this:

    calls.py FOLDER -- PROGRAM

callgrind counts in a debug build, which inlines nothing: on the way down what the subscription calls until libcurl has the
request, on the way up what is called for the events of its socket. Functions, initializers and closures of the framework
count. What the compiler adds does not: accessors of properties, thunks, copies, metadata. A request's count is the
difference between two numbers of requests. On stdout a JSON object a line, on stderr a table.
"""
import argparse
import collections
import json
import os
import pathlib
import re
import subprocess
import sys

from server import servers

FEW, MANY = 20, 60
#: The functions within which calls count, as they are mangled.
WAYS = {"down": "*subscribeOnLoop*", "up": "*RxCurl5MultiC5drive*"}
MODULE = re.compile(r"\$s\d+(Rx[A-Z][A-Za-z]+|Rx[A-Za-z]+)")
#: The kinds of symbols at the end of a mangled name that are no function in the source: accessors (of variables and
#: subscripts), default arguments, thunks, witnesses, metadata, deallocation, copies and outlined code, and their merging.
ADDED = re.compile(
    r"(assert(Inside|Current).*|preconditionCurrent.*|didEnteryyF|didLeaveyyF|w[a-z]{2}|__derived_.*|v[gsM][A-Za-z0-9_]*U\d*_|v[gsMrwWal][A-Za-z]?|vpfi|i[gsMr]|au|A\d*_|T[ARrWwIJjqTc].*|TR|W.|M.|f[dD]|Z?v[gsM]Z|Ta|WO.|m)(Z)?(Tm|TA|TY\d_|TQ\d_)?$")


def counted(symbol):
    """The module of a function that counts."""
    name = symbol.split("'")[0]
    if not name.startswith("$s") or ADDED.search(name):
        return None
    found = MODULE.match(name)
    # An extension of another module's type begins with that type; the module that made it follows.
    if not found and (extension := re.match(r"\$s.*?\d+(Rx[A-Za-z]+)E", name)):
        return extension[1]
    return found[1] if found else None


def calls(program, pattern, way, address, count, folder):
    """The calls of each function within those of the pattern."""
    profile = folder / "profile"
    command = ["valgrind", "--tool=callgrind", f"--callgrind-out-file={profile}", f"--toggle-collect={pattern}",
               program, "calls", way, address, str(count)]
    run = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if run.returncode != 0:
        sys.exit(f"callgrind: {run.stderr.strip()[-500:]}")
    names, found, callee = {}, collections.Counter(), None
    for line in profile.read_text(errors="replace").splitlines():
        if match := re.match(r"(c?)fn=\((\d+)\)(?: (.*))?$", line):
            if match[3]:
                names[match[2]] = match[3]
            if match[1]:
                callee = match[2]
        elif match := re.match(r"calls=(\d+)", line):
            found[names.get(callee, "")] += int(match[1])
    return found


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("--list", choices=WAYS, help="also print the functions of the way, for the whole client")
    parser.add_argument("program")
    options = parser.parse_args()
    # valgrind 3.19 cannot read the debug information of Swift 6.3.
    program = options.folder / "program"
    subprocess.run(["strip", "--strip-debug", "-o", program, options.program], check=True)
    results = {}
    with servers(options.folder) as addresses:
        for direction, pattern in WAYS.items():
            for way in ("bare", "client", "full"):
                few, many = (calls(program, pattern, way, addresses["plain"], count, options.folder)
                             for count in (FEW, MANY))
                modules = collections.Counter()
                for symbol, count in many.items():
                    each = (count - few[symbol]) / (MANY - FEW)
                    if each > 0 and (module := counted(symbol)) and module != "RxJSON":
                        modules[module] += each
                        if options.list == direction and way == "full":
                            print(f"{each:6.1f} {symbol}")
                results[direction, way] = sum(modules.values())
                print(json.dumps({"direction": direction, "way": way, "calls": round(results[direction, way], 1),
                                  "modules": {name: round(each, 1) for name, each in modules.most_common()}}), flush=True)
    aims = [("calls down of the full way", 80, results["down", "full"]),
            ("calls down of the full way, without those of the transport alone", 40,
             results["down", "full"] - results["down", "bare"]),
            ("calls up of the full way", 35, results["up", "full"])]
    for text, bar, value in aims:
        print(f"| {text} | ≤ {bar} | {value:.0f} | {'met' if value <= bar else 'missed'} |", file=sys.stderr)


if __name__ == "__main__":
    main()
