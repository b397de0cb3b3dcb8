// What the feed has told: tracks of streams, their marbles, requests and the state of clients.
import { plural } from "./dom.js";

/** How long the events of streams are kept, in milliseconds. */
export const HISTORY = 300_000;
/** The most rows of streams, requests, and values of a track. */
export const ROWS = 120, REQUESTS = 200, VALUES = 2000;

export const PHASES = [["queue", "queued"], ["dns", "DNS"], ["connect", "connect"], ["tls", "TLS"], ["wait", "wait"],
  ["receive", "receive"]];
export const ENDS = { finished: "|", failed: "✕", cancelled: "⊘", released: "◌", missed: "?" };

export const model = {
  process: "",
  tracks: new Map(), marbles: new Map(), requests: new Map(),
  /** The rows of streams, from top to bottom. */
  rows: [],
  clients: [],
  /** What is shown in the details: `{ request }`, or `{ track, events, element }` of a marble or an end. */
  selected: null,
  /** The numbers of what is not drawn. */
  hidden: { values: 0, streams: 0, older: 0, requests: 0, lost: 0, missed: 0 },
  lastSampled: -1e9,
  /** Whether the focus moves to the element of the same event, which has been drawn again. */
  isRefocusing: false,
};

const HUES = [192, 268, 28, 145, 338, 218, 48, 300, 92, 8], hues = new Map();
/** The colour of a name, always the same one. */
export function hue(name) {
  if (!hues.has(name)) hues.set(name, HUES[hues.size % HUES.length]);
  return hues.get(name);
}

export const title = track => track.kind === "inner" ? `${model.tracks.get(track.parent)?.name ?? ""} ▸ flatMap`
  : track.kind === "stream" ? `${track.name} #${track.number}` : track.name;

/** The text and the kind of a request's result. */
export const outcome = request => request.state === "running" ? [request.mark ?? "pending", ""]
  : request.state === "cancelled" ? ["cancelled", "dim"]
  : request.state === "failed" ? [request.status >= 400 ? String(request.status) : request.error ?? "failed", "bad"]
  : [`${request.status ?? "ok"}${request.cached ? ` ${request.cached}` : ""}`, "good"];

/** The number of a request, as the server knows it. */
export const number = request => request.id.replace(/^#/, "");

/** The requests that values have led to. */
export function ledBy(items) {
  const ids = new Set(items.map(item => item.id));
  return [...model.requests.values()].filter(request => ids.has(request.marble));
}

/** The text of a value, or of an end. */
export const textOf = event => event.item ? event.item.text
  : `${event.track.how}${event.track.error ? `: ${event.track.error}` : ""}`;

/** Numbers of values and ends, in words. */
export const counts = (values, ends) => [values ? plural(values, "value") : "", ends ? plural(ends, "end") : ""].filter(Boolean).join(", ");

export const summary = events => {
  const values = events.filter(event => event.item).length;
  return counts(values, events.length - values);
};
