"""Runs the fleet benchmark: Redis on core 0, each program in a separate process on core 1, in turns.

    fleet.py SERVERS BENCHMARK REFERENCE [--rounds N] [--count N] [--depth N]

Prints a JSON object for each median to stdout, and a table to stderr. Exits with 1 if a limit is missed. run.sh builds the
programs and calls this.
"""
import argparse
import json
import pathlib
import socket
import statistics
import subprocess
import sys
import time

#: The gets a second of ours beside those of hiredis, and the commands for a permit.
GETS, PERMIT = 1.0, 0.1


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


def wait_for(port):
    for _ in range(200):
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return
        except OSError:
            time.sleep(0.05)
    raise SystemExit("a server does not start")


def run(*command):
    output = subprocess.run(["taskset", "-c", "1", *map(str, command)], check=True, stdout=subprocess.PIPE, timeout=300)
    return json.loads(output.stdout or b"{}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("servers")
    parser.add_argument("benchmark")
    parser.add_argument("reference")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--count", type=int, default=500_000)
    parser.add_argument("--depth", type=int, default=256)
    options = parser.parse_args()
    redis, nginx = free_port(), free_port()
    servers = [subprocess.Popen(
        ["taskset", "-c", "0", "redis-server", "--bind", "127.0.0.1", "--port", str(redis), "--save", "",
         "--appendonly", "no"], stdout=subprocess.DEVNULL)]
    configuration = pathlib.Path(options.servers) / "fleet.conf"
    configuration.write_text(
        "daemon off; worker_processes 1; pid fleet.pid; error_log stderr;\n"
        "events {}\nhttp { access_log off; client_body_temp_path .; proxy_temp_path .; fastcgi_temp_path .;\n"
        "uwsgi_temp_path .; scgi_temp_path .; keepalive_requests 1000000;\n"
        "server { listen 127.0.0.1:%d; location / { return 200 1; } } }\n" % nginx)
    servers.append(subprocess.Popen(
        ["taskset", "-c", "0", "nginx", "-p", options.servers, "-c", str(configuration)],
        env={"PATH": "/usr/sbin:/usr/bin:/bin"}))
    met = True
    tell = lambda *row: print("| " + " | ".join(map(str, row)) + " |", file=sys.stderr)
    try:
        wait_for(redis)
        wait_for(nginx)
        subprocess.run([options.benchmark, "fill", str(redis)], check=True)
        programs = {
            "hiredis, blocking": (options.reference, "blocking"), "hiredis, on libuv": (options.reference, "async"),
            "ours": (options.benchmark, "gets")}
        results = {name: [] for name in programs}
        for _ in range(options.rounds):
            for name, command in programs.items():
                results[name].append(run(*command, redis, options.count, options.depth))
        sums = {result["bytes"] for all_ in results.values() for result in all_}
        assert len(sums) == 1, f"the programs have not read the same: {sums}"
        tell("GETs of 100 B on one connection, %d in flight" % options.depth, "GETs/s", "µs of CPU each")
        tell("---", "---:", "---:")
        rate = {}
        for name, all_ in results.items():
            rate[name] = statistics.median(options.count / result["seconds"] for result in all_)
            cpu = statistics.median(1e6 * result["cpu_seconds"] / options.count for result in all_)
            print(json.dumps({"case": "gets", "program": name, "per_second": round(rate[name]), "cpu_us": round(cpu, 3)}))
            tell(name, f"{rate[name]:,.0f}", f"{cpu:.2f}")
        for name in list(programs)[:2]:
            ratio = rate["ours"] / rate[name]
            met &= ratio >= GETS
            tell(f"ours beside {name}: {ratio:.2f}, at least {GETS}: {'met' if ratio >= GETS else 'missed'}", "", "")
        found = run(options.benchmark, "commands", redis, 5000, f"http://127.0.0.1:{nginx}")
        permit = found["permit_commands"] / found["requests"]
        print(json.dumps({"case": "commands", **found}))
        tell(f"commands for {found['requests']} requests with a current credential", found["credential_commands"], "")
        tell("commands for a permit, at 500 requests a second", f"{permit:.3f}", "")
        met &= found["credential_commands"] == 0 and permit <= PERMIT
    finally:
        for server in servers:
            server.terminate()
            server.wait(timeout=10)
    sys.exit(0 if met else 1)


main()
