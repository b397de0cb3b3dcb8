// Exports: marble diagrams as Swift, everything as JSON, and the requests as a HAR.
import { make, say } from "./dom.js";
import { model, title } from "./model.js";
import { serverNow, time } from "./scale.js";

const swiftText = text => `"${text.replace(/[\\"]/g, "\\$&").replace(/\n/g, "\\n").replace(/\r/g, "\\r").replace(/\t/g, "\\t")
  .replace(/[\0-\x1f\u2028\u2029]/g, character => `\\u{${character.codePointAt(0).toString(16)}}`)}"`;

/** The marbles of a track in the notation of RxTesting, one frame a millisecond. */
export function marbleText(track) {
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

export function marblesSource() {
  const chosen = (model.selected?.track ? [model.selected.track] : model.rows.filter(row => !row.element.hidden).flatMap(row => row.tracks))
    .filter(track => !track.hidden);
  const names = new Map();
  const sources = chosen.map(track => {
    const word = (track.kind === "inner" ? `${model.tracks.get(track.parent)?.name ?? ""} inner` : track.name).replace(/[^A-Za-z0-9]+(.)?/g, (_, next) => (next ?? "").toUpperCase());
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

export function jsonText() {
  return JSON.stringify({
    format: "RxNetworking streams", version: 1, process: model.process, date: new Date(time.epoch + serverNow()).toISOString(),
    timesSince: new Date(time.epoch).toISOString(), notDrawn: model.hidden,
    tracks: [...model.tracks.values()].map(({ id, name, kind, number, element, place, parent, marble, t, end, how, error, count, items, pauses }) => ({
      id, name, kind, number, element, place, parent, marble, begun: t, end, how, error, count,
      values: items.map(({ t, id, text }) => ({ t, marble: id, text })), pauses: pauses.map(({ from, to }) => ({ from, to })) })),
    requests: [...model.requests.values()].map(({ id, client, method, url, state, status, error, t, end, bytes, attempts, track, marble, exchanges, marks }) => ({
      id, client, method, url, state, status, error, begun: t, end, bytes, attempts, track, marble, exchanges, marks })),
    clients: model.clients,
  }, null, 2);
}

function save(text, name, type) {
  const link = make("a");
  link.href = URL.createObjectURL(new Blob([text], { type }));
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
}

export async function run(kind) {
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
