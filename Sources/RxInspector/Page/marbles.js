// The marbles of a row: each at its time, merged where there is no room for all, never one over the other.
import { $, fitted, make, oneLine, plural, textWidth } from "./dom.js";
import { ENDS, counts, model, textOf, title } from "./model.js";
import { place, time } from "./scale.js";

/** Pixels: between two marbles; by how much one may stand beside its time, after a marble and after an end, as often one
    subscription ends and the next one begins; the least widths; and the most of a text. */
const GAP = 3, SHIFT = 10, SHIFT_AFTER_END = 24, LEAST = 22, GROUP = 30, END = 14, MOST = 190;
const PADDING = 15, TIGHT = 5;

// A slot is what is drawn at one place: a marble, a group of marbles and ends, or an end. Directly behind a marble, the end
// of its track stands as its tail, which makes way for the text of the marble.

const isEnd = slot => slot.events.length === 1 && !slot.events[0].item;
const leastWidth = slot => isEnd(slot) ? END : slot.events.length > 1 ? GROUP : LEAST;
const tailPlace = (slot, width) => Math.max(place(slot.tail.t) - END / 2, slot.left + width + 1);
const leastRight = slot => slot.tail ? tailPlace(slot, leastWidth(slot)) + END : slot.left + leastWidth(slot);

/** Draws an event, `{ t, track, item }` of a value or `{ t, track }` of an end, which is not before those that are drawn. */
export function draw(row, event) {
  if (event.t < time.drawnFrom || event.t > time.drawnTo) return;
  const last = row.last?.element.isConnected ? row.last : null;
  const left = place(event.t) - (event.item ? LEAST : END) / 2;
  if (last && !event.item && !last.tail && !isEnd(last) && last.events.at(-1).track === event.track
      && left < last.left + last.width + GAP) {
    addTail(last, event);
  } else if (last && leastRight(last) + GAP - left > (event.item && isEnd(last) ? SHIFT_AFTER_END : SHIFT)) {
    join(last, event);
  } else {
    const slot = { row, left: last ? Math.max(left, leastRight(last) + GAP) : left, events: [event], tail: null };
    if (last) fit(last, slot.left - GAP);
    row.last = slot;
    attach(slot);
  }
}

/** Ends the texts of a row before the beginning of another track. */
export function makeRoom(row, x) {
  if (row.last?.element.isConnected) fit(row.last, Math.max(x - GAP, leastRight(row.last)));
}

function attach(slot) {
  const element = make("button", isEnd(slot) ? "" : "marble");
  element.type = "button";
  element.tabIndex = -1;
  element.style.left = `${slot.left}px`;
  element.marble = slot;
  element.time = slot.events[0].t;
  slot.element = element;
  slot.row.plane.append(element);
  describe(slot, slot.events);
}

/** Draws the text of a slot, and the marks of the events that have been added. */
function describe(slot, added) {
  const { element, events } = slot, [first] = events, isGroup = events.length > 1;
  for (const event of added) (event.item ?? event.track)[event.item ? "element" : "endElement"] = element;
  if (isEnd(slot)) {
    slot.width = END;
    asEnd(element, first);
    return;
  }
  element.classList.toggle("group", isGroup);
  for (const event of added) {
    if (event.item?.led) element.classList.add("led");
    if (!event.item && event.track.how === "failed") element.classList.add("failed");
    if (isFound(event)) element.classList.add("hit");
    if (isSelected(event)) {
      element.classList.add("on");
      if (model.selected.events) model.selected.element = element;
    }
  }
  slot.ends = (slot.ends ?? 0) + added.filter(event => !event.item).length;
  element.setAttribute("aria-label", isGroup ? `${title(first.track)}: ${counts(events.length - slot.ends, slot.ends)}, the first: ${textOf(first)}`
    : `${title(first.track)}: ${textOf(first)}`);
  if (isGroup) element.setAttribute("aria-haspopup", "dialog");
  fit(slot, slot.left + MOST);
}

function asEnd(element, event) {
  element.className = `end ${event.track.how}`;
  element.textContent = ENDS[event.track.how];
  element.setAttribute("aria-label", `${title(event.track)}: ${textOf(event)}`);
  if (isSelected(event)) element.classList.add("on");
}

/** Gives a slot the room up to `right`. */
function fit(slot, right) {
  if (isEnd(slot)) return;
  const { element, events } = slot, isGroup = events.length > 1;
  const room = Math.min(MOST, Math.max(leastWidth(slot), right - slot.left - (slot.tail ? END + 1 : 0)));
  if (isGroup) {
    element.textContent = events.length > 99 ? "99+" : `×${events.length}`;
    slot.width = GROUP;
  } else {
    const text = oneLine(textOf(events[0])), full = text.length <= 64 ? textWidth(text, 11) : MOST;
    const isTight = full + PADDING > room, widthOf = part => textWidth(part, isTight ? 10 : 11);
    element.classList.toggle("tight", isTight);
    element.textContent = fitted(text, room - (isTight ? TIGHT : PADDING), widthOf);
    slot.width = Math.min(room, Math.max(LEAST, Math.ceil(widthOf(element.textContent) + (isTight ? TIGHT : PADDING))));
  }
  element.style.width = `${slot.width}px`;
  if (slot.tail) slot.tail.element.style.left = `${tailPlace(slot, slot.width)}px`;
}

function addTail(slot, event) {
  const element = make("button");
  element.type = "button";
  element.tabIndex = -1;
  element.time = event.t;
  element.marble = { row: slot.row, events: [event], element };
  event.element = element;
  slot.tail = event;
  event.track.endElement = element;
  asEnd(element, event);
  element.style.left = `${tailPlace(slot, slot.width)}px`;
  slot.row.plane.append(element);
}

/** Adds an event to a slot, which becomes a group. */
function join(slot, event) {
  const added = [event];
  if (slot.tail) {
    slot.tail.element.remove();
    added.unshift(slot.tail);
    slot.tail = null;
  }
  if (isEnd(slot)) {
    slot.element.className = "marble";
    added.unshift(...slot.events.splice(0));
  }
  slot.events.push(...added);
  describe(slot, added);
}

// ---- Marks.
const isSelected = event => model.selected?.events?.some(other => other.item ? other.item === event.item : other.track === event.track && !event.item)
  || event.item && model.selected?.request?.marble === event.item.id;

export const needle = () => $("find").value.trim().toLowerCase();

const isFound = (event, text = needle()) => text !== "" && textOf(event).toLowerCase().includes(text);

/** Marks what the filter finds. */
export function mark(slot) {
  const text = needle();
  slot.element.classList.toggle("hit", slot.events.some(event => isFound(event, text)));
}

// ---- Below the marbles.
export function drawGap(track, gap) {
  if (gap.to < time.drawnFrom || gap.from > time.drawnTo) return;
  const element = make("div", "many");
  element.style.left = `${place(gap.from)}px`;
  element.style.width = `${Math.max(1, place(gap.to) - place(gap.from) - 1)}px`;
  element.style.height = `${Math.min(9, 2 + Math.log10(gap.count + 1) * 2)}px`;
  element.title = `${plural(gap.count, "value")} not drawn`;
  element.time = gap.to;
  track.row.plane.append(element);
}
