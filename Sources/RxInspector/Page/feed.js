// The feed: messages of the program over a WebSocket, which are taken, or kept while the picture is frozen.
import { $ } from "./dom.js";
import { drawCards } from "./cards.js";
import { filter, listClients } from "./filter.js";
import { model } from "./model.js";
import { layout } from "./picture.js";
import { drop, takeRequest } from "./requests.js";
import { showRequest } from "./details.js";
import { serverNow, setFrozen, time, viewEnd } from "./scale.js";
import { beginBefore, count, take } from "./streams.js";

/** The characters of messages that are kept while the picture is frozen. */
const HELD = 32_000_000;
let waits = 500, socket = null, isLost = true, lastBatch = 0;
/** What came after the freeze, as long as it is little enough to keep; and whether it was too much. */
let held = [], heldSize = 0, isStale = false;

export function connect() {
  socket = new WebSocket(new URL("streams", location.href).href.replace(/^http/, "ws"));
  socket.addEventListener("message", event => receive(JSON.parse(event.data), event.data.length));
  socket.addEventListener("close", () => {
    isLost = true;
    if (time.frozen === null && time.offset !== null) setFrozen(viewEnd(), true);
    showState();
    setTimeout(connect, waits = Math.min(10_000, waits * 2));
  });
}

export function showState() {
  const is = isLost ? "lost" : time.frozen === null ? "live" : "frozen";
  if ($("state").dataset.is === is && $("state").dataset.told) return;
  $("state").dataset.is = is;
  $("state").dataset.told = "1";
  $("state").textContent = { lost: "not connected", live: "live", frozen: "frozen" }[is];
}

/** Takes a message, or keeps it until the picture is live. */
function receive(message, size) {
  const arrival = message.t - performance.now();
  if (message.type === "hello") {
    waits = 500;
    isLost = false;
    time.offset = arrival;
    if (time.isHalted) setFrozen(null);
  } else if (message.type !== "values") {
    // The smallest delay so far says best how the clocks differ.
    time.offset = Math.max(time.offset - 0.05, arrival);
  }
  if (time.frozen === null) apply(message);
  else if (!isStale) {
    held.push(message);
    heldSize += size;
    if (heldSize > HELD) { held = []; isStale = true; }
  }
  showState();
}

/** Takes what has been kept; or asks for the present state, if it was too much. */
export function release() {
  const messages = held, wasStale = isStale;
  held = [];
  heldSize = 0;
  isStale = false;
  for (const message of messages) apply(message);
  if (wasStale) socket.close();
}

function apply(message) {
  const { hidden } = model;
  if (message.type === "hello") {
    const isFirst = time.epoch === 0;
    model.process = message.process;
    time.epoch = message.epoch;
    // The address belongs to one run of the program, so the tracks are the same.
    if (isFirst) {
      $("process").textContent = model.process;
      document.title = `Streams of ${model.process}`;
      time.base = viewEnd() - time.span;
      for (const track of message.tracks) beginBefore(track, message.t);
    } else resume(message);
    lastBatch = message.t;
    layout();
    hidden.missed += message.missed;
    hidden.older = message.untracked;
  } else if (message.type === "values") {
    for (const event of message.events) take(event);
  } else {
    for (const event of message.events) take(event);
    count(message.counts, lastBatch, message.t);
    lastBatch = message.t;
    hidden.streams += message.untracked;
    hidden.lost += message.lost;
  }
  hidden.requests = message.omitted ?? hidden.requests;
  for (const news of message.requests ?? []) {
    const request = takeRequest(news);
    if (model.selected?.request === request) showRequest(request);
  }
  if (message.clients) { model.clients = message.clients; drawCards(); }
  if (message.clients || message.requests?.length) listClients();
  filter();
}

/** Continues after batches that the page has missed. What it shows of the past remains. */
function resume({ tracks: open, requests: known, t: now }) {
  const ids = new Set(open.map(track => track.id));
  for (const track of [...model.tracks.values()]) {
    if (track.end === null && !ids.has(track.id)) take({ k: "missed", track: track.id, t: lastBatch, text: "ended while the page missed events" });
  }
  for (const news of open) {
    const track = model.tracks.get(news.id);
    if (!track) { beginBefore(news, now); continue; }
    count([[news.id, news.count]], lastBatch, now);
    if ((track.pauses.at(-1)?.to === null) !== news.paused) take({ k: news.paused ? "paused" : "resumed", track: news.id, t: now });
  }
  const listed = new Set(known.map(request => request.id));
  for (const request of [...model.requests.values()]) if (request.end === null && !listed.has(request.id)) drop(request);
}
