// The page of streams: connects its parts.
import { $, make } from "./dom.js";
import { keepKeys } from "./details.js";
import { jsonText, marbleText, marblesSource, run } from "./exports.js";
import { connect, release, showState } from "./feed.js";
import { filter } from "./filter.js";
import { listen } from "./keyboard.js";
import { mark } from "./marbles.js";
import { PHASES, model } from "./model.js";
import { frame, layout, move, tidy } from "./picture.js";
import { setFollowing, watchScrolling } from "./requests.js";
import { changed, fit, setFrozen, setSpan, show, time, viewEnd, zoom } from "./scale.js";
import { change, resizable, settings } from "./settings.js";

Object.assign(changed, {
  layout() { layout(); filter(); showState(); },
  moved() { move(); showState(); },
  live: release,
});

// ---- The bar.
$("freeze").addEventListener("click", () => { setFrozen(time.frozen === null ? viewEnd() : null); showState(); });
$("find").addEventListener("input", () => {
  for (const row of model.rows) for (const element of row.plane.querySelectorAll(".marble")) mark(element.marble);
  filter();
});
$("kind").addEventListener("change", filter);
$("client").addEventListener("change", filter);
$("window").addEventListener("change", () => setSpan(Number($("window").value)));
$("zoom-in").addEventListener("click", () => zoom(0.5, viewEnd() - time.span / 2));
$("zoom-out").addEventListener("click", () => zoom(2, viewEnd() - time.span / 2));
$("fit").addEventListener("click", fit);

const inView = $("in-view");
const showInView = () => inView.setAttribute("aria-pressed", String(settings.isInViewOnly));
inView.addEventListener("click", () => { change({ isInViewOnly: !settings.isInViewOnly }); showInView(); filter(); });
showInView();

// ---- The order of the requests.
const showOrder = () => {
  $("sort").value = settings.sort;
  $("direction").textContent = settings.isDescending ? "↓" : "↑";
  $("direction").setAttribute("aria-label", settings.isDescending ? "Descending" : "Ascending");
};
$("sort").addEventListener("change", () => { change({ sort: $("sort").value }); filter(); });
$("direction").addEventListener("click", () => { change({ isDescending: !settings.isDescending }); showOrder(); setFollowing(true); filter(); });
showOrder();
watchScrolling();

// ---- Sizes.
const setVariable = name => value => { document.documentElement.style.setProperty(name, `${value}px`); };
resizable($("label-edge"), "label", {
  sizes: () => [140, 560], size: () => $("axis").previousElementSibling.offsetWidth, apply: setVariable("--label"),
});
resizable($("details-edge"), "details", {
  sign: -1, sizes: () => [260, innerWidth * 0.7], size: () => $("details").offsetWidth, apply: setVariable("--details"),
});
resizable($("streams-edge"), "streams", {
  isVertical: true, sizes: () => [60, $("scroll").clientHeight - 120], size: () => $("streams-pane").offsetHeight,
  apply: value => { setVariable("--streams")(value); $("scroll").classList.add("split"); },
});

// ---- Export.
const openMenu = isOpen => {
  $("exports").hidden = !isOpen;
  $("export").setAttribute("aria-expanded", String(isOpen));
  if (isOpen) $("exports").firstElementChild.focus();
};
$("export").addEventListener("click", () => openMenu($("exports").hidden));
$("exports").addEventListener("click", event => {
  const chosen = event.target.closest("[data-export]");
  if (chosen) { openMenu(false); $("export").focus(); run(chosen.dataset.export); }
});
$("exports").addEventListener("keydown", event => {
  if (event.key === "Escape") { openMenu(false); $("export").focus(); event.stopPropagation(); }
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (!step) return;
  const items = [...$("exports").children];
  items.at((items.indexOf(document.activeElement) + step) % items.length).focus();
  event.preventDefault();
});
document.addEventListener("click", event => { if (!event.target.closest(".menu")) openMenu(false); });

for (const [name, text] of PHASES) {
  const item = make("i", "", text);
  item.style.setProperty("--c", `var(--${name})`);
  $("legend").append(item);
}

listen();
keepKeys();
new ResizeObserver(() => { layout(); filter(); }).observe($("axis"));
/** For tests and for the console. */
window.streamsPage = { marblesSource, jsonText, marbleText: id => marbleText(model.tracks.get(id)), model, time, show };
setInterval(tidy, 1000);
requestAnimationFrame(frame);
filter();
connect();
