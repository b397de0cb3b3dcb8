// The list that opens at a marble: the values of a group, or the whole of a value that is cut.
import { $, make, oneLine, short } from "./dom.js";
import { valueLine } from "./details.js";
import { summary, textOf } from "./model.js";
import { local } from "./scale.js";

/** The most values that the list shows; the details show more. */
const LISTED = 12;
let slot = null, isPinned = false;

const isCut = ({ element, events }) => events.length > 1 || element.textContent !== oneLine(textOf(events[0]));

/** Opens the list of a marble, and keeps it open if it is `pinned`, until the reader does something else. */
export function peek(element, pinned = false) {
  const next = element?.marble;
  if (isPinned && !pinned) return;
  if (!next || !isCut(next)) return hidePeek();
  isPinned = pinned;
  if (slot === next && slot.shown === next.events.length) return;
  slot = next;
  slot.shown = next.events.length;
  const { events } = slot, [first] = events, list = make("ol", "values");
  for (const event of events.slice(0, LISTED)) list.append(valueLine(event, first.t));
  const head = make("p", "dim", events.length > 1 ? `${summary(events)} · ${local(first.t)}` : local(first.t));
  const rest = events.length > LISTED ? [make("p", "dim", `… and ${events.length - LISTED} more: click for all`)] : [];
  $("peek").replaceChildren(head, ...(events.length > 1 ? [list] : [make("pre", "", short(textOf(first), 600))]), ...rest);
  $("peek").hidden = false;
  movePeek();
}

export function hidePeek() {
  slot = null;
  isPinned = false;
  $("peek").hidden = true;
}

export const isPeekPinned = () => isPinned;

/** Keeps the list at its marble, which moves while the page is live. */
export function movePeek() {
  if (!slot) return;
  if (!slot.element.isConnected || slot.row.element.hidden) return hidePeek();
  if (slot.events.length !== slot.shown) return peek(slot.element, isPinned);
  const box = slot.element.getBoundingClientRect(), list = $("peek"), width = list.offsetWidth, height = list.offsetHeight;
  if (box.right < 0 || box.left > innerWidth) return hidePeek();
  const isBelow = box.bottom + 6 + height < innerHeight;
  list.style.left = `${Math.max(8, Math.min(innerWidth - width - 8, box.left - 4))}px`;
  list.style.top = `${isBelow ? box.bottom + 6 : Math.max(8, box.top - height - 6)}px`;
}
