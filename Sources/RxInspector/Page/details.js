// The selection, and its details beside the picture.
import { $, fact, button, line, make, ms, oneLine, short } from "./dom.js";
import { ledBy, model, outcome, summary, textOf, title } from "./model.js";
import { hidePeek } from "./peek.js";
import { requestDetails } from "./request-details.js";
import { setFollowing } from "./requests.js";
import { both, setFrozen, show, time, viewEnd, viewStart } from "./scale.js";

/** The most values of a group that the details list. */
const LISTED = 300;
let keys = null;

/** Keeps the page's own text, which is shown when nothing is selected. */
export function keepKeys() { keys = [...$("details").children]; }

/** Whether this is selected already, and nothing has been added to it since. */
const isSelected = target => model.selected !== null && target !== null && (target.request ? target.request === model.selected.request
  : target.element === model.selected.element && target.events.length === model.selected.count);

export function select(target) {
  if (isSelected(target)) return;
  for (const element of document.querySelectorAll(".on, .link")) element.classList.remove("on", "link");
  model.selected = target && { ...target, count: target.events?.length };
  if (!target) { hidePeek(); $("details").replaceChildren(...keys); return; }
  $("details").scrollTop = 0;
  if (target.request) {
    target.request.row.classList.add("on");
    const cause = model.marbles.get(target.request.marble);
    cause?.element?.classList.add("on");
    cause?.track.row.element.scrollIntoView({ block: "nearest" });
    showRequest(target.request);
  } else {
    target.events[0].track.row.element.classList.add("on");
    target.element?.classList.add("on");
    const request = ledBy(target.events.flatMap(event => event.item ?? []))[0];
    if (request && !request.row.hidden) showRow(request.row);
    $("details").replaceChildren(...(target.events.length > 1 ? groupDetails(target.events) : eventDetails(target.events[0])));
  }
}

/** Scrolls to the row of a request, if it is not in view; then the newest one is followed no longer. */
function showRow(row) {
  const pane = $("requests-pane"), before = pane.scrollTop;
  row.scrollIntoView({ block: "nearest" });
  if (pane.scrollTop !== before) setFollowing(false);
}

/** Shows a request in the details, with what has changed of it. */
export function showRequest(request) {
  $("details").replaceChildren(...requestDetails(request, cause(request)));
}

/** The link to the value that has led to a request. */
function cause(request) {
  const item = model.marbles.get(request.marble), track = model.tracks.get(request.track);
  if (!track) return [];
  const links = make("div", "links");
  const text = item ? `● ${title(item.track)}: ${short(oneLine(item.text), 60)}` : `● ${title(track)}, its subscription`;
  links.append(make("h3", "", "Led by"), button(text, () => item ? reveal(item) : track.row.element.focus(), ""));
  return [links];
}

function eventDetails(event) {
  const { track, item } = event, list = make("dl");
  fact(list, "Stream", title(track));
  fact(list, "Type", track.element);
  fact(list, "Time", both(event.t));
  if (track.place) fact(list, "Source", track.place);
  if (track.begunBefore !== true) fact(list, "After", `${ms(event.t - track.t)} since the subscription`);
  return [make("h2", "", item ? "Value" : "End"), make("pre", "", textOf(event)), list, requestLinks(item ? [item] : [])];
}

/** The values and ends of a group, each of which opens its own details. */
function groupDetails(events) {
  const [first] = events, last = events.at(-1), list = make("dl"), items = events.flatMap(event => event.item ?? []);
  fact(list, "Stream", title(first.track));
  fact(list, "From", both(first.t));
  fact(list, "To", both(last.t));
  const tools = make("div", "tools");
  tools.append(button("Zoom to them", () => show(first.t, last.t)));
  const values = make("ol", "values");
  for (const event of events.slice(0, LISTED)) values.append(valueLine(event, first.t));
  const rest = events.length > LISTED ? [line(`… and ${events.length - LISTED} more. Zoom in to see them.`, "dim")] : [];
  return [make("h2", "", summary(events)), tools, values, ...rest, list, requestLinks(items)];
}

/** A value of a group with its time after the first one. */
export function valueLine(event, from) {
  const item = make("li"), entry = button("", () => choose(event), `entry ${event.item ? "" : event.track.how}`);
  entry.append(make("time", "", `+${ms(event.t - from)}`), make("span", "", short(oneLine(textOf(event)), 200)));
  item.append(entry);
  return item;
}

/** Selects one event of a group. */
function choose(event) {
  hidePeek();
  select({ track: event.track, events: [event], element: (event.item ?? event.track)[event.item ? "element" : "endElement"] });
}

function requestLinks(items) {
  const links = make("div", "links"), led = ledBy(items);
  if (led.length) links.append(make("h3", "", led.length === 1 ? "Led to a request" : `Led to ${led.length} requests`));
  for (const request of led.slice(0, 20)) {
    request.row.classList.add("link");
    links.append(button(`${request.method} ${request.path}  ${outcome(request)[0]}`, () => { request.row.hidden = false; request.row.focus(); }, ""));
  }
  return links;
}

/** Shows a value at its time. */
export function reveal(item) {
  setFrozen(viewEnd());
  if (item.t > viewEnd() || item.t < viewStart()) setFrozen(Math.min(time.frozenAt, item.t + time.span * 0.25));
  item.element?.focus();
  const slot = item.element?.marble;
  if (slot) select({ track: item.track, events: slot.events, element: item.element });
}
