"use strict";
// The page. Everything that comes from the data is set as text, never as markup.

const $ = (id) => document.getElementById(id);
const make = (tag, text, more = {}) => Object.assign(document.createElement(tag), { textContent: text ?? "" }, more);
const percent = (share, digits) => words.percent(share, digits);
const count = (n) => words.number(n);
const quantity = (v, digits = 3) => words.number(v, { maximumSignificantDigits: digits });

let state = null;      // the server's
let chosen = null;     // a row that was asked for; else the queue's first is shown
let shown = null;      // the row on the page
let seen = null;       // its answer, as it stands on the page
let alone = false;     // nobody else had answered it
let busy = false;      // an answer is on its way
let drawn = {};        // versions of what was fetched
let restarted = false; // the server may be another one: its versions begin anew
let showChances = false; // the model's opinion is shown before an answer too
const rows = new Map(); // rows that were fetched ahead
const picked = new Picked(); // of several labels

const map = new RowMap($("map"), $("hover"), (row) => show(row), (row, predicted, label) => {
  const word = (v) => (v === undefined ? "" : state.regression ? quantity(v, 6)
    : Array.isArray(v) ? v.map((k) => state.classes[k]).join(", ") || say("none_of_the_labels") : state.classes[v]);
  const parts = [say("row_here", { row: row + 1 })];
  if (label !== undefined) parts.push(say("label_here", { label: word(label) }));
  if (predicted !== undefined) parts.push(say("model_here", { label: word(predicted) }));
  return parts.join(", ");
});

const review = new Review($("review-view"), {
  make, ask, percent, spoken, state: () => state, take: (next, row) => { rows.delete(row); take(next); },
  show: (row) => { views.show(0); show(row); $("row-title").focus(); },
});
const fromList = (row) => { views.show(0); show(row); $("row-title").focus(); };
const search = new Search({ $, make, ask, show: fromList, state: () => state });
const guide = new Guide($("guide-text"), { $, ask });
const classNames = new ClassNames({ $, make, ask, state: () => state, take: (next) => { rows.clear(); take(next); } });
const views = new Views([$("tab-label"), $("tab-review"), $("tab-search")], (k) => {
  review.open = k === 1;
  review.refresh(true);
  if (k === 2) search.refresh();
});

async function ask(path, body) {
  const options = body === undefined ? {} : {
    method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body),
  };
  let answer;
  try { answer = await fetch(path, options); } catch { throw new Error(say("no_connection")); }
  const found = await answer.json().catch(() => ({}));
  if (!answer.ok) {
    const told = words.code !== "en" && found.code && words.has(`error_${found.code}`);
    const message = told ? say(`error_${found.code}`, found.values) : found.error || say("refused", { status: String(answer.status) });
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
  work("api/answer", { row, kind, label, seen, new: fresh, first: alone }, (next) => {
    rows.delete(row);
    chosen = null;
    if ($("new-label").value.trim() === label) $("new-label").value = "";
    take(next);
    const kept = next.recent[0];
    if (typeof label === "string" && !next.regression && kept.row === row && kept.label !== label) {
      $("message").textContent = say("taken_as", { label: kept.label });
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
const saveModel = () => save("api/model", say("training"));
const savePredictions = () => save("api/predictions", say("predicting"));

function keyOf(k) {
  const names = state.classes;
  if (names.every((name) => /^[0-9]$/.test(name))) return names[k];
  return k < 9 ? String(k + 1) : k === 9 ? "0" : null;
}

const KEYS = {
  s: () => answer("skip"), d: () => answer("unknown"), u: undo, n: () => show(null), w: saveModel, p: savePredictions,
  m: toggleChances, c: () => $("new-label").focus(), g: () => $("go-row").focus(), k: () => classNames.open(), h: () => guide.toggle(),
};
// Keys that every view has: other keys answer a row that is not in sight.
const ANYWHERE = {
  r: () => turn(1), f: () => turn(2), u: undo, "?": () => help(),
};
const HEADINGS = ["row-title", "review-title", "search-title"];
function turn(k) { // to a view, or back to the rows
  views.show(views.at === k ? 0 : k);
  $(views.at === 2 ? "search-words" : HEADINGS[views.at]).focus();
}
const keysOn = () => localStorage.getItem("keys") !== "off";

document.addEventListener("keydown", (event) => {
  const typing = ["INPUT", "TEXTAREA", "SELECT"].includes(event.target.tagName);
  if (event.key === "Escape" && typing) { event.target.blur(); return; }
  if (typing || event.ctrlKey || event.altKey || event.metaKey || event.repeat || !state) return;
  if (document.querySelector("dialog[open]")) return;
  const key = event.key.toLowerCase();
  const k = state.regression || views.at > 0 ? -1 : state.classes.findIndex((_, j) => keyOf(j) === event.key);
  const act = ANYWHERE[key] ?? (views.at === 0 ? KEYS[key] : undefined);
  // On a label of several, Space picks and Enter confirms, as with checkboxes; other buttons act themselves.
  const itself = ["BUTTON", "A", "CANVAS"].includes(event.target.tagName) && event.target.getAttribute("role") !== "checkbox";
  if (!keysOn() && event.key !== "Enter") return;
  if (k >= 0) choose(state.classes[k]);
  else if (event.key === "Enter" && state.several && views.at === 0 && !itself) confirm();
  else if (act) act();
  else return;
  event.preventDefault();
});

function help() {
  const names = { "1–9, 0": "answer", S: "skip", D: "unknown", Enter: "several", M: "chances", U: "undo", C: "new", G: "go",
    N: "next", R: "review", F: "search", K: "classes", H: "guidelines", W: "save", P: "predict", "?": "help", "← → ↑ ↓": "arrows", Esc: "escape" };
  $("help-keys").tBodies[0].replaceChildren(...Object.entries(names).map(([key, name]) => {
    const line = make("tr"), head = make("th", "", { scope: "row" });
    head.append(make("kbd", key));
    line.append(head, make("td", say(`key_${name}`)));
    return line;
  }));
  $("keys-on").checked = keysOn();
  $("help-dialog").showModal();
}
$("help-open").onclick = help;
$("help-close").onclick = () => $("help-dialog").close();
$("keys-on").onchange = () => localStorage.setItem("keys", $("keys-on").checked ? "on" : "off");

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
  else $("message").textContent = say("rows_numbered", { n: state.rows });
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
  tell(row);
}

async function tell(row) { // the server keeps the row on this screen for nobody else, and may have to go on
  if (state.team.length < 2) return;
  try {
    const found = await ask("api/show", { row });
    if (found.holder !== null && chosen === row) $("message").textContent = say("held", { name: found.holder, row: row + 1 });
    take(found);
  } catch (error) { $("message").textContent = error.message; }
}

async function present() {
  const row = chosen !== null ? chosen : state.queue.length ? state.queue[0] : null;
  $("next").hidden = chosen === null && !state.paused;
  if (row === null) {
    shown = null;
    $("row-title").textContent = state.paused ? say("paused") : state.elsewhere ? say("all_done_elsewhere", { n: state.elsewhere }) : say("all_done");
    $("row-said").textContent = "";
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
    alone = !found.answered;
    drawRow(found);
  } catch (error) { rows.delete(row); $("message").textContent = error.message; }
}

function preload(found) { if (found.image) new Image().src = `image/${found.row}`; }

function drawRow(found) {
  const place = $("row"), parts = [];
  if (found.image) {
    const picture = make("img", null, { src: `image/${found.row}`, alt: say("image_of", { row: found.row + 1 }) });
    picture.onerror = () => picture.replaceWith(make("p", say("no_image")));
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
  if (found.more) parts.push(make("p", say("more_columns", { n: found.more })));
  place.replaceChildren(...parts);
  place.scrollTop = 0;
  $("row-title").textContent = say("row", { row: found.row + 1 });
  const told = [];
  if (found.label !== null) told.push(say("label_is", { label: spoken(found.label, state.several) }));
  else if (found.answer !== null) told.push(say("not_known"));
  // Before an answer the model's opinion stays hidden: people tend to agree with it.
  if (found.said !== null && found.label !== null) told.push(say("model_says", { label: spoken(found.said, state.several) }));
  if (found.answer === null && found.answered) told.push(say("answered_by_others"));
  for (const other of found.others) told.push(`${other.name}: ${spoken(other.label, state.several)}`);
  $("row-said").textContent = told.join(" · ");
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
    button.querySelector(".chance").textContent = chance === undefined ? "" : percent(chance, 0);
  }
}

function drawNear(near) { // labelled rows that are most alike the one shown
  $("near").hidden = near.length === 0;
  $("near-rows").replaceChildren(...near.map((other) => {
    const item = make("li"), button = make("button", "", { type: "button" }), words = make("span");
    if (other.image) {
      const picture = make("img", null, { src: `image/${other.row}`, alt: say("image_of", { row: other.row + 1 }) });
      picture.onerror = () => picture.remove();
      button.append(picture);
    }
    words.append(make("strong", spoken(other.label, state.several), { dir: "auto" }), ` ${say("alike", { row: other.row + 1, share: percent(other.alike, 0) })}`);
    button.append(words);
    if (other.text !== null) button.append(make("span", other.text || say("empty"), { className: "snippet", dir: "auto" }));
    button.onclick = () => { show(other.row); $("row-title").focus(); };
    item.append(button);
    return item;
  }));
}

// ------------------------------------------------------------------ the state

function take(next) {
  if (state && next.version < state.version && !restarted) { present(); return; } // events may be faster
  restarted = false;
  if (state && !state.classes.every((name) => next.classes.includes(name))) rows.clear(); // other names
  const learnt = state && state.model;
  state = next;
  drawAnswers();
  $("bar").max = state.rows;
  $("bar").value = state.labelled;
  const here = state.present.filter((name) => name !== state.annotator);
  $("progress").textContent = say("progress", { n: state.labelled, rows: state.rows }) +
    (state.unknown ? `, ${say("progress_unknown", { n: state.unknown })}` : "") +
    (state.annotator === null ? "" : ` · ${say("answers_now", { name: state.annotator })}`) +
    (here.length ? ` · ${say("also_here", { names: here.join(", ") })}` : "");
  $("learning").textContent = state.learning === "…" ? say("preparing")
    : state.learning ? say("learning_stopped", { why: state.learning })
      : state.current ? state.first : say("learning");
  $("behind").textContent = state.behind;
  $("undo").disabled = !state.canUndo;
  $("save").disabled = $("predict").disabled = !state.canSave;
  if (learnt !== state.model) rows.forEach((_, row) => { if (row !== shown) rows.delete(row); });
  drawKnown();
  drawLists();
  review.refresh();
  search.refresh();
  present();
  refreshMap();
}

function drawAnswers() {
  const names = state.several ? [...state.classes, ...picked.added] : state.classes;
  const key = JSON.stringify([names, state.regression, state.fixed, words.code]);
  if (drawn.answers === key) return;
  drawn.answers = key;
  const kind = state.several ? "label" : "class";
  $("new-name").textContent = say(state.regression ? "quantity" : state.fixed ? `none_new_${kind}` : `new_${kind}`);
  $("new-answer").textContent = say(state.several ? "add" : "answer");
  $("classes-open").hidden = state.regression || !names.length;
  $("several").hidden = $("map-several").hidden = !state.several;
  $("shares-title").textContent = say(`${kind}_many`);
  $("shares-name").textContent = say(`${kind}_one`);
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

function drawLists() {
  const line = (row, text) => {
    const item = make("li"), button = make("button", row < 0 ? text : say("row_said", { row: row + 1, said: text }), { type: "button", disabled: row < 0 });
    button.onclick = () => { show(row); $("row-title").focus(); };
    item.append(button);
    return item;
  };
  const none = (text) => [make("li", text, { className: "small" })];
  const doubtful = state.mistakes.slice(0, 8).map((m) => line(m.row,
    say("you_and_model", { label: spoken(m.label, state.several), said: spoken(m.said, state.several) })));
  $("mistakes").replaceChildren(...(doubtful.length ? doubtful : none(say("nothing_yet"))));
  const kinds = { label: (a) => spoken(a.label, state.several), unknown: () => say("not_known"), skip: () => say("skipped"),
    rename: (a) => say("renamed", { old: a.old, label: a.label }) };
  const recent = state.recent.slice(0, 6).map((a) => line(a.row, kinds[a.kind](a)));
  $("recent").replaceChildren(...(recent.length ? recent : none(say("none_yet"))));
  $("notes").replaceChildren(...state.notes.map((note) => make("li", note)));
}

async function refreshMap() {
  if (state.learning === "…") return;
  const key = JSON.stringify([state.model, state.current, state.map, state.labelled, state.classes]);
  if (drawn.map === key) return;
  drawn.map = key;
  try {
    if (drawn.stage !== state.map) { map.setPlaces(await ask("api/map")); drawn.stage = map.places.stage; }
    map.colours = await ask("api/colours");
    map.regression = state.regression;
    map.draw();
  } catch { drawn.map = null; }
}

// -------------------------------------------------------------------- the start

async function speak(code) { // everything that is on the page is said anew
  await words.use(code);
  drawn = { stage: drawn.stage };
  guide.say();
  if (state) { drawAnswers(); take(state); if (shown !== null) present(); review.refresh(true); }
}

let events = null;
function listen() {
  events = new EventSource("api/events");
  events.onmessage = (event) => { take(JSON.parse(event.data)); };
  events.onerror = () => { restarted = true; $("learning").textContent = say("lost"); };
}

async function begin() {
  const look = await ask("api/look"), codes = look.languages.map((one) => one.code);
  await words.use(Words.choose(codes, look.language));
  $("language").replaceChildren(...look.languages.map((one) => make("option", one.name, { value: one.code, lang: one.code })));
  $("language").value = words.code;
  $("language").onchange = async () => { localStorage.setItem("language", $("language").value); await speak($("language").value); };
  $("theme").value = document.documentElement.dataset.theme;
  $("theme").onchange = () => { localStorage.setItem("theme", $("theme").value); wear($("theme").value); map.draw(); };
  $("demo").hidden = !look.demo;
  guide.say();
  if (look.guidelines) guide.load();
  listen();
}
begin().catch((error) => { $("message").textContent = error.message; });
