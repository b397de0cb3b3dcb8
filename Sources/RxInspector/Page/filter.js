// Which rows are shown, and where those are whose time is out of view.
import { $, make } from "./dom.js";
import { needle } from "./marbles.js";
import { model, outcome } from "./model.js";
import { keepInView, sortRequests } from "./requests.js";
import { both, goTo, local, viewEnd, viewStart } from "./scale.js";
import { settings } from "./settings.js";

export function filter() {
  const text = needle(), kind = $("kind").value, client = $("client").value, end = viewEnd(), start = viewStart();
  const matches = row => (text === "" || row.name.toLowerCase().includes(text)
      || row.tracks.some(track => track.items.some(item => item.text.toLowerCase().includes(text))))
    && (kind === "" || kind === "failed" && row.tracks.some(track => track.how === "failed")
      || kind === "stream" && (row.kind === "stream" || row.kind === "inner") || kind === row.kind);
  const isInView = row => row.tracks.some(track => track.t < end && (track.end === null || track.end > start));
  const visible = new Set();
  for (const row of model.rows) {
    row.isAway = !isInView(row);
    if (!(row.isAway && settings.isInViewOnly) && matches(row)) for (let up = row; up; up = up.parent) visible.add(up);
  }
  for (const row of model.rows) {
    row.element.hidden = !visible.has(row);
    if (!row.element.hidden) pointTo(row.element, row.cell, row.isAway ? row.tracks.findLast(track => track.t < end)?.end ?? row.tracks[0].t : null, end);
  }
  let count = 0;
  for (const request of model.requests.values()) {
    const isFound = text === "" || `${request.method} ${request.url} ${request.client} ${outcome(request)[0]}`.toLowerCase().includes(text);
    const isKind = kind !== "failed" || request.state === "failed";
    const isAway = !(request.t < end && (request.end === null || request.end > start));
    request.row.hidden = !(isFound && isKind && (client === "" || request.client === client) && !(isAway && settings.isInViewOnly));
    if (request.row.hidden) continue;
    count++;
    pointTo(request.row, request.cell, isAway ? request.t : null, end);
  }
  sortRequests();
  $("no-streams").hidden = model.rows.length > 0;
  $("no-requests").hidden = model.requests.size > 0;
  $("streams-count").textContent = model.rows.length ? `${visible.size} of ${model.rows.length}` : "";
  $("requests-count").textContent = model.requests.size ? `${count} of ${model.requests.size}` : "";
  keepInView();
}

/** Shows in a row that its time is out of view, as a button that leads there; `null` if it is in view. */
function pointTo(row, cell, moment, end) {
  row.classList.toggle("away", moment !== null);
  let pointer = cell.querySelector(".pointer");
  if (moment === null) return pointer?.remove();
  if (!pointer) {
    pointer = make("button", "pointer");
    pointer.type = "button";
    pointer.tabIndex = -1;
    cell.append(pointer);
    pointer.addEventListener("click", event => { event.stopPropagation(); goTo(pointer.moment); });
  }
  const isLater = moment > end, text = isLater ? `${local(moment).slice(0, 8)} ▸` : `◂ ${local(moment).slice(0, 8)}`;
  pointer.moment = moment;
  pointer.classList.toggle("later", isLater);
  if (pointer.textContent !== text) { pointer.textContent = text; pointer.title = `Show ${both(moment)}`; }
}

/** Lists the clients to choose from, if there are several. */
export function listClients() {
  const list = $("client"), names = [...new Set([...model.clients.map(client => client.name), ...[...model.requests.values()].map(request => request.client)])];
  if (names.join("\n") === [...list.options].slice(1).map(option => option.value).join("\n")) return;
  const chosen = list.value;
  list.replaceChildren(list.options[0], ...names.map(name => {
    const option = make("option", "", name);
    option.value = name;
    return option;
  }));
  list.value = names.includes(chosen) ? chosen : "";
  list.hidden = names.length < 2;
  document.body.classList.toggle("has-clients", names.length > 1);
}
