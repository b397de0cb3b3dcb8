"use strict";
// Text from the program is only ever assigned to textContent, to attributes and to numbers: never as HTML.
(() => {
const $ = id => document.getElementById(id);
const make = (tag, name, text) => {
  const element = document.createElement(tag);
  if (name) element.className = name;
  if (text !== undefined) element.textContent = text;
  return element;
};
const HISTORY = 300_000, ROWS = 120, REQUESTS = 200, MARBLES = 2000, LAG = 120;
/** The characters of messages that are kept while the picture is frozen. */
const HELD = 32_000_000;
// The room to the right of the present, for the marbles that have just come.
const EDGE = 84;
const PHASES = [["queue", "queued"], ["dns", "DNS"], ["connect", "connect"], ["tls", "TLS"], ["wait", "wait"],
  ["receive", "receive"]];
const ENDS = { finished: "|", failed: "✕", cancelled: "⊘", released: "◌", missed: "?" };

// ---- The model: what the feed has told.
const tracks = new Map(), requests = new Map(), marbles = new Map(), rows = [];
let clients = [], process = "", epoch = 0, offset = null, base = 0, span = 15_000, frozen = null, width = 800;
let selected = null, hidden = { values: 0, streams: 0, older: 0, requests: 0, lost: 0, missed: 0 }, lastSampled = -1e9, isLost = true;
/** Whether the loss of the connection has frozen the picture, which then goes on with the next one. */
let isHalted = false;
/** The time of the freeze; what came after it, as long as it is little enough to keep; and whether it was too much. */
let frozenAt = 0, held = [], heldSize = 0, isStale = false;

const serverNow = () => offset === null ? 0 : performance.now() + offset;
/** The time up to which the picture is drawn. */
const present = () => frozen === null ? serverNow() : frozenAt;
const viewEnd = () => frozen ?? serverNow() - LAG;
const scale = () => (width - EDGE) / span;
const place = time => (time - base) * scale();
const shown = time => new Date(epoch + time).toISOString().slice(11, 23);
const short = (text, length) => text.length > length ? text.slice(0, length - 1) + "…" : text;
const ms = value => value >= 10_000 ? `${(value / 1000).toFixed(1)} s` : value >= 1000 ? `${(value / 1000).toFixed(2)} s`
  : value >= 10 ? `${Math.round(value)} ms` : `${value.toFixed(1)} ms`;
const bytes = count => count >= 1e6 ? `${(count / 1e6).toFixed(1)} MB` : count >= 1e3 ? `${(count / 1e3).toFixed(1)} kB`
  : `${count} B`;
const plural = (count, noun) => `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;
const HUES = [192, 268, 28, 145, 338, 218, 48, 300, 92, 8], hues = new Map();
const hue = name => {
  if (!hues.has(name)) hues.set(name, HUES[hues.size % HUES.length]);
  return hues.get(name);
};
const title = track => track.kind === "inner" ? `${tracks.get(track.parent)?.name ?? ""} ▸ flatMap`
  : track.kind === "stream" ? `${track.name} #${track.number}` : track.name;

// ---- Streams.
function begin(track) {
  if (tracks.has(track.id)) return;
  Object.assign(track, { count: track.count ?? 0, end: null, items: [], pauses: [], gaps: [], hidden: false });
  tracks.set(track.id, track);
  const inner = tracks.get(track.inner);
  if (inner) hideInner(inner);
  const parent = tracks.get(track.parent)?.row ?? null;
  track.row = rows.find(row => row.parent === parent && row.name === track.name && row.kind === track.kind
    && row.tracks.every(other => other.end !== null && other.end <= track.t)) ?? addRow(track, parent);
  track.row.tracks.push(track);
  drawTrack(track);
  label(track.row);
}

function hideInner(track) {
  track.hidden = true;
  track.row.tracks = track.row.tracks.filter(other => other !== track);
  rebuild(track.row);
  if (!track.row.tracks.length) removeRow(track.row);
}

function addRow(track, parent) {
  const row = { name: track.name, kind: track.kind, parent, depth: parent ? parent.depth + 1 : 0, tracks: [], last: null,
    hue: parent && track.kind === "inner" ? parent.hue : hue(track.name) };
  row.element = make("div", "row");
  row.element.setAttribute("role", "row");
  row.element.tabIndex = -1;
  row.element.row = row;
  row.element.style.setProperty("--h", row.hue);
  const header = make("div", "label");
  header.setAttribute("role", "rowheader");
  for (let level = 0; level < row.depth; level++) header.append(make("span", level === row.depth - 1 ? "elbow" : "indent"));
  row.text = make("b", "", track.kind === "inner" ? "flatMap" : track.name);
  row.type = make("small", "", track.element);
  row.count = make("small", "n");
  header.append(make("span", `swatch of-${track.kind}`), row.text, row.type, row.count);
  header.title = `${track.name}: ${track.element}\n${track.place}`;
  const cell = make("div", "cell");
  cell.setAttribute("role", "gridcell");
  row.plane = make("div", "plane");
  cell.append(row.plane);
  row.element.append(header, cell);
  let index = rows.length;
  if (parent) {
    index = rows.indexOf(parent) + 1;
    while (index < rows.length && rows[index].depth > parent.depth) index++;
  }
  $("streams").insertBefore(row.element, rows[index]?.element ?? null);
  rows.splice(index, 0, row);
  return row;
}

function removeRow(row) {
  row.element.remove();
  rows.splice(rows.indexOf(row), 1);
  for (const other of rows.filter(other => other.parent === row)) { other.parent = null; other.depth = 0; }
}

function label(row) {
  const total = row.tracks.reduce((sum, track) => sum + track.count, 0);
  const drawn = row.tracks.reduce((sum, track) => sum + track.items.length, 0);
  const running = row.tracks.filter(track => track.end === null).length;
  row.count.textContent = total.toLocaleString("en");
  row.count.classList.toggle("warn", row.sampledAt > present() - 2000);
  row.count.title = `${plural(total, "value")}, ${drawn.toLocaleString("en")} drawn`;
  row.element.setAttribute("aria-label", `${row.text.textContent}, ${plural(total, "value")}, ${running ? "running" : "ended"}`);
}

function drawTrack(track) {
  const plane = track.row.plane;
  compress(track.row, place(track.t) + 8);
  track.thread = make("div", "thread");
  track.thread.style.left = `${place(track.t)}px`;
  plane.append(track.thread);
  for (const pause of track.pauses) drawPause(track, pause);
  for (const gap of track.gaps) drawGap(track, gap);
  for (const item of track.items) drawMarble(track, item);
  if (track.end !== null) drawEnd(track);
  extend(track);
}

/** Draws the line of a track up to its end, or to the present. */
function extend(track) {
  const now = present();
  track.thread.style.width = `${Math.max(2, place(track.end ?? now) - place(track.t))}px`;
  const pause = track.pauses.at(-1);
  if (pause && pause.to === null && pause.element) pause.element.style.width = `${Math.max(2, place(now) - place(pause.from))}px`;
}

function drawPause(track, pause) {
  pause.element = make("div", "pause");
  pause.element.title = "paused";
  pause.element.style.left = `${place(pause.from)}px`;
  pause.element.style.width = `${Math.max(2, place(pause.to ?? present()) - place(pause.from))}px`;
  track.row.plane.prepend(pause.element);
}

function drawGap(track, gap) {
  const element = make("div", "many");
  element.style.left = `${place(gap.from)}px`;
  element.style.width = `${Math.max(1, place(gap.to) - place(gap.from) - 1)}px`;
  element.style.height = `${Math.min(9, 2 + Math.log10(gap.count + 1) * 2)}px`;
  element.title = `${plural(gap.count, "value")} not drawn`;
  element.time = gap.to;
  track.row.plane.append(element);
}

/** Makes room in a row for what begins at `x`. */
function compress(row, x) {
  const last = row.last;
  if (!last?.element.isConnected) return;
  const room = last.room = Math.min(last.room ?? Infinity, x - last.x - 3 - (last.end ? 12 : 0));
  if (last.items.length === 1) {
    last.element.style.maxWidth = `${Math.max(22, room)}px`;
    if (room < 40) tighten(last);
  }
  if (last.end) last.end.style.left = `${last.x + last.element.offsetWidth - 6}px`;
}

function drawMarble(track, item) {
  const row = track.row, x = place(item.t), last = row.last;
  if (last && last.element.isConnected && x - last.x < 29 && last.track === track) {
    last.items.push(item);
    item.element = last.element;
    const count = last.items.length, from = last.items[0];
    last.element.classList.add("tight", "group");
    last.element.textContent = count > 99 ? "99+" : `×${count}`;
    last.element.setAttribute("aria-label", `${title(track)}: ${plural(count, "value")}, the first: ${from.text}`);
    mark(last);
    keepSelection(item);
    return;
  }
  compress(row, x);
  const element = make("button", "marble", short(item.text.replace(/\s+/g, " "), 26));
  element.style.left = `${x}px`;
  element.style.maxWidth = "190px";
  element.tabIndex = -1;
  element.setAttribute("aria-label", `${title(track)}: ${item.text}`);
  item.element = element;
  row.last = element.marble = { x, element, items: [item], track };
  if (item.led) element.classList.add("led");
  element.time = item.t;
  row.plane.append(element);
  mark(row.last);
  keepSelection(item);
}

function tighten(marble) {
  marble.element.classList.add("tight");
  const text = marble.items[0].text;
  marble.element.textContent = [...text].slice(0, text.length > 3 ? 2 : 3).join("");
}

function drawEnd(track) {
  const element = make("button", `end ${track.how}`, ENDS[track.how]);
  element.style.left = `${place(track.end)}px`;
  element.tabIndex = -1;
  element.setAttribute("aria-label", `${title(track)}: ${track.how}${track.error ? `: ${track.error}` : ""}`);
  element.title = track.error ?? track.how;
  element.time = track.end;
  element.ended = track;
  track.endElement = element;
  track.row.plane.append(element);
  const last = track.row.last;
  if (last?.track === track && last.element.isConnected) {
    const edge = last.x + last.element.offsetWidth - 6;
    if (edge > place(track.end)) {
      element.style.left = `${edge}px`;
      last.end = element;
    }
  }
}

function rebuild(row) {
  const active = row.plane.contains(document.activeElement) ? document.activeElement : null;
  const item = active?.marble?.items[0], ended = active?.ended;
  row.plane.replaceChildren();
  row.last = null;
  for (const track of row.tracks) drawTrack(track);
  if (item) item.element?.focus({ preventScroll: true });
  if (ended) ended.endElement?.focus({ preventScroll: true });
}

const isSelected = item => selected?.items?.includes(item) || selected?.request?.marble === item.id;

/** Keeps the mark of the selection on an element that is drawn again. */
function keepSelection(item) {
  if (!isSelected(item)) return;
  item.element.classList.add("on");
  if (selected.items) selected.element = item.element;
}

function take(event) {
  if (event.k === "begun") return begin(event.track);
  const track = tracks.get(event.track);
  if (!track || track.end !== null) return;
  switch (event.k) {
  case "value": {
    const last = track.items.at(-1);
    // The value of a state when the page began: it may be known, or be older than what is known.
    if (event.marble < 0 && last && (last.text === event.text || last.t >= event.t)) break;
    // The marble of that value, if it was sent while the value was read.
    if (last?.until >= event.t && last.text === event.text) {
      last.id = event.marble;
      last.until = null;
      marbles.set(last.id, last);
      break;
    }
    const item = { t: event.t, id: event.marble, text: event.text, pages: event.pages, track, until: event.until };
    track.items.push(item);
    // The number of sent values does not include it.
    if (event.marble < 0) track.counted = (track.counted ?? 0) + 1;
    marbles.set(item.id, item);
    if (item.pages) { track.pages = item.pages; drawCards(); }
    if (!track.hidden) drawMarble(track, item);
    break;
  }
  case "paused": track.pauses.push({ from: event.t, to: null }); if (!track.hidden) drawPause(track, track.pauses.at(-1)); break;
  case "resumed": { const pause = track.pauses.at(-1); if (pause) { extend(track); pause.to = event.t; } break; }
  default: {
    track.end = event.t;
    track.how = event.k;
    track.error = event.text;
    const pause = track.pauses.at(-1);
    if (pause && pause.to === null) pause.to = event.t;
    if (!track.hidden) { drawEnd(track); extend(track); label(track.row); }
  }
  }
}

/** Counts the values that were not sent, between `from` and `to`. */
function count(counts, from, to) {
  for (const [id, total] of counts) {
    const track = tracks.get(id);
    if (!track) continue;
    const grown = total - track.count;
    const sent = track.items.length - (track.counted ?? 0);
    track.counted = track.items.length;
    track.count = total;
    if (track.hidden) continue;
    if (grown > sent) {
      track.gaps.push({ from, to, count: grown - sent });
      drawGap(track, track.gaps.at(-1));
      hidden.values += grown - sent;
      lastSampled = track.row.sampledAt = to;
    }
    label(track.row);
  }
}

// ---- Requests.
function takeRequest(news) {
  let request = requests.get(news.id);
  if (!request) {
    request = { id: news.id, row: make("div", "row request"), dom: {} };
    requests.set(news.id, request);
    request.row.setAttribute("role", "row");
    request.row.tabIndex = -1;
    request.row.request = request;
    const header = make("div", "label");
    header.setAttribute("role", "rowheader");
    request.dom.verb = make("span", "verb");
    request.dom.path = make("span", "path");
    request.dom.status = make("span", "status");
    header.append(request.dom.verb, request.dom.path, request.dom.status);
    const cell = make("div", "cell");
    cell.setAttribute("role", "gridcell");
    request.plane = make("div", "plane");
    cell.append(request.plane);
    request.row.append(header, cell);
    $("requests").append(request.row);
  }
  Object.assign(request, news);
  const led = marbles.get(request.marble);
  if (led && !led.led) { led.led = true; led.element?.classList.add("led"); }
  request.dom.verb.textContent = request.method;
  request.dom.path.textContent = request.path;
  request.dom.path.title = request.url;
  const [text, kind] = outcome(request);
  request.dom.status.textContent = text;
  request.dom.status.className = `status ${kind}`;
  request.row.setAttribute("aria-label", `${request.method} ${request.url}, ${text}${request.end ? `, ${ms(request.end - request.t)}` : ""}`);
  drawRequest(request);
}

const outcome = request => request.state === "running" ? [request.mark ?? "…", ""]
  : request.state === "cancelled" ? ["cancelled", "dim"]
  : request.state === "failed" ? [request.status >= 400 ? String(request.status) : request.error ?? "failed", "bad"]
  : [`${request.status ?? "ok"}${request.cached ? ` ${request.cached}` : ""}`, "good"];

function drawRequest(request) {
  const now = present();
  request.plane.replaceChildren();
  const end = request.end ?? now;
  const line = make("div", "span");
  line.style.left = `${place(request.t)}px`;
  line.style.width = `${Math.max(1, place(end) - place(request.t))}px`;
  request.plane.append(line);
  for (const exchange of request.exchanges) {
    const until = exchange.end ?? now, from = exchange.t;
    const bar = make("div", `bar ${exchange.end === null ? "running" : exchange.failed ? "failed" : ""}`);
    bar.style.left = `${place(from)}px`;
    bar.style.width = `${Math.max(3, place(until) - place(from))}px`;
    bar.title = `${ms(until - from)}${exchange.status ? `, ${exchange.status}` : ""}`;
    if (request.state === "cancelled") bar.classList.add("cancelled");
    if (exchange.end !== null) {
      const known = PHASES.filter(([name]) => exchange.phases[name] > 0);
      for (const [name] of known) {
        const part = make("i");
        part.style.background = `var(--${name})`;
        part.style.width = `${exchange.phases[name] / Math.max(0.001, until - from) * 100}%`;
        bar.append(part);
      }
      // The phases of a WebSocket are those of its handshake.
      bar.style.background = `var(--${known.length || exchange.status === 101 ? "receive" : "wait"})`;
    }
    request.plane.append(bar);
  }
  if (!request.exchanges.length && request.end !== null && request.cached) {
    const bar = make("div", "bar cached");
    bar.style.left = `${place(request.t)}px`;
    bar.style.width = `${Math.max(8, place(end) - place(request.t))}px`;
    request.plane.append(bar);
  }
  if (request.end !== null) {
    const after = make("div", "after", `${ms(request.end - request.t)}${request.bytes ? ` · ${bytes(request.bytes)}` : ""}`
      + `${request.attempts > 1 ? ` · ${request.attempts} attempts` : ""}`);
    after.style.left = `${Math.max(place(request.end), place(request.t) + 8)}px`;
    request.plane.append(after);
  }
  const track = tracks.get(request.track);
  if (track) {
    const dot = make("div", "cause");
    dot.style.left = `${place(request.t)}px`;
    dot.style.setProperty("--h", track.row.hue);
    dot.title = `led by ${title(track)}`;
    request.plane.append(dot);
    request.dot = dot;
  }
}

// ---- State of the clients, and lists of pages.
function card(heading, about, ...lines) {
  const element = make("div", "card");
  const head = make("h3", "", heading);
  if (about) head.append(make("span", "", ` ${about}`));
  element.append(head, ...lines);
  return element;
}
const line = (text, kind) => make("p", kind, text);

function drawCards() {
  const cards = [];
  for (const client of clients) {
    const { name, session, cache, circuits, limiter } = client;
    const waiting = limiter ? [line(limiter.waiting ? `${limiter.waiting} wait for the limiter` : "the limiter has room", limiter.waiting ? "warn" : "note")] : [];
    cards.push(card("Running", name, line(plural(client.running, "request")), ...waiting));
    if (session) {
      cards.push(card("Session", name, line(session.state, session.state === "logged in" ? "good" : "warn"),
        line(`generation ${session.generation}`, "note")));
    }
    if (cache && cache.hits + cache.misses + cache.joined > 0) {
      const used = cache.hits + cache.revalidated, all = cache.hits + cache.misses + cache.revalidated;
      const ratio = make("div", "ratio"), hit = make("i"), miss = make("i");
      hit.style.flex = used;
      miss.style.flex = Math.max(0, all - used);
      ratio.append(hit, miss);
      cards.push(card("Cache", name, line(`${cache.hits} hits, ${cache.misses} misses`), ratio,
        line(`${cache.revalidated} revalidated · ${cache.joined} joined · ${bytes(cache.bytes)}`, "note")));
    }
    if (circuits.length) {
      cards.push(card("Circuit", name, ...circuits.map(({ server, state }) => {
        const text = line(`${server} `), word = make("span", { closed: "good", open: "bad" }[state] ?? "warn", state);
        text.append(word);
        return text;
      })));
    }
  }
  for (const track of tracks.values()) {
    if (!track.pages || track.end !== null) continue;
    const { page, items, total, phase } = track.pages;
    const strip = make("div", "pages");
    strip.setAttribute("role", "img");
    strip.setAttribute("aria-label", `${page} pages, ${phase}`);
    if (page > 24) strip.append(make("span", "note", `${page - 24} +`));
    for (let index = 0; index < Math.min(page, 24); index++) strip.append(make("i"));
    if (phase.startsWith("loading")) strip.append(make("i", "load"));
    if (phase.startsWith("failed")) strip.append(make("i", "fail"));
    if (phase === "end") strip.append(make("i", "end"));
    cards.push(card("Pages", title(track), strip,
      line(`${items}${total === undefined ? "" : ` of ${total}`} items · ${phase}`, phase.startsWith("failed") ? "bad" : "note")));
  }
  $("cards").replaceChildren(...cards);
  $("cards").hidden = !cards.length;
}

// ---- Details and selection.
function fact(list, name, value) { list.append(make("dt", "", name), make("dd", "", value)); }

function select(target, focus) {
  for (const element of document.querySelectorAll(".on, .link")) element.classList.remove("on", "link");
  selected = target;
  const details = $("details"), list = make("dl");
  if (!target) {
    details.replaceChildren(make("h2", "", "Nothing selected"), line("Click a marble for its value, or a request for its phases."), keys);
  } else if (target.request) {
    const request = target.request, cause = marbles.get(request.marble), track = tracks.get(request.track);
    request.row.classList.add("on");
    if (cause?.element) cause.element.classList.add("on");
    fact(list, "Status", outcome(request)[0]);
    if (request.server) fact(list, "Server", request.server);
    fact(list, "Began", shown(request.t));
    if (request.failure) fact(list, "Error", request.failure);
    if (request.end !== null) fact(list, "Took", ms(request.end - request.t));
    fact(list, "Received", bytes(request.bytes));
    fact(list, "Attempts", String(request.attempts));
    fact(list, "Request", request.id);
    const phases = make("ul"), marks = make("ul"), links = make("div", "links");
    const last = request.exchanges.at(-1);
    for (const [name, text] of PHASES) {
      if (!(last?.phases[name] > 0)) continue;
      const item = make("li"), swatch = make("i");
      swatch.style.background = `var(--${name})`;
      item.append(swatch, make("span", "", `${text} ${ms(last.phases[name])}`));
      phases.append(item);
    }
    for (const { t, text } of request.marks) {
      const item = make("li");
      item.append(make("time", "", `+${ms(t - request.t)}`), make("span", "", text));
      marks.append(item);
    }
    if (track) {
      const link = make("button", "", cause ? `● ${title(cause.track)}: ${short(cause.text, 60)}` : `● ${title(track)}, its subscription`);
      link.addEventListener("click", () => cause ? reveal(cause) : track.row.element.focus());
      links.append(make("h3", "", "Led by"), link);
    }
    details.replaceChildren(make("h2", "", `${request.method} ${request.url}`), list, links,
      ...(phases.childElementCount ? [make("h3", "", "Last exchange"), phases] : []),
      ...(request.marks.length ? [make("h3", "", "Events"), marks] : []));
  } else {
    const { track, items } = target, item = items?.[0];
    track.row.element.classList.add("on");
    target.element?.classList.add("on");
    fact(list, "Track", title(track));
    fact(list, "Type", track.element);
    fact(list, "Time", shown(item ? item.t : track.end));
    if (track.place) fact(list, "Source", track.place);
    if (track.begunBefore !== true) fact(list, "After", `${ms((item ? item.t : track.end) - track.t)} since the subscription`);
    const links = make("div", "links");
    const led = item ? [...requests.values()].filter(request => items.some(other => other.id === request.marble)) : [];
    if (led.length) links.append(make("h3", "", led.length === 1 ? "Led to a request" : `Led to ${led.length} requests`));
    for (const request of led.slice(0, 20)) {
      request.row.classList.add("link");
      const link = make("button", "", `${request.method} ${request.path}  ${outcome(request)[0]}`);
      link.addEventListener("click", () => { request.row.hidden = false; request.row.focus(); });
      links.append(link);
    }
    const texts = items ? items.slice(0, 30).map(other => make("pre", "", other.text))
      : [make("pre", "", track.error ? `${track.how}: ${track.error}` : track.how)];
    details.replaceChildren(make("h2", "", items?.length > 1 ? `${items.length} values` : items ? "Value" : "End"), ...texts, list, links);
  }
  if (focus) details.focus();
}

function reveal(item) {
  setFrozen(viewEnd());
  if (item.t > frozen || item.t < frozen - span) setFrozen(item.t + span * 0.25);
  item.element?.focus();
  if (item.element?.marble) select({ ...item.element.marble });
}

/** Draws the line from a selected marble to its request. */
function drawWire() {
  let from = null, to = null;
  if (selected?.request) { from = marbles.get(selected.request.marble)?.element; to = selected.request; }
  else if (selected?.items) {
    const ids = new Set(selected.items.map(item => item.id));
    to = [...requests.values()].find(request => ids.has(request.marble));
    from = selected.element;
  }
  let path = "";
  if (from?.isConnected && to?.dot?.isConnected && !to.row.hidden) {
    const stage = $("wire").getBoundingClientRect(), a = from.getBoundingClientRect(), b = to.dot.getBoundingClientRect();
    const area = $("scroll").getBoundingClientRect(), left = area.left + labelWidth();
    const inside = box => box.left >= left - 12 && box.right <= area.right + 160 && box.top > area.top + 24 && box.bottom < area.bottom;
    if (inside(a) && inside(b)) {
      const [x, y, u, v] = [a.left + 11 - stage.left, a.bottom - stage.top, b.left - stage.left, b.top + 5 - stage.top];
      path = `M${x},${y} C${x},${(y + v) / 2} ${u - 26},${v} ${u - 1},${v}`;
    }
  }
  $("wire").firstElementChild.setAttribute("d", path);
}

// ---- Filter.
const needle = () => $("find").value.trim().toLowerCase();

/** Marks what the filter finds. */
function mark(marble) {
  const text = needle();
  marble.element.classList.toggle("hit", text !== "" && marble.items.some(item => item.text.toLowerCase().includes(text)));
}

function filter() {
  const text = needle(), kind = $("kind").value, end = viewEnd(), start = end - span;
  const matches = row => (text === "" || row.name.toLowerCase().includes(text)
      || row.tracks.some(track => track.items.some(item => item.text.toLowerCase().includes(text))))
    && (kind === "" || kind === "failed" && row.tracks.some(track => track.how === "failed")
      || kind === "stream" && (row.kind === "stream" || row.kind === "inner") || kind === row.kind);
  const live = row => row.tracks.some(track => track.end === null || track.end > start) && row.tracks.some(track => track.t < end);
  const visible = new Set();
  for (const row of rows) if (live(row) && matches(row)) for (let up = row; up; up = up.parent) visible.add(up);
  for (const row of rows) row.element.hidden = !visible.has(row);
  let count = 0;
  for (const request of requests.values()) {
    const isFound = text === "" || `${request.method} ${request.url} ${outcome(request)[0]}`.toLowerCase().includes(text);
    const isKind = kind === "" || kind !== "failed" || request.state === "failed";
    const isInView = request.t < end && (request.end === null || request.end > start);
    request.row.hidden = !(isFound && isKind && isInView);
    if (!request.row.hidden) count++;
  }
  $("no-streams").hidden = rows.length > 0;
  $("no-requests").hidden = requests.size > 0;
  $("streams-count").textContent = rows.length ? `${visible.size} of ${rows.length}` : "";
  $("requests-count").textContent = requests.size ? `${count} of ${requests.size}` : "";
}

// ---- Time.
function labelWidth() { return parseFloat(getComputedStyle(document.documentElement).getPropertyValue("--label")); }

function layout() {
  width = Math.max(EDGE + 120, $("scroll").clientWidth - labelWidth());
  base = viewEnd() - span;
  for (const row of rows) rebuild(row);
  for (const request of requests.values()) drawRequest(request);
  $("ticks").replaceChildren();
  ticks();
}

function ticks() {
  const step = [100, 200, 500, 1000, 2000, 5000, 10_000, 30_000, 60_000].find(step => step * scale() > 90) ?? 60_000;
  const end = viewEnd(), first = Math.floor((epoch + end - span * 1.2) / step) * step - epoch;
  const wanted = new Set();
  for (let time = first; time <= end + step; time += step) wanted.add(Math.round(time));
  for (const tick of [...$("ticks").children]) if (!wanted.delete(tick.time)) tick.remove();
  for (const time of wanted) {
    const tick = make("span", "tick", step < 1000 ? shown(time + 1).slice(6, 10) : shown(time + 1).slice(0, 8));
    tick.time = time;
    tick.style.left = `${place(time)}px`;
    $("ticks").append(tick);
  }
}

function setFrozen(time, byLoss = false) {
  const was = frozen;
  if (was === null && time !== null) frozenAt = serverNow();
  frozen = time;
  isHalted = byLoss;
  if (time === null) release();
  $("freeze").setAttribute("aria-pressed", String(time !== null));
  if ((was === null) !== (time === null)) {
    say(time === null ? "Live" : "Frozen");
    layout();
  }
  showState();
}

function showState() {
  const is = isLost ? "lost" : frozen === null ? "live" : "frozen";
  if ($("state").dataset.is === is && $("state").dataset.told) return;
  $("state").dataset.is = is;
  $("state").dataset.told = "1";
  $("state").textContent = { lost: "not connected", live: "live", frozen: "frozen" }[is];
}

const say = text => { $("say").textContent = text; };

function tidy() {
  if (frozen !== null) return;
  const now = serverNow(), old = now - HISTORY;
  if (base < viewEnd() - 1_000_000 / scale()) layout();
  for (const track of [...tracks.values()]) {
    if (track.items.length > MARBLES || track.items[0]?.t < old) {
      for (const item of track.items.splice(0, Math.max(track.items.length - MARBLES, track.items.findLastIndex(item => item.t < old) + 1))) marbles.delete(item.id);
      track.counted = track.items.length;
    }
    track.gaps = track.gaps.filter(gap => gap.to > old).slice(-3000);
    if (track.end !== null && track.end < old) forget(track);
  }
  for (const row of rows.filter(row => row.tracks.every(track => track.end !== null)).slice(0, Math.max(0, rows.length - ROWS))) {
    for (const track of [...row.tracks]) forget(track);
  }
  for (const request of requests.values()) {
    if (request.end !== null && (request.end < old || requests.size > REQUESTS)) { request.row.remove(); requests.delete(request.id); }
  }
  const left = viewEnd() - span * 2;
  for (const row of rows) {
    for (const element of [...row.plane.children]) if (element.time < left) element.remove();
    label(row);
  }
  filter();
  sampling();
}

function forget(track) {
  tracks.delete(track.id);
  for (const item of track.items) marbles.delete(item.id);
  track.row.tracks = track.row.tracks.filter(other => other !== track);
  if (track.row.tracks.length) rebuild(track.row); else if (rows.includes(track.row)) removeRow(track.row);
}

function sampling() {
  const parts = [];
  if (lastSampled > viewEnd() - span && hidden.values) parts.push(`${plural(hidden.values, "value")} counted, not drawn`);
  const streams = hidden.streams + hidden.older;
  if (streams) parts.push(`${plural(streams, "stream")} not followed`);
  if (hidden.requests) parts.push(`${plural(hidden.requests, "request")} not shown`);
  if (hidden.lost) parts.push(`${plural(hidden.lost, "event")} lost`);
  if (hidden.missed) parts.push(`${plural(hidden.missed, "batch")} skipped`);
  const text = parts.length ? `Sampling: ${parts.join(", ")}` : "";
  $("sampling").hidden = !text;
  if ($("sampling").textContent !== text) $("sampling").textContent = text;
}

function frame() {
  requestAnimationFrame(frame);
  if (offset === null) return;
  const end = viewEnd();
  $("scroll").style.setProperty("--x", `${(width - EDGE - (end - base) * scale()).toFixed(2)}px`);
  ticks();
  $("clock").textContent = `${shown(end)} UTC`;
  for (const row of rows) if (!row.element.hidden) for (const track of row.tracks) if (track.end === null) extend(track);
  for (const request of requests.values()) if (request.end === null && !request.row.hidden) drawRequest(request);
  drawWire();
}

// ---- Export.
const swiftText = text => `"${text.replace(/[\\"]/g, "\\$&").replace(/\n/g, "\\n").replace(/\r/g, "\\r").replace(/\t/g, "\\t")
  .replace(/[\0-\x1f\u2028\u2029]/g, character => `\\u{${character.codePointAt(0).toString(16)}}`)}"`;

/** The marbles of a track in the notation of RxTesting, one frame a millisecond. */
function marbleText(track) {
  const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ", known = new Map();
  const events = [];
  let isCut = false;
  for (const item of track.items) {
    if (!known.has(item.text)) {
      if (known.size === letters.length) { isCut = true; break; }
      known.set(item.text, letters[known.size]);
    }
    events.push({ t: item.t, mark: known.get(item.text) });
  }
  if (!isCut && (track.how === "finished" || track.how === "failed")) events.push({ t: track.end, mark: track.how === "finished" ? "|" : "#" });
  const cells = [];
  // A group takes as many frames as characters; what falls within it joins it.
  for (const { t, mark } of events) {
    const at = Math.max(0, Math.round(t - track.t)), last = cells.at(-1);
    if (last && at < last.at + (last.marks.length > 1 ? last.marks.length + 2 : 1)) last.marks += mark;
    else cells.push({ at, marks: mark });
  }
  let text = "", due = 0;
  for (const { at, marks } of cells) {
    const wait = at - due;
    text += wait <= 0 ? "" : wait <= 8 ? "-".repeat(wait) : `${text && !text.endsWith(" ") ? " " : ""}${wait}ms `;
    text += marks.length > 1 ? `(${marks})` : marks;
    due = at + (marks.length > 1 ? marks.length + 2 : 1);
  }
  return { text: text.trim() || "-", known, isCut };
}

function swiftSource(track, name) {
  const { text, known, isCut } = marbleText(track);
  // Texts that the program has chosen are no literals of the type.
  const literal = /^U?Int(8|16|32|64)?$/.test(track.element) ? /^-?\d+$/
    : /^(Double|Float)$/.test(track.element) ? /^-?\d+(\.\d+)?(e[-+]?\d+)?$/ : track.element === "Bool" ? /^(true|false)$/ : null;
  const isPlain = literal !== null && [...known.keys()].every(value => literal.test(value));
  const values = [...known].map(([value, letter]) => `"${letter}": ${isPlain ? value : swiftText(value)}`);
  const type = isPlain ? track.element : "String", fails = track.how === "failed";
  const count = track.count, notes = [];
  if (!isPlain && track.element !== "String") notes.push(`of ${track.element}, as text`);
  if (count > track.items.length) notes.push(`${track.items.length} of ${count} values, since the page samples`);
  if (isCut) notes.push("only the first values: there are more than letters");
  if (track.how === "cancelled") notes.push(`cancelled after ${Math.round(track.end - track.t)} ms`);
  return [`// ${title(track)}${notes.length ? `: ${notes.join("; ")}` : ""}`.replace(/[\r\n]+/g, " "),
    `let ${name}: MarbleSource<${type}, ${fails ? "any Error" : "Never"}> = try clock.cold(`,
    `    ${swiftText(text)},`,
    `    values: [${values.length ? values.join(", ") : ":"}]${fails ? `,\n    error: Recorded(${swiftText(track.error ?? "")})` : ""})`,
  ].join("\n").replace("<" + type + ", any Error>", "<" + type + ", Recorded>");
}

function marblesSource() {
  const chosen = (selected?.track ? [selected.track] : rows.filter(row => !row.element.hidden).flatMap(row => row.tracks))
    .filter(track => !track.hidden);
  const names = new Map();
  const sources = chosen.map(track => {
    const word = (track.kind === "inner" ? `${tracks.get(track.parent)?.name ?? ""} inner` : track.name).replace(/[^A-Za-z0-9]+(.)?/g, (_, next) => (next ?? "").toUpperCase());
    const stem = /^[A-Za-z]/.test(word) ? word[0].toLowerCase() + word.slice(1) : `stream${word}`;
    const count = (names.get(stem) ?? 0) + 1;
    names.set(stem, count);
    return swiftSource(track, count === 1 && !isKeyword(stem) ? stem : `${stem}${count}`);
  });
  const head = ["import RxLite", "import RxTesting", ""];
  if (chosen.some(track => track.how === "failed")) head.push("struct Recorded: Error, Equatable {", "    var text: String",
    "    init(_ text: String) { self.text = text }", "}", "");
  return [...head, "let clock = VirtualScheduler()", "", sources.join("\n\n"), ""].join("\n");
}
const isKeyword = word => /^(as|break|case|catch|class|clock|continue|default|defer|do|else|enum|extension|false|for|func|guard|if|import|in|init|internal|is|let|nil|operator|private|protocol|public|repeat|return|self|static|struct|subscript|super|switch|throw|throws|true|try|typealias|var|where|while)$/.test(word);

function jsonText() {
  return JSON.stringify({
    format: "RxNetworking streams", version: 1, process, date: new Date(epoch + serverNow()).toISOString(),
    timesSince: new Date(epoch).toISOString(), notDrawn: hidden,
    tracks: [...tracks.values()].map(({ id, name, kind, number, element, place, parent, marble, t, end, how, error, count, items, pauses }) => ({
      id, name, kind, number, element, place, parent, marble, begun: t, end, how, error, count,
      values: items.map(({ t, id, text }) => ({ t, marble: id, text })), pauses: pauses.map(({ from, to }) => ({ from, to })) })),
    requests: [...requests.values()].map(({ id, method, url, state, status, error, t, end, bytes, attempts, track, marble, exchanges, marks }) => ({
      id, method, url, state, status, error, begun: t, end, bytes, attempts, track, marble, exchanges, marks })),
    clients,
  }, null, 2);
}

function save(text, name, type) {
  const link = make("a");
  link.href = URL.createObjectURL(new Blob([text], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

async function run(kind) {
  const stamp = new Date().toISOString().slice(0, 19).replace(/:/g, "-");
  if (kind === "marbles") save(marblesSource(), `marbles-${stamp}.swift`, "text/plain");
  if (kind === "json") save(jsonText(), `streams-${stamp}.json`, "application/json");
  if (kind === "har") {
    const response = await fetch("har");
    if (response.ok) save(await response.text(), `requests-${stamp}.har`, "application/json");
    else return say("The HAR could not be loaded");
  }
  say(`Exported ${kind}`);
}

// ---- Input.
$("freeze").addEventListener("click", () => setFrozen(frozen === null ? viewEnd() : null));
$("find").addEventListener("input", () => {
  for (const row of rows) for (const element of row.plane.querySelectorAll(".marble")) if (element.marble) mark(element.marble);
  filter();
});
$("kind").addEventListener("change", filter);
$("window").addEventListener("change", () => { span = Number($("window").value); layout(); filter(); });
const openMenu = isOpen => {
  $("exports").hidden = !isOpen;
  $("export").setAttribute("aria-expanded", String(isOpen));
  if (isOpen) $("exports").firstElementChild.focus();
};
$("export").addEventListener("click", () => openMenu($("exports").hidden));
$("exports").addEventListener("click", event => {
  const button = event.target.closest("[data-export]");
  if (button) { openMenu(false); $("export").focus(); run(button.dataset.export); }
});
$("exports").addEventListener("keydown", event => {
  if (event.key === "Escape") { openMenu(false); $("export").focus(); event.stopPropagation(); }
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (!step) return;
  const items = [...$("exports").children];
  items.at((items.indexOf(document.activeElement) + step) % items.length).focus();
  event.preventDefault();
});
document.addEventListener("click", event => { if (!event.target.closest(".menu")) openMenu(false); });

function choose(element) {
  if (element.marble) return select({ ...element.marble });
  if (element.ended) return select({ track: element.ended, element });
  const row = element.closest?.(".row");
  if (row?.request) select({ request: row.request });
}
$("scroll").addEventListener("click", event => {
  const target = event.target.closest(".marble, .end, .row");
  if (target) { choose(target); target.focus({ preventScroll: true }); }
});
$("scroll").addEventListener("focusin", event => {
  for (const element of $("scroll").querySelectorAll("[tabindex='0']")) element.tabIndex = -1;
  event.target.tabIndex = 0;
  choose(event.target);
});
$("scroll").addEventListener("keydown", event => {
  const element = document.activeElement, row = element.closest?.(".row");
  if (!row || event.ctrlKey || event.metaKey || event.altKey) return;
  const all = [...$("scroll").querySelectorAll(".row:not([hidden])")];
  const items = of => [...of.querySelectorAll(".marble, .end")].filter(item => item.time <= viewEnd() && item.time >= viewEnd() - span)
    .sort((a, b) => a.time - b.time);
  const nearest = of => element === row ? null
    : items(of).reduce((best, item) => !best || Math.abs(item.time - element.time) < Math.abs(best.time - element.time) ? item : best, null);
  let next = null;
  if (["ArrowLeft", "ArrowRight", "Home", "End"].includes(event.key) && frozen === null && !row.request) setFrozen(viewEnd());
  const list = items(row), index = list.indexOf(document.activeElement);
  switch (event.key) {
  case "ArrowDown": case "ArrowUp": {
    const other = all[all.indexOf(row) + (event.key === "ArrowDown" ? 1 : -1)];
    next = other && (nearest(other) ?? other);
    break;
  }
  case "ArrowRight": next = list[index + 1]; break;
  case "ArrowLeft": next = index === 0 ? row : index < 0 ? list.at(-1) : list[index - 1]; break;
  case "Home": next = list[0]; break;
  case "End": next = list.at(-1); break;
  case "Enter": {
    if (row.request) { const cause = marbles.get(row.request.marble); if (cause) reveal(cause); }
    else if (selected?.items) {
      const ids = new Set(selected.items.map(item => item.id));
      next = [...requests.values()].find(request => ids.has(request.marble) && !request.row.hidden)?.row;
    }
    break;
  }
  default: return;
  }
  event.preventDefault();
  next?.focus();
  next?.scrollIntoView({ block: "nearest" });
});
// Moves through the past while frozen.
$("scroll").addEventListener("wheel", event => {
  if (frozen === null || Math.abs(event.deltaX) <= Math.abs(event.deltaY)) return;
  event.preventDefault();
  pan(event.deltaX / scale());
}, { passive: false });
function pan(by) {
  frozen = Math.max(span, Math.min(frozenAt - LAG, frozen + by));
  isHalted = false;
  filter();
}
document.addEventListener("keydown", event => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("input, select")) {
    if (event.key === "Escape" && event.target.id === "find") { $("find").value = ""; filter(); event.target.blur(); }
    return;
  }
  if (event.key === "f") $("freeze").click();
  else if (event.key === "/") { $("find").focus(); event.preventDefault(); }
  else if (event.key === "Escape") select(null);
  else if (event.key === "," || event.key === ".") { if (frozen === null) setFrozen(viewEnd()); pan(event.key === "," ? -span / 4 : span / 4); }
});
new ResizeObserver(layout).observe($("scroll"));
const keys = $("keys");
for (const [name, text] of PHASES) {
  const item = make("i", "", text);
  item.style.setProperty("--c", `var(--${name})`);
  $("legend").append(item);
}

// ---- The feed.
let waits = 500, socket = null;
function connect() {
  socket = new WebSocket(new URL("streams", location.href).href.replace(/^http/, "ws"));
  socket.addEventListener("message", event => receive(JSON.parse(event.data), event.data.length));
  socket.addEventListener("close", () => {
    isLost = true;
    if (frozen === null && offset !== null) setFrozen(viewEnd(), true);
    showState();
    setTimeout(connect, waits = Math.min(10_000, waits * 2));
  });
}

/** Begins a track whose first events the page has not seen. */
function beginBefore(track, now) {
  begin(track);
  const made = tracks.get(track.id);
  made.begunBefore = true;
  if (track.paused) made.pauses.push({ from: now, to: null });
  made.counted = made.items.length;
  label(made.row);
}

/** Continues after batches that the page has missed. What it shows of the past remains. */
function goOn({ tracks: open, requests: known, t: now }) {
  const ids = new Set(open.map(track => track.id));
  for (const track of [...tracks.values()]) {
    if (track.end === null && !ids.has(track.id)) take({ k: "missed", track: track.id, t: lastBatch, text: "ended while the page missed events" });
  }
  for (const news of open) {
    const track = tracks.get(news.id);
    if (!track) { beginBefore(news, now); continue; }
    count([[news.id, news.count]], lastBatch, now);
    if ((track.pauses.at(-1)?.to === null) !== news.paused) take({ k: news.paused ? "paused" : "resumed", track: news.id, t: now });
  }
  const listed = new Set(known.map(request => request.id));
  for (const request of [...requests.values()]) {
    if (request.end === null && !listed.has(request.id)) { request.row.remove(); requests.delete(request.id); }
  }
}

/** Takes a message, or keeps it until the picture goes on. */
function receive(message, size) {
  const arrival = message.t - performance.now();
  if (message.type === "hello") {
    waits = 500;
    isLost = false;
    offset = arrival;
    if (isHalted) setFrozen(null);
  } else if (message.type !== "values") {
    // The smallest delay so far says best how the clocks differ.
    offset = Math.max(offset - 0.05, arrival);
  }
  if (frozen === null) apply(message);
  else if (!isStale) {
    held.push(message);
    heldSize += size;
    if (heldSize > HELD) { held = []; isStale = true; }
  }
  showState();
}

/** Takes what has been kept; or asks for the present state, if it was too much. */
function release() {
  const messages = held, wasStale = isStale;
  held = [];
  heldSize = 0;
  isStale = false;
  for (const message of messages) apply(message);
  if (wasStale) socket.close();
}

let lastBatch = 0;
function apply(message) {
  if (message.type === "hello") {
    const isFirst = epoch === 0;
    ({ process, epoch } = message);
    // The address belongs to one run of the program, so the tracks are the same.
    if (isFirst) {
      $("process").textContent = process;
      document.title = `Streams of ${process}`;
      base = viewEnd() - span;
      for (const track of message.tracks) beginBefore(track, message.t);
    } else goOn(message);
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
  for (const request of message.requests ?? []) takeRequest(request);
  if (message.clients) { clients = message.clients; drawCards(); }
  filter();
}

window.streamsPage = { marblesSource, jsonText, marbleText: id => marbleText(tracks.get(id)) };
setInterval(tidy, 1000);
requestAnimationFrame(frame);
filter();
connect();
})();
