// The details of a request: its exchanges with headers and bodies, its command for curl, and the way to Chrome's panel.
import { bytes, button, copy, fact, indented, line, make, ms, say } from "./dom.js";
import { PHASES, model, number, outcome } from "./model.js";
import { both, show } from "./scale.js";
import { showRequest } from "./details.js";
import { change, settings } from "./settings.js";

/** The most characters of a body that are shown. */
const BODY = 200_000;

export function requestDetails(request, cause) {
  load(request);
  const list = make("dl"), [text, kind] = outcome(request);
  fact(list, "Status", text);
  list.lastChild.className = kind;
  if (request.failure) fact(list, "Error", request.failure);
  fact(list, "Client", request.client);
  if (request.server) fact(list, "Server", request.server);
  fact(list, "Began", both(request.t));
  if (request.end !== null) fact(list, "Took", ms(request.end - request.t));
  fact(list, "Received", bytes(request.bytes));
  fact(list, "Attempts", String(request.attempts));
  fact(list, "Request", request.id);
  return [make("h2", "", `${request.method} ${request.url}`), tools(request), list, ...cause, ...exchanges(request), ...marks(request)];
}

function tools(request) {
  const tools = make("div", "tools");
  // It stays while the details are drawn again.
  if (!request.answer) { request.answer = make("div", "answer"); request.answer.hidden = true; }
  const { answer } = request;
  const curl = button("Copy as curl", async () => {
    const loaded = await load(request);
    if (!loaded) return tell(answer, line("The program no longer has this request.", "warn"));
    await copy(loaded.curl, "the command");
    tell(answer, line("Copied. Secrets are hidden in it."));
  });
  curl.dataset.tool = "curl";
  const url = button("Copy URL", () => copy(request.url, "the URL"));
  const panel = button("Show in Chrome’s panel", async () => tell(answer, ...await linkInPanel(request)));
  panel.dataset.tool = "panel";
  const fitting = button("Zoom to it", () => show(request.t, request.end ?? request.t + 100));
  tools.append(curl, url, panel, fitting, answer);
  return tools;
}

function tell(answer, ...parts) {
  answer.replaceChildren(...parts);
  answer.hidden = false;
  say(answer.textContent);
}

// ---- Chrome's panel.
/** Lets the console of the open panels link to the row; no address leads to a single row. */
async function linkInPanel(request) {
  const response = await fetch(`panel?${number(request)}`).catch(() => null);
  if (!response?.ok) return [line("The program no longer has this request.", "warn")];
  const { panels, address } = await response.json();
  const find = line(`${panels ? "Its" : "Then its"} console, which Esc opens, shows the address of request ${request.id} as a link; a click on the link selects `
    + `the row. Without the console: filter the panel by ${request.path}`);
  if (panels) return [line(panels === 1 ? "The open panel has been told." : `${panels} open panels have been told.`, "good"), find];
  return [line("No panel is open. Paste its address into Chrome’s address bar, since Chrome follows no link to it:"), make("code", "address", address),
    button("Copy address", () => copy(address, "the address of the panel")), find];
}

// ---- Exchanges.
const loads = new Map();

/** The exchanges and the command, as the program has them now; `null` if it has dropped the request. */
function load(request) {
  const version = `${request.state} ${request.exchanges.length} ${request.exchanges.at(-1)?.end} ${request.exchanges.at(-1)?.status}`;
  if (loads.get(request.id)?.version !== version) {
    if (loads.size > 50) loads.clear();
    const answer = fetch(`request?${number(request)}`).then(response => response.ok ? response.json() : null, () => null);
    loads.set(request.id, { version, answer });
    answer.then(loaded => {
      request.loaded = loaded ?? request.loaded ?? { entries: [] };
      if (model.selected?.request === request) showRequest(request);
    });
  }
  return loads.get(request.id).answer;
}

function exchanges(request) {
  const entries = request.loaded?.entries;
  if (!entries) return [line("Loading headers and bodies …", "dim")];
  return entries.map((entry, index) => {
    const parts = [...phases(request.exchanges[index]), ...message(entry)];
    if (entries.length === 1) return group("", parts);
    return section(`exchange ${index === entries.length - 1 ? "last" : index}`, `${index + 1}. ${entry.request.method} ${entry.request.url}`,
      entry.response.status ? String(entry.response.status) : "no response", parts, index === entries.length - 1);
  });
}

function group(name, parts) {
  const element = make("div", name);
  element.append(...parts);
  return element;
}

/** A part that can be closed, which stays as the reader has left it. */
function section(name, text, about, parts, isOpen) {
  const element = make("details"), head = make("summary", "", text);
  head.append(make("span", "dim", about ? ` ${about}` : ""));
  element.open = settings.open[name] ?? isOpen;
  element.append(head, ...parts);
  element.addEventListener("toggle", () => {
    if (element.open !== (settings.open[name] ?? isOpen)) change({ open: { ...settings.open, [name]: element.open } });
  });
  return element;
}

function phases(exchange) {
  const list = make("ul", "phases");
  for (const [name, text] of PHASES) {
    if (!(exchange?.phases[name] > 0)) continue;
    const item = make("li"), swatch = make("i");
    swatch.style.background = `var(--${name})`;
    item.append(swatch, make("span", "", `${text} ${ms(exchange.phases[name])}`));
    list.append(item);
  }
  return [...(exchange?.error ? [line(exchange.error, "bad")] : []), ...(list.childElementCount ? [list] : [])];
}

function message({ request, response, _webSocketMessages: messages }) {
  const parts = [headers("Request headers", request.headers, true)], sent = request.postData, { content } = response;
  if (sent?.text) parts.push(body("Request body", sent.text, sent.mimeType, request.bodySize));
  else if (request.bodySize > 0) parts.push(line(`The body of ${bytes(request.bodySize)} is not kept.`, "dim"));
  if (!response.status) return parts;
  parts.push(headers("Response headers", response.headers, true));
  if (content.text) parts.push(body("Response body", content.text, content.mimeType, content.size, content.encoding));
  else if (content.size > 0) parts.push(line(`The body of ${bytes(content.size)} is not kept.`, "dim"));
  if (messages?.length) parts.push(section("messages", "Messages", String(messages.length), [messageList(messages)], true));
  return parts;
}

function headers(name, fields, isOpen) {
  const list = make("dl", "headers");
  for (const { name, value } of fields) fact(list, name, value);
  return section(name, name, String(fields.length), [list], isOpen);
}

function body(name, text, type = "", size, encoding) {
  const parts = [];
  if (encoding === "base64" && /^image\/(png|jpeg|gif|webp|avif)\b/.test(type)) {
    const picture = make("img");
    picture.alt = name;
    picture.src = `data:${type.split(";")[0]};base64,${text}`;
    parts.push(picture);
  } else if (encoding === "base64") {
    parts.push(line("Binary; the export as HAR has it.", "dim"));
  } else {
    const shown = indented(text.slice(0, BODY)), isCut = text.length > BODY;
    parts.push(make("pre", "", isCut ? `${shown}…` : shown));
    if (isCut) parts.push(line("The rest is in the export as HAR.", "dim"));
    parts.push(button("Copy", () => copy(text, name.toLowerCase())));
  }
  return section(name, name, [type, size >= 0 ? bytes(size) : ""].filter(Boolean).join(", "), parts, true);
}

function messageList(messages) {
  const list = make("ul", "messages");
  for (const { type, data, opcode } of messages.slice(-200)) {
    const item = make("li");
    item.append(make("time", "", type === "send" ? "↑ sent" : "↓ received"), make("span", "", opcode === 1 ? data : `binary, ${data.length} characters of base64`));
    list.append(item);
  }
  return list;
}

// ---- Events.
function marks(request) {
  if (!request.marks.length) return [];
  const list = make("ul");
  for (const { t, text } of request.marks) {
    const item = make("li");
    item.append(make("time", "", `+${ms(t - request.t)}`), make("span", "", text));
    list.append(item);
  }
  return [section("events", "Events", String(request.marks.length), [list], true)];
}
