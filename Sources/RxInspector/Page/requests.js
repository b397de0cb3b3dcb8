// The rows of requests: a waterfall of their exchanges, in the order that the reader chooses.
import { $, bytes, make, ms } from "./dom.js";
import { REQUESTS, PHASES, hue, model, outcome, title } from "./model.js";
import { place, present } from "./scale.js";
import { settings } from "./settings.js";

/** Takes the news of a request, which has a row from then on. */
export function takeRequest(news) {
  const request = model.requests.get(news.id) ?? addRow(news.id);
  Object.assign(request, news);
  const led = model.marbles.get(request.marble);
  if (led && !led.led) { led.led = true; led.element?.classList.add("led"); }
  const { dom } = request, [text, kind] = outcome(request);
  dom.verb.textContent = request.method;
  dom.path.textContent = request.path;
  dom.path.title = request.url;
  dom.client.textContent = request.client;
  dom.client.title = `client ${request.client}`;
  dom.client.style.setProperty("--h", hue(request.client));
  dom.status.textContent = text;
  dom.status.title = request.failure ?? text;
  dom.status.className = `status ${kind}`;
  request.row.setAttribute("aria-label", `${request.method} ${request.url}, ${text}${request.end ? `, ${ms(request.end - request.t)}` : ""}`);
  drawRequest(request);
  return request;
}

function addRow(id) {
  const request = { id, row: make("div", "row request"), dom: {} };
  model.requests.set(id, request);
  request.row.setAttribute("role", "row");
  request.row.tabIndex = -1;
  request.row.request = request;
  const header = make("div", "label");
  header.setAttribute("role", "rowheader");
  for (const name of ["verb", "path", "client", "status"]) header.append(request.dom[name] = make("span", name));
  request.cell = make("div", "cell");
  request.cell.setAttribute("role", "gridcell");
  request.plane = make("div", "plane");
  request.cell.append(request.plane);
  request.row.append(header, request.cell);
  $("requests").append(request.row);
  return request;
}

export function drawRequest(request) {
  const now = present(), end = request.end ?? now, left = place(request.t);
  const parts = [make("div", "span")];
  parts[0].style.left = `${left}px`;
  parts[0].style.width = `${Math.max(1, place(end) - left)}px`;
  for (const exchange of request.exchanges) parts.push(bar(request, exchange, now));
  if (!request.exchanges.length && request.end !== null && request.cached) {
    const stored = make("div", "bar cached");
    stored.style.left = `${left}px`;
    stored.style.width = `${Math.max(8, place(end) - left)}px`;
    parts.push(stored);
  }
  if (request.end !== null) {
    const after = make("div", "after", `${ms(request.end - request.t)}${request.bytes ? ` · ${bytes(request.bytes)}` : ""}`
      + `${request.attempts > 1 ? ` · ${request.attempts} attempts` : ""}`);
    after.style.left = `${Math.max(place(request.end), left + 8)}px`;
    parts.push(after);
  }
  const track = model.tracks.get(request.track);
  if (track) {
    request.dot = make("div", "cause");
    request.dot.style.left = `${left}px`;
    request.dot.style.setProperty("--h", track.row.hue);
    request.dot.title = `led by ${title(track)}`;
    parts.push(request.dot);
  }
  request.plane.replaceChildren(...parts);
}

function bar(request, exchange, now) {
  const until = exchange.end ?? now, from = exchange.t;
  const element = make("div", `bar ${exchange.end === null ? "running" : exchange.failed ? "failed" : ""}`);
  element.style.left = `${place(from)}px`;
  element.style.width = `${Math.max(3, place(until) - place(from))}px`;
  element.title = `${ms(until - from)}${exchange.status ? `, ${exchange.status}` : ""}`;
  if (request.state === "cancelled") element.classList.add("cancelled");
  if (exchange.end === null) return element;
  const known = PHASES.filter(([name]) => exchange.phases[name] > 0);
  for (const [name] of known) {
    const part = make("i");
    part.style.background = `var(--${name})`;
    part.style.width = `${exchange.phases[name] / Math.max(0.001, until - from) * 100}%`;
    element.append(part);
  }
  // The phases of a WebSocket are those of its handshake.
  element.style.background = `var(--${known.length || exchange.status === 101 ? "receive" : "wait"})`;
  return element;
}

// ---- The order.
const duration = request => (request.end ?? present()) - request.t;
const KEYS = {
  began: request => request.t, took: duration, size: request => request.bytes, status: request => outcome(request)[0],
  path: request => request.path, client: request => request.client,
};

/** Puts the rows in the order of the settings; equal ones in the order in which they began. */
export function sortRequests() {
  const key = KEYS[settings.sort] ?? KEYS.began, sign = settings.isDescending ? -1 : 1;
  // Requests that still run change their duration, which is read once.
  const keyed = [...model.requests.values()].map(request => ({ request, key: key(request) }));
  keyed.sort((a, b) => sign * (typeof a.key === "string" ? a.key.localeCompare(b.key, "en", { numeric: true }) : a.key - b.key)
    || a.request.t - b.request.t);
  const list = $("requests");
  let next = list.firstElementChild;
  for (const { request } of keyed) {
    if (request.row === next) next = next.nextElementSibling; else list.insertBefore(request.row, next);
  }
}

/** Forgets a request. */
export function drop(request) {
  request.row.remove();
  model.requests.delete(request.id);
}

/** Forgets the oldest requests that have ended, if there are too many. */
export function dropOldest() {
  for (const request of model.requests.values()) {
    if (model.requests.size <= REQUESTS) return;
    if (request.end !== null && request !== model.selected?.request) drop(request);
  }
}

// ---- Following.
// The newest request stays in view until the reader scrolls.
const own = { top: 0, height: 0, room: 0 };
let isFollowing = true;

function note(pane) { Object.assign(own, { top: pane.scrollTop, height: pane.scrollHeight, room: pane.clientHeight }); }

export function setFollowing(follows) {
  isFollowing = follows;
  // The browser would keep what the reader reads in place, while rows are added and sorted above it.
  $("requests-pane").style.overflowAnchor = follows ? "none" : "";
  $("follow").hidden = follows;
  if (follows) keepInView();
}

const newest = () => [...model.requests.values()].filter(request => !request.row.hidden)
  .reduce((best, request) => !best || request.t >= best.t ? request : best, null);

/** Where the pane has to scroll for the newest request to be in view. */
function wantedTop(pane) {
  const row = newest()?.row;
  if (!row) return pane.scrollTop;
  const box = row.getBoundingClientRect(), area = pane.getBoundingClientRect(), top = area.top + $("requests-title").parentElement.offsetHeight;
  return pane.scrollTop + (box.bottom > area.bottom ? box.bottom - area.bottom : box.top < top ? box.top - top : 0);
}

/** Scrolls to the newest request while it is followed. */
export function keepInView() {
  const pane = $("requests-pane");
  if (isFollowing) {
    const top = wantedTop(pane);
    if (Math.abs(top - pane.scrollTop) >= 1) pane.scrollTop = top;
  }
  note(pane);
}

export function watchScrolling() {
  const pane = $("requests-pane");
  setFollowing(true);
  pane.addEventListener("scroll", () => {
    // Not if the rows have changed meanwhile: then the browser has scrolled, or this page.
    const isReader = pane.scrollHeight === own.height && pane.clientHeight === own.room && Math.abs(pane.scrollTop - own.top) > 1;
    if (!isReader) return;
    setFollowing(Math.abs(wantedTop(pane) - pane.scrollTop) < 1);
    note(pane);
  });
  $("follow").addEventListener("click", () => setFollowing(true));
}
