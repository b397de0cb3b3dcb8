"""Makes the SQLite file that datasette serves: `rows.py FILE`, a table `rows` of 20,000 rows."""

import sqlite3
import sys

with sqlite3.connect(sys.argv[1]) as database:
    database.execute("CREATE TABLE rows (id INTEGER PRIMARY KEY, name TEXT NOT NULL)")
    database.executemany("INSERT INTO rows VALUES (?, ?)", ((number, f"row {number}") for number in range(1, 20001)))
database.close()
