// The choices of the reader, which the browser keeps for this address of the program.

const KEY = "RxNetworking streams";
const defaults = { sort: "began", isDescending: false, isInViewOnly: false, label: 0, details: 0, streams: 0, open: {} };

function stored() {
  try { return JSON.parse(localStorage.getItem(KEY)) ?? {}; } catch { return {}; }
}

/** The choices; a size of 0 is that of the style. */
export const settings = { ...defaults, ...stored() };

export function change(changes) {
  Object.assign(settings, changes);
  // A browser may keep nothing.
  try { localStorage.setItem(KEY, JSON.stringify(settings)); } catch { }
}

/** Lets the reader drag the edge of a part, or move it with the arrow keys. `sizes` are the least and the most. */
export function resizable(handle, name, { isVertical = false, sign = 1, sizes, size, apply }) {
  const set = value => {
    const [least, most] = sizes();
    change({ [name]: Math.round(Math.min(most, Math.max(least, value))) });
    apply(settings[name]);
  };
  handle.addEventListener("pointerdown", event => {
    event.preventDefault();
    handle.setPointerCapture(event.pointerId);
    const from = isVertical ? event.clientY : event.clientX, before = size();
    const move = moved => set(before + sign * ((isVertical ? moved.clientY : moved.clientX) - from));
    handle.addEventListener("pointermove", move);
    handle.addEventListener("lostpointercapture", () => handle.removeEventListener("pointermove", move), { once: true });
  });
  handle.addEventListener("keydown", event => {
    const step = { ArrowLeft: -16, ArrowRight: 16, ArrowUp: -16, ArrowDown: 16 }[event.key];
    if (!step) return;
    event.preventDefault();
    event.stopPropagation();
    set(size() + sign * step);
  });
  if (settings[name]) apply(settings[name]);
}
