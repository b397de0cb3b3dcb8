// Elements and texts. Text from the program is only ever assigned to textContent, to attributes and to numbers: never as HTML.

export const $ = id => document.getElementById(id);

export function make(tag, name, text) {
  const element = document.createElement(tag);
  if (name) element.className = name;
  if (text !== undefined) element.textContent = text;
  return element;
}

/** A button that runs `action`. */
export function button(text, action, name = "control") {
  const element = make("button", name, text);
  element.type = "button";
  element.addEventListener("click", action);
  return element;
}

export const line = (text, kind) => make("p", kind, text);

/** Adds a name and its value to a list of definitions. */
export function fact(list, name, value) { list.append(make("dt", "", name), make("dd", "", value)); }

/** Tells those who hear the page instead of seeing it. */
export const say = text => { $("say").textContent = text; };

export const short = (text, length) => text.length > length ? text.slice(0, length - 1) + "…" : text;
export const oneLine = text => text.replace(/\s+/g, " ");

export const ms = value => value >= 60_000 ? `${Math.floor(value / 60_000)} min ${Math.floor(value / 1000) % 60} s`
  : value >= 10_000 ? `${(value / 1000).toFixed(1)} s` : value >= 1000 ? `${(value / 1000).toFixed(2)} s`
  : value >= 10 ? `${Math.round(value)} ms` : `${value.toFixed(1)} ms`;

export const bytes = count => count >= 1e6 ? `${(count / 1e6).toFixed(1)} MB` : count >= 1e3 ? `${(count / 1e3).toFixed(1)} kB`
  : `${count} B`;

export const plural = (count, noun) => `${count.toLocaleString("en")} ${noun}${count === 1 ? "" : "s"}`;

const canvas = document.createElement("canvas").getContext("2d"), widths = new Map();
/** The width of a text of marbles, in pixels. */
export function textWidth(text, size) {
  const key = `${size} ${text}`;
  if (!widths.has(key)) {
    if (widths.size > 5000) widths.clear();
    canvas.font = `600 ${size}px ${getComputedStyle(document.body).fontFamily}`;
    widths.set(key, canvas.measureText(text).width);
  }
  return widths.get(key);
}

/** The text; or as many of its first characters as fit, with an ellipsis, so that no number is taken for another. */
export function fitted(text, room, widthOf) {
  if (text.length <= 64 && widthOf(text) <= room) return text;
  const characters = [...text.slice(0, 64)];
  while (characters.length && widthOf(`${characters.join("")}…`) > room) characters.pop();
  return `${characters.join("")}…`;
}

/** JSON with a line for each member. Its numbers are not read, and so keep all their digits; other texts stay as they are. */
export function indented(text) {
  try { JSON.parse(text); } catch { return text; }
  let result = "", depth = 0;
  const newLine = () => `\n${"  ".repeat(depth)}`;
  for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*"|[[{]\s*[\]}]|[^\s"[\]{},:]+|[[\]{},:]/g)) {
    if (token === "{" || token === "[") { depth++; result += token + newLine(); }
    else if (token === "}" || token === "]") { depth--; result += newLine() + token; }
    else if (token === ",") result += token + newLine();
    else if (token === ":") result += ": ";
    else result += token.length > 1 && "[{".includes(token[0]) ? token.replace(/\s/g, "") : token;
  }
  return result;
}

/** Copies a text to the clipboard. */
export async function copy(text, what) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // Without the permission, or without a secure context: by a selection.
    const field = make("textarea", "hidden");
    field.value = text;
    document.body.append(field);
    const focused = document.activeElement;
    field.select();
    document.execCommand("copy");
    field.remove();
    focused?.focus({ preventScroll: true });
  }
  say(`Copied ${what}`);
}
