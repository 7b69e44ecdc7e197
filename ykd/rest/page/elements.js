// SPDX-License-Identifier: Apache-2.0
// Small helpers to make elements. Texts only ever get in as text nodes, so that a name with markup in it is shown as it is.

"use strict"; // for all scripts: they are one in the end

/// Characters that change the direction of a text, or cannot be seen: with them a name could look like another one.
const kUnseen = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;

/// The text with such characters as `\u202e`.
function readable(text) {
  return String(text).replace(kUnseen, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/// Makes an element. `traits`: `class`, `text`, `on` (listeners by event), `data` (dataset); all others are attributes.
/// Attributes that are null, undefined or false are left out. Children that are null are left out too.
function make(tag, traits, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(traits ?? {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name === "class") element.className = value;
    else if (name === "text") element.textContent = readable(value);
    else if (name === "on") for (const [event, listener] of Object.entries(value)) element.addEventListener(event, listener);
    else if (name === "data") Object.assign(element.dataset, value);
    else if (name === "title" || name === "aria-label") element.setAttribute(name, readable(value));
    else element.setAttribute(name, value === true ? "" : value);
  }
  const given = children.flat().filter((child) => child !== null && child !== undefined);
  element.append(...given.map((child) => (child instanceof Node ? child : readable(child))));
  return element;
}

const kSvg = "http://www.w3.org/2000/svg";

/// The same for an element of an SVG picture.
function draw(tag, attributes, ...children) {
  const element = document.createElementNS(kSvg, tag);
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (name === "text") element.textContent = value;
    else if (value !== null && value !== undefined) element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}

function byId(id) {
  return document.getElementById(id);
}

/// Sets a text only when it is another one: that keeps selections and screen readers calm.
function setText(element, text) {
  const shown = readable(text);
  if (element.textContent !== shown) element.textContent = shown;
}

/// A table with a line for each fact: pairs of a name and a value (a text or an element).
function factList(pairs) {
  const list = make("dl", { class: "facts" });
  for (const [name, value] of pairs) {
    if (value === null || value === undefined || value === "") continue;
    list.append(make("dt", { text: name }), make("dd", {}, value));
  }
  return list;
}

/// A word about a state with a dot in its colour. The word says all; the colour only helps.
function badge(text, tone) {
  return make("span", { class: "badge", data: { tone } }, make("span", { class: "dot", "aria-hidden": "true", data: { tone } }), text);
}

/// What is said where nothing can be shown: what is missing, and what to do next.
function emptyNote(title, next) {
  return make("div", { class: "empty" }, make("p", { class: "empty-title", text: title }), next ? make("p", {}, next) : null);
}

/// A button that looks like a link.
function linkButton(text, listener, label) {
  return make("button", { type: "button", class: "link", text, "aria-label": label, on: { click: listener } });
}
