// Time: the clock of the program, the part of it that is shown, and its place on the screen.
import { $, make, say } from "./dom.js";
import { HISTORY, model } from "./model.js";

/** How far the picture is behind the program, in milliseconds: values come in batches. */
const LAG = 120;
/** The room to the right of the present, for the marbles that have just come. */
export const EDGE = 128;
const SHORTEST = 20, LONGEST = HISTORY * 4;
const STEPS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 30_000, 60_000, 120_000, 300_000];

export const time = {
  /** The date of the program's time zero; 0 before the feed has begun. */
  epoch: 0,
  /** The program's time less that of the page; `null` before the feed has begun. */
  offset: null,
  /** The time at the left edge of the planes, before they are moved. */
  base: 0,
  /** The milliseconds that are shown. */
  span: 15_000,
  width: 800,
  /** The time at the right edge while the picture is frozen, and the time of the freeze. */
  frozen: null, frozenAt: 0,
  /** Whether the loss of the connection has frozen the picture, which is live again with the next one. */
  isHalted: false,
  /** The times between which marbles are drawn. */
  drawnFrom: 0, drawnTo: Infinity,
};

/** What changes with the view: set by the picture. */
export const changed = { layout() {}, moved() {}, live() {} };

export const serverNow = () => time.offset === null ? 0 : performance.now() + time.offset;
/** The time up to which the picture is drawn. */
export const present = () => time.frozen === null ? serverNow() : time.frozenAt;
export const viewEnd = () => time.frozen ?? serverNow() - LAG;
export const viewStart = () => viewEnd() - time.span;
export const scale = () => (time.width - EDGE) / time.span;
export const place = moment => (moment - time.base) * scale();

// ---- Texts.
const two = value => String(value).padStart(2, "0");
export const utc = moment => new Date(time.epoch + moment).toISOString().slice(11, 23);
export function local(moment) {
  const date = new Date(time.epoch + moment);
  return `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}.${String(date.getMilliseconds()).padStart(3, "0")}`;
}
/** The name of the local time: UTC+2. */
export function zone(moment) {
  const minutes = -new Date(time.epoch + moment).getTimezoneOffset(), rest = Math.abs(minutes) % 60;
  return minutes === 0 ? "UTC" : `UTC${minutes < 0 ? "−" : "+"}${Math.floor(Math.abs(minutes) / 60)}${rest ? `:${two(rest)}` : ""}`;
}
const isUTC = moment => new Date(time.epoch + moment).getTimezoneOffset() === 0;
/** Local time, and UTC if it is another one. */
export const both = moment => isUTC(moment) ? `${utc(moment)} UTC` : `${local(moment)} ${zone(moment)} · ${utc(moment)} UTC`;

// ---- The axis.
export function drawTicks() {
  const step = STEPS.find(step => step * scale() > 90) ?? STEPS.at(-1);
  const end = viewEnd(), first = Math.floor((time.epoch + end - time.span * 1.2) / step) * step - time.epoch;
  const wanted = new Set();
  for (let moment = first; moment <= end + step; moment += step) wanted.add(Math.round(moment));
  for (const tick of [...$("ticks").children]) if (!wanted.delete(tick.time)) tick.remove();
  // The epoch has fractions of a millisecond, which must not show as the millisecond before.
  const cut = text => step < 1000 ? text.slice(6) : text.slice(0, 8);
  for (const moment of wanted) {
    const tick = make("span", "tick", cut(local(moment + 0.5)));
    if (!isUTC(moment)) tick.append(make("small", "", cut(utc(moment + 0.5))));
    tick.time = moment;
    tick.style.left = `${place(moment)}px`;
    $("ticks").append(tick);
  }
}

export function drawClock() {
  const end = viewEnd();
  $("local").textContent = `${local(end)} ${isUTC(end) ? "UTC" : zone(end)}`;
  $("utc").textContent = isUTC(end) ? "" : `${utc(end)} UTC`;
}

// ---- Moving and zooming.
/** Stops the picture with this time at its right edge; `null` continues it. */
export function setFrozen(moment, byLoss = false) {
  const was = time.frozen;
  if (was === null && moment !== null) time.frozenAt = serverNow();
  time.frozen = moment;
  time.isHalted = byLoss;
  if (moment === null) changed.live();
  $("freeze").setAttribute("aria-pressed", String(moment !== null));
  if ((was === null) !== (moment === null)) {
    say(moment === null ? "Live" : "Frozen");
    changed.layout();
  } else if (was !== moment) changed.moved();
}

const latest = () => time.frozenAt - LAG;

export function pan(by) {
  if (time.frozen === null) setFrozen(viewEnd());
  time.isHalted = false;
  time.frozen = Math.min(latest(), Math.max(Math.min(time.span, latest()), time.frozen + by));
  changed.moved();
}

/** Shows this many milliseconds. While the picture is frozen, the time `fixed` stays at its place. */
export function setSpan(span, fixed = viewEnd()) {
  const before = time.span;
  time.span = Math.min(LONGEST, Math.max(SHORTEST, span));
  if (time.frozen !== null) {
    time.frozen = Math.min(latest(), fixed + (time.frozen - fixed) * time.span / before);
    time.isHalted = false;
  }
  showSpan();
  changed.layout();
}

export const zoom = (factor, fixed) => setSpan(time.span * factor, fixed);

/** Shows the times from one to the other, with some room at both sides. */
export function show(from, to) {
  const room = Math.max(SHORTEST / 2, (to - from) * 0.15);
  if (time.frozen === null) setFrozen(viewEnd());
  time.span = Math.min(LONGEST, Math.max(SHORTEST, to - from + 2 * room));
  time.frozen = Math.min(latest(), (from + to + time.span) / 2);
  time.isHalted = false;
  showSpan();
  changed.layout();
}

/** Shows everything that the page holds. */
export function fit() {
  const begins = [...[...model.tracks.values()].map(track => Math.max(track.t, present() - HISTORY)),
    ...[...model.requests.values()].map(request => request.t)];
  if (!begins.length) return;
  if (time.frozen !== null) { time.frozen = latest(); time.isHalted = false; }
  const length = viewEnd() - Math.min(...begins);
  setSpan(Math.max(1000, length * 1.04), time.frozen ?? undefined);
}

/** Shows a time that is out of view, without another scale. */
export function goTo(moment) {
  if (time.frozen === null) setFrozen(viewEnd());
  pan(moment + time.span * 0.4 - time.frozen);
}

function showSpan() {
  const list = $("window"), text = time.span >= 60_000 ? `${+(time.span / 60_000).toFixed(1)} min`
    : time.span >= 1000 ? `${+(time.span / 1000).toFixed(1)} s` : `${Math.round(time.span)} ms`;
  const isPreset = [...list.options].some(option => option !== $("zoomed") && Number(option.value) === time.span);
  $("zoomed").hidden = isPreset;
  $("zoomed").textContent = text;
  $("zoomed").value = time.span;
  list.value = String(time.span);
}
