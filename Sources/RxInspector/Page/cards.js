// Cards: the state of the clients, and of lists of pages.
import { $, bytes, line, make, plural } from "./dom.js";
import { model, title } from "./model.js";

function card(heading, about, ...lines) {
  const element = make("div", "card");
  const head = make("h3", "", heading);
  if (about) head.append(make("span", "", ` ${about}`));
  element.append(head, ...lines);
  return element;
}

export function drawCards() {
  const cards = [...model.clients.map(clientCard), ...[...model.tracks.values()].filter(track => track.pages && track.end === null).map(pagesCard)];
  $("cards").replaceChildren(...cards);
  $("cards").hidden = !cards.length;
}

/** The state of a client, under its name. */
function clientCard({ name, running, session, cache, circuits, limiter }) {
  const lines = [line(running ? `${running} running` : "idle", running ? "" : "dim")];
  if (session) {
    const text = line("session "), isIn = session.state === "logged in";
    text.append(make("span", isIn ? "good" : "warn", session.state), make("span", "dim", `, generation ${session.generation}`));
    lines.push(text);
  }
  for (const { server, state } of circuits) {
    const text = line(circuits.length > 1 ? `circuit of ${server} ` : "circuit ");
    text.append(make("span", { closed: "good", open: "bad" }[state] ?? "warn", state));
    lines.push(text);
  }
  if (limiter?.waiting) lines.push(line(`${limiter.waiting} wait for the limiter`, "warn"));
  if (cache && cache.hits + cache.misses + cache.joined > 0) {
    const text = line(`cache ${plural(cache.hits, "hit")}, ${cache.misses} missed`);
    text.title = `${cache.revalidated} revalidated, ${cache.joined} joined, ${bytes(cache.bytes)}`;
    lines.push(text);
  }
  return card(name, "", ...lines);
}

function pagesCard(track) {
  const { page, items, total, phase } = track.pages;
  const strip = make("div", "pages");
  strip.setAttribute("role", "img");
  strip.setAttribute("aria-label", `${page} pages, ${phase}`);
  if (page > 24) strip.append(make("span", "note", `${page - 24} +`));
  for (let index = 0; index < Math.min(page, 24); index++) strip.append(make("i"));
  if (phase.startsWith("loading")) strip.append(make("i", "load"));
  if (phase.startsWith("failed")) strip.append(make("i", "fail"));
  if (phase === "end") strip.append(make("i", "end"));
  return card(title(track), "pages", strip,
    line(`${items}${total === undefined ? "" : ` of ${total}`} items · ${phase}`, phase.startsWith("failed") ? "bad" : "note"));
}
