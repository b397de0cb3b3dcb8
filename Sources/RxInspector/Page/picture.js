// The picture as a whole: its layout, its frames, and what is removed from it in time.
import { $, plural } from "./dom.js";
import { filter } from "./filter.js";
import { HISTORY, ROWS, VALUES, ledBy, model } from "./model.js";
import { movePeek } from "./peek.js";
import { drawRequest, dropOldest } from "./requests.js";
import { EDGE, drawClock, drawTicks, scale, serverNow, time, viewEnd, viewStart } from "./scale.js";
import { extend, forget, label, rebuild } from "./streams.js";

/** Draws everything anew, for another width, time or scale. */
export function layout() {
  time.width = Math.max(EDGE + 120, $("axis").clientWidth);
  time.base = viewEnd() - time.span;
  // Somewhat more than is shown, so that a short way into the past needs no drawing.
  time.drawnFrom = viewEnd() - 3 * time.span;
  time.drawnTo = time.frozen === null ? Infinity : time.frozen + 2 * time.span;
  for (const row of model.rows) rebuild(row);
  for (const request of model.requests.values()) drawRequest(request);
  $("ticks").replaceChildren();
  drawTicks();
}

/** Draws what the reader has moved into view. */
export function move() {
  if (viewStart() < time.drawnFrom || viewEnd() > time.drawnTo) layout();
  filter();
}

export function frame() {
  requestAnimationFrame(frame);
  if (time.offset === null) return;
  const end = viewEnd();
  $("scroll").style.setProperty("--x", `${(time.width - EDGE - (end - time.base) * scale()).toFixed(2)}px`);
  drawTicks();
  drawClock();
  for (const row of model.rows) if (!row.element.hidden) for (const track of row.tracks) if (track.end === null) extend(track);
  for (const request of model.requests.values()) if (request.end === null && !request.row.hidden) drawRequest(request);
  drawWire();
  movePeek();
}

/** Draws the line from a selected marble to its request. */
function drawWire() {
  const { selected } = model;
  let from = null, to = null;
  if (selected?.request) { from = model.marbles.get(selected.request.marble)?.element; to = selected.request; }
  else if (selected) {
    to = ledBy(selected.events.flatMap(event => event.item ?? []))[0];
    from = selected.element;
  }
  let path = "";
  if (from?.isConnected && to?.dot?.isConnected && !to.row.hidden) {
    const stage = $("wire").getBoundingClientRect(), a = from.getBoundingClientRect(), b = to.dot.getBoundingClientRect();
    const left = $("axis").getBoundingClientRect().left;
    const inside = (box, area) => box.left >= left - 12 && box.right <= area.right + 160 && box.top > area.top + 24 && box.bottom < area.bottom;
    if (inside(a, $("streams-pane").getBoundingClientRect()) && inside(b, $("requests-pane").getBoundingClientRect())) {
      const [x, y, u, v] = [a.left + 11 - stage.left, a.bottom - stage.top, b.left - stage.left, b.top + 5 - stage.top];
      path = `M${x},${y} C${x},${(y + v) / 2} ${u - 26},${v} ${u - 1},${v}`;
    }
  }
  $("wire").firstElementChild.setAttribute("d", path);
}

/** Forgets what is too old or too much, every second while the page is live. */
export function tidy() {
  if (time.frozen !== null) return;
  const now = serverNow(), old = now - HISTORY;
  if (time.base < viewEnd() - 1_000_000 / scale()) layout();
  for (const track of [...model.tracks.values()]) {
    if (track.items.length > VALUES || track.items[0]?.t < old) {
      const isOld = track.items.findLastIndex(item => item.t < old) + 1;
      for (const item of track.items.splice(0, Math.max(track.items.length - VALUES, isOld))) model.marbles.delete(item.id);
      track.counted = track.items.length;
    }
    track.gaps = track.gaps.filter(gap => gap.to > old).slice(-3000);
    if (track.end !== null && track.end < old) forget(track);
  }
  const ended = model.rows.filter(row => row.tracks.every(track => track.end !== null));
  for (const row of ended.slice(0, Math.max(0, model.rows.length - ROWS))) for (const track of [...row.tracks]) forget(track);
  dropOldest();
  time.drawnFrom = Math.max(time.drawnFrom, viewEnd() - time.span * 2);
  for (const row of model.rows) {
    for (const element of [...row.plane.children]) if (element.time < time.drawnFrom) element.remove();
    label(row);
  }
  filter();
  showSampling();
}

function showSampling() {
  const { hidden } = model, parts = [], streams = hidden.streams + hidden.older;
  if (model.lastSampled > viewStart() && hidden.values) parts.push(`${plural(hidden.values, "value")} counted, not drawn`);
  if (streams) parts.push(`${plural(streams, "stream")} not followed`);
  if (hidden.requests) parts.push(`${plural(hidden.requests, "request")} not shown`);
  if (hidden.lost) parts.push(`${plural(hidden.lost, "event")} lost`);
  if (hidden.missed) parts.push(`${plural(hidden.missed, "batch")} skipped`);
  const text = parts.length ? `Sampling: ${parts.join(", ")}` : "";
  $("sampling").hidden = !text;
  if ($("sampling").textContent !== text) $("sampling").textContent = $("sampling").title = text;
}
