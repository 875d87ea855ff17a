"use strict";
// The page. Everything that comes from the data is set as text, never as markup.

const $ = (id) => document.getElementById(id);
const make = (tag, text, more = {}) => Object.assign(document.createElement(tag), { textContent: text ?? "" }, more);
const percent = (share) => `${(100 * share).toFixed(1)} %`;
const count = (n) => n.toLocaleString("en");
const quantity = (v, digits = 3) => v.toLocaleString("en", { maximumSignificantDigits: digits });

let state = null;      // the server's
let chosen = null;     // a row that was asked for; else the queue's first is shown
let shown = null;      // the row on the page
let seen = null;       // its answer, as it stands on the page
let busy = false;      // an answer is on its way
let drawn = {};        // versions of what was fetched
let showChances = false; // the model's opinion is shown before an answer too
const rows = new Map(); // rows that were fetched ahead
const picked = new Picked(); // of several labels

const map = new RowMap($("map"), $("hover"), (row) => show(row), (row, predicted, label) => {
  const word = (v) => (v === undefined ? "" : state.regression ? quantity(v, 6)
    : Array.isArray(v) ? v.map((k) => state.classes[k]).join(", ") || "none of the labels" : state.classes[v]);
  const parts = [`row ${row + 1}`];
  if (label !== undefined) parts.push(`label ${word(label)}`);
  if (predicted !== undefined) parts.push(`model ${word(predicted)}`);
  return parts.join(", ");
});

const review = new Review($("review-view"), {
  make, ask, percent, spoken, state: () => state, take: (next, row) => { rows.delete(row); take(next); },
  show: (row) => { views.show(0); show(row); $("row-title").focus(); },
});
const views = new Views([$("tab-label"), $("tab-review")], (k) => { review.open = k === 1; review.refresh(true); });

async function ask(path, body) {
  const options = body === undefined ? {} : {
    method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body),
  };
  let answer;
  try { answer = await fetch(path, options); } catch { throw new Error("No connection: nothing was kept."); }
  const found = await answer.json().catch(() => ({}));
  if (!answer.ok) {
    const message = found.error || `The server refused this (${answer.status}).`;
    throw Object.assign(new Error(message), { status: answer.status });
  }
  return found;
}

async function work(path, body, after) {
  if (busy) return;
  busy = true;
  $("message").textContent = "";
  try { after(await ask(path, body)); } catch (error) {
    if (error.status === 409) await reread(body.row);
    $("message").textContent = error.message;
  }
  busy = false;
}

async function reread(row) { // another tab was faster: the row is shown as it is now
  if (row !== undefined) { chosen = row; rows.delete(row); }
  try { take(await ask("api/state")); } catch { /* the first message says enough */ }
}

// ------------------------------------------------------------------- answers

function answer(kind, label, fresh = false) { // fresh: the row belongs to none of the classes
  if (shown === null) return;
  const row = shown;
  work("api/answer", { row, kind, label, seen, new: fresh }, (next) => {
    rows.delete(row);
    chosen = null;
    if ($("new-label").value.trim() === label) $("new-label").value = "";
    take(next);
    const kept = next.recent[0];
    if (typeof label === "string" && !next.regression && kept.row === row && kept.label !== label) {
      $("message").textContent = `Taken as ${kept.label}, which differs only in upper and lower case.`;
    }
  });
}

// A click or a key on a label: the answer, or one of several labels.
function choose(name) {
  if (!state.several) { answer("label", name); return; }
  picked.toggle(name);
  drawPicked();
}
function addLabel(text) { // the focus goes to the label, where Enter confirms
  const name = picked.add(text, state.classes);
  $("new-label").value = "";
  drawAnswers();
  drawPicked();
  [...$("answers").children].find((button) => button.dataset.label === name).focus();
  present(); // probabilities, on buttons that are new
}
function confirm() { if (state && state.several) answer("label", [...picked.names], picked.added.length > 0); }
function toggleChances() {
  if (!state.several) return;
  showChances = !showChances;
  $("chances").setAttribute("aria-pressed", String(showChances));
  present();
}

function undo() {
  if (!state || !state.canUndo) return;
  work("api/undo", { seen: state.recent[0] }, (next) => { chosen = null; rows.clear(); take(next); });
}

async function save(path, meanwhile) { // beside the answers, which need not wait for it
  $("saved").textContent = meanwhile;
  try { $("saved").textContent = (await ask(path, {})).said; } catch (error) { $("saved").textContent = error.message; }
}
const saveModel = () => save("api/model", "Training on all rows …");
const savePredictions = () => save("api/predictions", "Training on all rows, then predicting them …");

function keyOf(k) {
  const names = state.classes;
  if (names.every((name) => /^[0-9]$/.test(name))) return names[k];
  return k < 9 ? String(k + 1) : k === 9 ? "0" : null;
}

document.addEventListener("keydown", (event) => {
  const typing = ["INPUT", "TEXTAREA"].includes(event.target.tagName);
  if (event.key === "Escape" && typing) { event.target.blur(); return; }
  if (typing || event.ctrlKey || event.altKey || event.metaKey || event.repeat || !state) return;
  if (event.key.toLowerCase() === "r") { views.show(1 - views.at); $(["row-title", "review-title"][views.at]).focus(); return; }
  if (review.open && event.key.toLowerCase() !== "u") return; // other keys answer a row that is not in sight
  const k = state.regression ? -1 : state.classes.findIndex((_, j) => keyOf(j) === event.key);
  const act = { s: () => answer("skip"), d: () => answer("unknown"), u: undo, n: () => show(null), w: saveModel,
    p: savePredictions, m: toggleChances,
    c: () => $("new-label").focus(), g: () => $("go-row").focus() }[event.key.toLowerCase()];
  // On a label of several, Space picks and Enter confirms, as with checkboxes; other buttons act themselves.
  const itself = ["BUTTON", "A"].includes(event.target.tagName) && event.target.getAttribute("role") !== "checkbox";
  if (k >= 0) choose(state.classes[k]);
  else if (event.key === "Enter" && state.several && !itself) confirm();
  else if (act) act();
  else return;
  event.preventDefault();
});

$("skip").onclick = () => answer("skip");
$("unknown").onclick = () => answer("unknown");
$("undo").onclick = undo;
$("confirm").onclick = confirm;
$("chances").onclick = toggleChances;
$("next").onclick = () => show(null);
$("save").onclick = saveModel;
$("predict").onclick = savePredictions;
$("new").onsubmit = (event) => {
  event.preventDefault();
  const label = $("new-label").value.trim();
  if (!label) return;
  if (state.several) { addLabel(label); return; }
  answer("label", label, true);
  if (!state.regression) $("new-label").blur();
};
$("go").onsubmit = (event) => {
  event.preventDefault();
  const row = Number($("go-row").value) - 1;
  if (Number.isInteger(row) && row >= 0 && row < state.rows) { show(row); $("go-row").blur(); }
  else $("message").textContent = `Rows are numbered from 1 to ${count(state.rows)}.`;
};

// ------------------------------------------------------------------ the row

function fetchRow(row) {
  if (!rows.has(row)) {
    rows.set(row, ask(`api/row/${row}`));
    if (rows.size > 50) rows.delete(rows.keys().next().value);
  }
  return rows.get(row);
}

function show(row) {
  chosen = row;
  $("message").textContent = "";
  if (row !== null) rows.delete(row);
  present();
}

async function present() {
  const row = chosen !== null ? chosen : state.queue.length ? state.queue[0] : null;
  $("next").hidden = chosen === null;
  if (row === null) {
    shown = null;
    $("row-title").textContent = "All rows have an answer";
    $("row").replaceChildren();
    drawNear([]);
    return;
  }
  state.queue.slice(0, 4).forEach((other) => fetchRow(other).then(preload, () => rows.delete(other)));
  try {
    const found = await fetchRow(row);
    const now = chosen !== null ? chosen : state.queue[0];
    if (now !== row) return;
    shown = row;
    seen = found.answer;
    drawRow(found);
  } catch (error) { rows.delete(row); $("message").textContent = error.message; }
}

function preload(found) { if (found.image) new Image().src = `image/${found.row}`; }

function drawRow(found) {
  const place = $("row"), parts = [];
  if (found.image) {
    const picture = make("img", null, { src: `image/${found.row}`, alt: `Image of row ${found.row + 1}` });
    picture.onerror = () => picture.replaceWith(make("p", "This row's image cannot be shown."));
    parts.push(picture);
  }
  if (found.text !== null) parts.push(make("p", found.text, { dir: "auto" }));
  if (found.cells.length) {
    const table = make("table");
    for (const [name, value] of found.cells) {
      const line = table.insertRow();
      line.append(make("th", name, { scope: "row" }), make("td", value, { dir: "auto" }));
    }
    parts.push(table);
  }
  if (found.more) parts.push(make("p", `and ${found.more} more columns`));
  place.replaceChildren(...parts);
  place.scrollTop = 0;
  $("row-title").textContent = `Row ${found.row + 1}`;
  const words = [];
  if (found.label !== null) words.push(`label: ${spoken(found.label, state.several)}`);
  else if (found.answer !== null) words.push("not known");
  // Before an answer the model's opinion stays hidden: people tend to agree with it.
  if (found.said !== null && found.label !== null) words.push(`the model says ${spoken(found.said, state.several)}`);
  if (found.answer === null && state.second.includes(found.row)) words.push("somebody else has answered this row");
  for (const other of found.others) words.push(`${other.name}: ${spoken(other.label, state.several)}`);
  $("row-said").textContent = words.join(" · ");
  if (state.several) {
    picked.start(found);
    drawAnswers();
    drawPicked();
    drawChances(found);
  } else {
    for (const button of $("answers").children) {
      button.setAttribute("aria-pressed", String(button.dataset.label === found.label));
    }
  }
  drawNear(found.near);
  map.current = found.row;
  map.draw();
}

function drawPicked() {
  for (const button of $("answers").children) {
    button.setAttribute("aria-checked", String(picked.names.has(button.dataset.label)));
  }
  $("confirm-words").textContent = picked.words();
}

function drawChances(found) { // after an answer, or if they are asked for
  const known = (showChances || found.label !== null) && found.chances;
  for (const button of $("answers").children) {
    const chance = known ? known[button.dataset.label] : undefined;
    button.querySelector(".chance").textContent = chance === undefined ? "" : `${Math.round(100 * chance)} %`;
  }
}

function drawNear(near) { // labelled rows that are most alike the one shown
  $("near").hidden = near.length === 0;
  $("near-rows").replaceChildren(...near.map((other) => {
    const item = make("li"), button = make("button", "", { type: "button" }), words = make("span");
    if (other.image) {
      const picture = make("img", null, { src: `image/${other.row}`, alt: `Image of row ${other.row + 1}` });
      picture.onerror = () => picture.remove();
      button.append(picture);
    }
    words.append(make("strong", spoken(other.label, state.several), { dir: "auto" }), ` row ${other.row + 1}, ${Math.round(100 * other.alike)} % alike`);
    button.append(words);
    if (other.text !== null) button.append(make("span", other.text || "(empty)", { className: "snippet", dir: "auto" }));
    button.onclick = () => { show(other.row); $("row-title").focus(); };
    item.append(button);
    return item;
  }));
}

// ------------------------------------------------------------------ the state

function take(next) {
  if (state && next.version < state.version) { present(); return; } // events may be faster
  const first = state === null, learnt = state && state.model;
  state = next;
  drawAnswers();
  $("bar").max = state.rows;
  $("bar").value = state.labelled;
  $("progress").textContent = `${count(state.labelled)} of ${count(state.rows)} labelled` +
    (state.unknown ? `, ${count(state.unknown)} not known` : "") +
    (state.annotator === null ? "" : ` · ${state.annotator} answers`);
  $("learning").textContent = state.learning === "…" ? "Preparing the graph of the rows …"
    : state.learning ? `Learning stopped: ${state.learning} Answers are still kept.`
      : state.current ? state.first : "Learning …";
  $("behind").textContent = state.behind;
  $("undo").disabled = !state.canUndo;
  $("save").disabled = $("predict").disabled = !state.canSave;
  if (learnt !== state.model) rows.forEach((_, row) => { if (row !== shown) rows.delete(row); });
  drawKnown();
  drawLists();
  review.refresh();
  present();
  refreshMap(first);
}

function drawAnswers() {
  const names = state.several ? [...state.classes, ...picked.added] : state.classes;
  const key = JSON.stringify([names, state.regression, state.fixed]);
  if (drawn.answers === key) return;
  drawn.answers = key;
  const none = state.fixed ? "None of these: new" : "New";
  $("new-name").textContent = state.regression ? "Quantity" : state.several ? `${none} label` : `${none} class`;
  $("new-answer").textContent = state.several ? "Add" : "Answer";
  $("several").hidden = $("map-several").hidden = !state.several;
  $("shares-title").textContent = state.several ? "Labels" : "Classes";
  $("shares-name").textContent = state.several ? "label" : "class";
  $("new-label").inputMode = state.regression ? "decimal" : "text";
  const buttons = state.regression ? [] : names.map((name, k) => {
    const button = make("button", "", { type: "button" });
    button.dataset.label = name;
    button.style.setProperty("--tint", colourOf(k));
    button.append(name);
    if (keyOf(k) !== null && k < state.classes.length) button.append(" ", make("kbd", keyOf(k)));
    if (state.several) {
      button.setAttribute("role", "checkbox");
      button.append(" ", make("span", "", { className: "chance" }));
    }
    button.onclick = () => choose(name);
    return button;
  });
  $("answers").replaceChildren(...buttons);
  $("legend").replaceChildren(...(state.regression ? [] : state.classes).map((name, k) => {
    const item = make("li"), dot = make("span", null, { className: "swatch" });
    dot.style.background = colourOf(k);
    item.append(dot, name);
    return item;
  }));
}

function drawKnown() {
  const { accuracy, steady, regression } = state;
  const number = regression ? quantity : percent;
  $("accuracy-name").textContent = regression ? "Held-out mean error"
    : state.several ? "Held-out rows with all labels right" : "Held-out accuracy";
  $("accuracy").textContent = accuracy
    ? `${number(accuracy.value)} (95 % interval ${number(accuracy.low)} to ${number(accuracy.high)}), ` +
      `from ${accuracy.rows} rows drawn at random`
    : "known after five answers to rows drawn at random (every fourth is)";
  $("gain").textContent = accuracy ? gainWords(accuracy, number) : "not known yet";
  $("stop").textContent = steady
    ? `The last ${steady.labels} labels changed ${percent(steady.changed)} of the predictions. ` +
      (steady.enough ? "More labels will change little: you may stop." : "More labels still help.")
    : regression ? "Stop when the curve below stays flat." : "known after some more labels";
  $("outlook").textContent = outlookWords(state.outlook, percent);
  const lines = state.regression ? [] : state.classes.map((name, k) => {
    const line = make("tr");
    line.append(make("td", name), make("td", String(state.counts[k])),
      make("td", state.shares[k] === undefined ? "" : percent(state.shares[k])));
    return line;
  });
  $("shares").tBodies[0].replaceChildren(...lines);
  $("shares").hidden = regression;
  drawPeople();
  drawCurve();
}

function drawPeople() { // how reliable they are, if two or more have answered
  $("people").hidden = state.people.length === 0;
  $("reliability").tBodies[0].replaceChildren(...state.people.map((person) => {
    const line = make("tr");
    line.append(make("td", person.name), make("td", count(person.answers)),
      make("td", `${percent(person.reliability)} ± ${(100 * person.error).toFixed(1)}`),
      make("td", person.agreement === null ? "no common rows" : percent(person.agreement)));
    return line;
  }));
}

function gainWords(accuracy, number) {
  const gain = accuracy.value - accuracy.without;
  if (Math.abs(gain) < 1e-9) return "nothing so far, on the same rows";
  if (state.regression) return `mean error ${number(accuracy.value)} with them, ${number(accuracy.without)} without`;
  return `${gain > 0 ? "+" : "−"}${(100 * Math.abs(gain)).toFixed(1)} points ` +
    `(${number(accuracy.without)} without them), on the same rows`;
}

function svg(tag, attributes, text) {
  const part = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) part.setAttribute(name, value);
  if (text !== undefined) part.textContent = text;
  return part;
}

function drawCurve() {
  const points = state.history, place = $("curve");
  place.replaceChildren();
  $("curve-words").textContent = points.length > 1
    ? `${state.regression ? "Mean error" : "Accuracy"} against labels, with its 95 % interval.` : "";
  place.style.display = points.length > 1 ? "" : "none";
  if (points.length < 2) return;
  const most = points[points.length - 1].labels, least = points[0].labels;
  const top = state.regression ? Math.max(...points.map((p) => p.high)) : 1;
  const bottom = state.regression ? 0 : Math.max(0, Math.min(...points.map((p) => p.low)) - 0.05);
  const x = (n) => 34 + (276 * (n - least)) / Math.max(1, most - least);
  const y = (v) => 8 + 100 * (1 - (v - bottom) / Math.max(1e-12, top - bottom));
  const label = (v) => (state.regression ? quantity(v, 2) : `${Math.round(100 * v)} %`);
  const band = [...points.map((p) => `${x(p.labels)},${y(p.high)}`),
    ...[...points].reverse().map((p) => `${x(p.labels)},${y(p.low)}`)].join(" ");
  place.append(
    svg("polygon", { points: band, fill: "var(--accent)", opacity: 0.2 }),
    svg("polyline", { points: points.map((p) => `${x(p.labels)},${y(p.value)}`).join(" "), fill: "none",
      stroke: "var(--accent)", "stroke-width": 2 }),
    svg("line", { x1: 34, x2: 310, y1: 108, y2: 108, stroke: "var(--line)" }),
    svg("text", { x: 30, y: 14, "text-anchor": "end" }, label(top)),
    svg("text", { x: 30, y: 108, "text-anchor": "end" }, label(bottom)),
    svg("text", { x: 34, y: 122 }, String(least)),
    svg("text", { x: 310, y: 122, "text-anchor": "end" }, `${most} labels`));
}

function drawLists() {
  const line = (row, text) => {
    const item = make("li"), button = make("button", `Row ${row + 1}: ${text}`, { type: "button" });
    button.onclick = () => { show(row); $("row-title").focus(); };
    item.append(button);
    return item;
  };
  const none = (text) => [make("li", text, { className: "small" })];
  const doubtful = state.mistakes.slice(0, 8).map((m) => line(m.row,
    `you said ${spoken(m.label, state.several)}, the model ${spoken(m.said, state.several)}`));
  $("mistakes").replaceChildren(...(doubtful.length ? doubtful : none("Nothing so far.")));
  const words = { label: (a) => spoken(a.label, state.several), unknown: () => "not known", skip: () => "skipped" };
  const recent = state.recent.slice(0, 6).map((a) => line(a.row, words[a.kind](a)));
  $("recent").replaceChildren(...(recent.length ? recent : none("None yet.")));
  $("notes").replaceChildren(...state.notes.map((note) => make("li", note)));
}

async function refreshMap() {
  if (state.learning === "…") return;
  const key = `${state.model} ${state.current}`;
  if (drawn.map === key) return;
  drawn.map = key;
  try {
    if (!map.places.rows.length) map.setPlaces(await ask("api/map"));
    map.colours = await ask("api/colours");
    map.regression = state.regression;
    map.draw();
  } catch { drawn.map = null; }
}

const events = new EventSource("api/events");
events.onmessage = (event) => { take(JSON.parse(event.data)); };
events.onerror = () => { $("learning").textContent = "No connection to the server: answers are not kept."; };
