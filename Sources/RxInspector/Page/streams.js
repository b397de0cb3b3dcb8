// The rows of streams: each subscription is a track; tracks of one name that follow each other share a row.
import { $, make, plural } from "./dom.js";
import { drawCards } from "./cards.js";
import { draw, drawGap, makeRoom } from "./marbles.js";
import { hue, model } from "./model.js";
import { place, present } from "./scale.js";

export function begin(track) {
  if (model.tracks.has(track.id)) return;
  Object.assign(track, { count: track.count ?? 0, end: null, items: [], pauses: [], gaps: [], hidden: false });
  model.tracks.set(track.id, track);
  const inner = model.tracks.get(track.inner);
  if (inner) hideInner(inner);
  const parent = model.tracks.get(track.parent)?.row ?? null;
  track.row = model.rows.find(row => row.parent === parent && row.name === track.name && row.kind === track.kind
    && row.tracks.every(other => other.end !== null && other.end <= track.t)) ?? addRow(track, parent);
  track.row.tracks.push(track);
  drawTrack(track);
  label(track.row);
}

/** Begins a track whose first events the page has not seen. */
export function beginBefore(track, now) {
  begin(track);
  const made = model.tracks.get(track.id);
  made.begunBefore = true;
  if (track.paused) made.pauses.push({ from: now, to: null });
  made.counted = made.items.length;
  label(made.row);
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
  row.cell = make("div", "cell");
  row.cell.setAttribute("role", "gridcell");
  row.plane = make("div", "plane");
  row.cell.append(row.plane);
  row.element.append(header, row.cell);
  let index = model.rows.length;
  if (parent) {
    index = model.rows.indexOf(parent) + 1;
    while (index < model.rows.length && model.rows[index].depth > parent.depth) index++;
  }
  $("streams").insertBefore(row.element, model.rows[index]?.element ?? null);
  model.rows.splice(index, 0, row);
  return row;
}

function removeRow(row) {
  row.element.remove();
  model.rows.splice(model.rows.indexOf(row), 1);
  for (const other of model.rows.filter(other => other.parent === row)) { other.parent = null; other.depth = 0; }
}

export function label(row) {
  const total = row.tracks.reduce((sum, track) => sum + track.count, 0);
  const drawn = row.tracks.reduce((sum, track) => sum + track.items.length, 0);
  const running = row.tracks.filter(track => track.end === null).length;
  row.count.textContent = total.toLocaleString("en");
  row.count.classList.toggle("warn", row.sampledAt > present() - 2000);
  row.count.title = `${plural(total, "value")}, ${drawn.toLocaleString("en")} drawn`;
  row.element.classList.toggle("ended", !running);
  row.element.setAttribute("aria-label", `${row.text.textContent}, ${plural(total, "value")}, ${running ? "running" : "ended"}`);
}

function drawTrack(track) {
  const plane = track.row.plane;
  makeRoom(track.row, place(track.t) + 8);
  track.thread = make("div", "thread");
  track.thread.style.left = `${place(track.t)}px`;
  plane.prepend(track.thread);
  for (const pause of track.pauses) drawPause(track, pause);
  for (const gap of track.gaps) drawGap(track, gap);
  for (const item of track.items) draw(track.row, { t: item.t, track, item });
  if (track.end !== null) draw(track.row, { t: track.end, track });
  extend(track);
}

/** Draws the line of a track up to its end, or to the present. */
export function extend(track) {
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

/** Draws a row anew, for another time or scale. */
export function rebuild(row) {
  const active = row.plane.contains(document.activeElement) ? document.activeElement.marble?.events[0] : null;
  row.plane.replaceChildren();
  row.last = null;
  for (const track of row.tracks) drawTrack(track);
  // The focus stays where it was, which selects nothing.
  model.isRefocusing = true;
  (active?.item?.element ?? active?.track.endElement)?.focus({ preventScroll: true });
  model.isRefocusing = false;
}

/** Takes an event of a track. */
export function take(event) {
  if (event.k === "begun") return begin(event.track);
  const track = model.tracks.get(event.track);
  if (!track || track.end !== null) return;
  switch (event.k) {
  case "value": takeValue(track, event); break;
  case "paused":
    track.pauses.push({ from: event.t, to: null });
    if (!track.hidden) drawPause(track, track.pauses.at(-1));
    break;
  case "resumed": {
    const pause = track.pauses.at(-1);
    if (pause) { extend(track); pause.to = event.t; }
    break;
  }
  default: {
    Object.assign(track, { end: event.t, how: event.k, error: event.text });
    const pause = track.pauses.at(-1);
    if (pause && pause.to === null) pause.to = event.t;
    if (!track.hidden) { draw(track.row, { t: track.end, track }); extend(track); label(track.row); }
  }
  }
}

function takeValue(track, event) {
  const last = track.items.at(-1);
  // The value of a state when the page began: it may be known, or be older than what is known.
  if (event.marble < 0 && last && (last.text === event.text || last.t >= event.t)) return;
  // The marble of that value, if it was sent while the value was read.
  if (last?.until >= event.t && last.text === event.text) {
    last.id = event.marble;
    last.until = null;
    model.marbles.set(last.id, last);
    return;
  }
  const item = { t: event.t, id: event.marble, text: event.text, pages: event.pages, track, until: event.until };
  track.items.push(item);
  // The number of sent values does not include it.
  if (event.marble < 0) track.counted = (track.counted ?? 0) + 1;
  model.marbles.set(item.id, item);
  if (item.pages) { track.pages = item.pages; drawCards(); }
  if (!track.hidden) draw(track.row, { t: item.t, track, item });
}

/** Counts the values that were not sent, between `from` and `to`. */
export function count(counts, from, to) {
  for (const [id, total] of counts) {
    const track = model.tracks.get(id);
    if (!track) continue;
    const grown = total - track.count;
    const sent = track.items.length - (track.counted ?? 0);
    track.counted = track.items.length;
    track.count = total;
    if (track.hidden) continue;
    if (grown > sent) {
      track.gaps.push({ from, to, count: grown - sent });
      drawGap(track, track.gaps.at(-1));
      model.hidden.values += grown - sent;
      model.lastSampled = track.row.sampledAt = to;
    }
    label(track.row);
  }
}

export function forget(track) {
  model.tracks.delete(track.id);
  for (const item of track.items) model.marbles.delete(item.id);
  track.row.tracks = track.row.tracks.filter(other => other !== track);
  if (track.row.tracks.length) rebuild(track.row); else if (model.rows.includes(track.row)) removeRow(track.row);
}
