// The mouse, the wheel and the keys.
import { $ } from "./dom.js";
import { reveal, select } from "./details.js";
import { ledBy, model } from "./model.js";
import { hidePeek, isPeekPinned, peek } from "./peek.js";
import { EDGE, fit, pan, scale, show, time, viewEnd, viewStart, zoom } from "./scale.js";

function choose(element) {
  if (element.marble) {
    const { events } = element.marble;
    return select({ track: events[0].track, events: [...events], element });
  }
  const row = element.closest?.(".row");
  if (row?.request) select({ request: row.request });
}

export function listen() {
  const area = $("scroll");
  area.addEventListener("click", event => {
    const target = event.target.closest(".marble, .end, .row");
    if (!target) return;
    choose(target);
    target.focus({ preventScroll: true });
    if (target.marble) peek(target, true);
  });
  area.addEventListener("dblclick", event => {
    const target = event.target.closest(".marble, .row"), request = target?.request;
    if (request) show(request.t, request.end ?? request.t + 100);
    else if (target?.marble) show(target.marble.events[0].t, target.marble.events.at(-1).t);
  });
  area.addEventListener("focusin", event => {
    const target = event.target.closest(".marble, .end, .row");
    if (!target || target !== event.target) return;
    for (const element of area.querySelectorAll("[tabindex='0']")) if (element.matches(".marble, .end, .row")) element.tabIndex = -1;
    target.tabIndex = 0;
    if (model.isRefocusing) return;
    choose(target);
    if (target.matches(":focus-visible")) peek(target);
  });
  area.addEventListener("keydown", event => { if (!event.ctrlKey && !event.metaKey && !event.altKey) step(event); });
  area.addEventListener("wheel", turn, { passive: false });
  area.addEventListener("scroll", hidePeek, { capture: true });
  document.addEventListener("pointerover", event => {
    const target = event.target.closest?.(".marble, .end, #peek");
    if (target?.id !== "peek") peek(target);
  });
  document.addEventListener("pointerdown", event => {
    if (isPeekPinned() && !event.target.closest("#peek, .marble")) hidePeek();
  });
  document.addEventListener("keydown", press);
}

/** Moves among the rows and marbles. */
function step(event) {
  const element = document.activeElement, row = element.closest?.(".row");
  if (!row || element.matches(".pointer")) return;
  const all = [...$("scroll").querySelectorAll(".row:not([hidden])")];
  const items = of => [...of.querySelectorAll(".marble, .end")].filter(item => item.time <= viewEnd() && item.time >= viewStart())
    .sort((a, b) => a.time - b.time);
  const nearest = of => element === row ? null
    : items(of).reduce((best, item) => !best || Math.abs(item.time - element.time) < Math.abs(best.time - element.time) ? item : best, null);
  let next = null;
  // Before the list, because the marbles are drawn anew.
  if (["ArrowLeft", "ArrowRight", "Home", "End"].includes(event.key) && time.frozen === null && !row.request) $("freeze").click();
  const list = items(row), index = list.indexOf(document.activeElement);
  switch (event.key) {
  case "ArrowDown": case "ArrowUp": {
    const other = all[all.indexOf(row) + (event.key === "ArrowDown" ? 1 : -1)];
    next = other && (nearest(other) ?? other);
    break;
  }
  case "ArrowRight": next = list[index + 1]; break;
  case "ArrowLeft": next = index === 0 ? row : index < 0 ? list.at(-1) : list[index - 1]; break;
  case "Home": next = list[0]; break;
  case "End": next = list.at(-1); break;
  case "Enter": {
    if (row.request) { const cause = model.marbles.get(row.request.marble); if (cause) reveal(cause); }
    else if (model.selected?.events) next = ledBy(model.selected.events.flatMap(event => event.item ?? [])).find(request => !request.row.hidden)?.row;
    break;
  }
  default: return;
  }
  event.preventDefault();
  next?.focus();
  next?.scrollIntoView({ block: "nearest" });
}

/** By how much the wheel has been turned since the last frame, with Ctrl. */
let turned = 0;

/** Zooms around the pointer with Ctrl, and moves through the past while the picture is frozen. */
function turn(event) {
  const left = $("axis").getBoundingClientRect().left;
  if (event.ctrlKey || event.metaKey) {
    event.preventDefault();
    if (turned === 0) requestAnimationFrame(() => {
      const factor = Math.exp(turned * 0.008), fixed = viewEnd() - (time.width - EDGE - (event.clientX - left)) / scale();
      turned = 0;
      zoom(factor, fixed);
    });
    turned += Math.max(-60, Math.min(60, event.deltaY)) || 1;
  } else if (time.frozen !== null && Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
    event.preventDefault();
    pan(event.deltaX / scale());
  }
}

function press(event) {
  const isField = event.target.matches("input, select, textarea");
  if (event.key === "Escape" && event.target.id === "find") { $("find").value = ""; $("find").dispatchEvent(new Event("input")); event.target.blur(); return; }
  if (event.ctrlKey || event.metaKey || event.altKey || isField) return;
  switch (event.key) {
  case "f": $("freeze").click(); break;
  case "/": $("find").focus(); event.preventDefault(); break;
  case "Escape": if (isPeekPinned()) hidePeek(); else select(null); break;
  case ",": pan(-time.span / 4); break;
  case ".": pan(time.span / 4); break;
  case "+": case "=": $("zoom-in").click(); break;
  case "-": $("zoom-out").click(); break;
  case "0": fit(); break;
  case "n": $("follow").click(); break;
  }
}
