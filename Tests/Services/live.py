"""Event streams on sse-starlette, uploads and requests that never end on FastAPI.

Each line of the log that a test reads begins with `live:`.
"""

import asyncio
import hashlib

from fastapi import FastAPI, File, Form, Header, Request, UploadFile
from pydantic import BaseModel, Field
from sse_starlette.sse import EventSourceResponse

app = FastAPI()


def log(line):
    print(f"live: {line}", flush=True)


@app.get("/events")
async def events(last_event_id: str | None = Header(None)):
    """Numbers without end, from the one after `Last-Event-ID` on, a few each connection at a time."""
    start = int(last_event_id or 0)
    log(f"events after {start}")

    async def numbers():
        number = start
        while True:
            number += 1
            yield {"id": str(number), "event": "number", "data": f'{{"number": {number}}}', "retry": 100}
            await asyncio.sleep(0.01)

    return EventSourceResponse(numbers())


@app.post("/upload")
async def upload(title: str = Form(), file: UploadFile = File()):
    digest = hashlib.sha256()
    size = 0
    while piece := await file.read(1 << 20):
        digest.update(piece)
        size += len(piece)
    return {"title": title, "name": file.filename, "size": size, "sha256": digest.hexdigest()}


@app.get("/endless/{number}")
async def endless(number: int, request: Request):
    """Answers never; says when the client has gone."""
    log(f"began {number}")
    while not await request.is_disconnected():
        await asyncio.sleep(0.02)
    log(f"gone {number}")


class Order(BaseModel):
    name: str = Field(min_length=1)
    count: int = Field(gt=0)


@app.post("/orders")
async def order(order: Order):
    return order
