"use strict";
// Views of the page, labels that look wrong, and what more labels would give. It takes the helpers of page.js.

// Two views, of which one is shown: tabs as screen readers know them, with arrows between them.
class Views {
  constructor(tabs, changed) {
    this.tabs = tabs;
    this.changed = changed;
    tabs.forEach((tab, k) => {
      tab.onclick = () => this.show(k);
      tab.onkeydown = (event) => {
        const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
        if (step === undefined) return;
        event.preventDefault();
        event.stopPropagation();
        this.show((k + step + tabs.length) % tabs.length);
        this.tabs[this.at].focus();
      };
    });
    this.at = 0;
  }

  show(k) {
    this.at = k;
    this.tabs.forEach((tab, j) => {
      tab.setAttribute("aria-selected", String(j === k));
      tab.tabIndex = j === k ? 0 : -1;
      document.getElementById(tab.getAttribute("aria-controls")).hidden = j !== k;
    });
    this.changed(k);
  }
}

// The list of labels that look wrong. `tools` has make, ask, percent, spoken, state, take and open.
class Review {
  constructor(place, tools) {
    Object.assign(this, { place, tools, open: false, fetched: null, busy: false });
  }

  // A new state: the list is fetched again if it is looked at, and the model is another one.
  async refresh(force = false) {
    const state = this.tools.state();
    if (!this.open || !state || (!force && this.fetched === state.version)) return;
    this.fetched = state.version;
    try { this.draw(await this.tools.ask("api/review")); } catch (error) { this.say(error.message); }
  }

  say(text) { this.place.querySelector("#review-message").textContent = text; }

  draw(found) {
    const { make, percent } = this.tools, list = this.place.querySelector("#review-list");
    const focused = list.contains(document.activeElement) ? document.activeElement.dataset.row : undefined;
    this.place.querySelector("#review-words").textContent = this.words(found);
    this.place.querySelector("#review-how").hidden = !found.items.length;
    const items = found.items.map((item) => this.item(item, found));
    list.replaceChildren(...(items.length ? items : [make("li", say("review_nothing"), { className: "small" })]));
    if (focused !== undefined) (list.querySelector("button") || this.place.querySelector("h2")).focus();
  }

  words(found) {
    const { wrong, left, items } = found;
    const shown = left > items.length ? ` ${say("review_first", { n: items.length, left })}` : "";
    const numbers = wrong === null ? "" : `${say("review_wrong", { n: Math.round(wrong.number), labels: wrong.labels, low: wrong.low, high: wrong.high })} `;
    return items.length ? `${numbers}${say("second_look_words")}${shown}` : numbers.trim();
  }

  item(item) {
    const { make, percent, spoken } = this.tools, several = this.tools.state().several;
    const said = spoken(item.said, several), label = spoken(item.label, several), box = make("li");
    box.className = "doubt";
    box.append(make("h3", say("row_said", { row: item.row + 1, said: say("you_and_model", { label, said }) }), { dir: "auto" }));
    if (item.doubt !== null) box.append(make("p", say("review_doubt", { share: percent(item.doubt) }), { className: "small" }));
    box.append(this.content(item.shown));
    if (item.near.length) {
      box.append(make("p", say("review_near"), { className: "small" }), this.near(item.near, several));
    }
    const line = make("div", "", { className: "line" });
    const button = (text, act, name) => {
      const made = make("button", text, { type: "button", className: name || "" });
      made.dataset.row = item.row;
      made.onclick = act;
      line.append(made);
    };
    button(say("keep", { label }), () => this.answer(item, item.label));
    if (!this.tools.state().regression) button(say("change", { label: said }), () => this.answer(item, item.said));
    button(say("show_row"), () => this.tools.show(item.row));
    box.append(line);
    return box;
  }

  content(shown) {
    const { make } = this.tools, box = make("div", "", { className: "content" });
    if (shown.image) {
      const picture = make("img", null, { src: `image/${shown.row}`, alt: say("image_of", { row: shown.row + 1 }) });
      picture.onerror = () => picture.remove();
      box.append(picture);
    }
    if (shown.text !== null) box.append(make("p", shown.text, { dir: "auto" }));
    const cells = shown.cells.slice(0, 8).map(([name, value]) => `${name}: ${value}`).join(" · ");
    if (cells) box.append(make("p", cells, { dir: "auto" }));
    return box;
  }

  near(near, several) {
    const { make, spoken } = this.tools, list = make("ul", "", { className: "evidence" });
    list.append(...near.map((other) => {
      const line = make("li");
      if (other.image) {
        const picture = make("img", null, { src: `image/${other.row}`, alt: say("image_of", { row: other.row + 1 }) });
        picture.onerror = () => picture.remove();
        line.append(picture);
      }
      line.append(make("strong", spoken(other.label, several), { dir: "auto" }), ` ${say("row_here", { row: other.row + 1 })} `);
      if (other.text !== null) line.append(make("span", other.text, { className: "small", dir: "auto" }));
      return line;
    }));
    return list;
  }

  // The same label once more confirms it; it goes through the journal as any other answer.
  async answer(item, label) {
    if (this.busy) return;
    this.busy = true;
    this.say("");
    const several = this.tools.state().several;
    const names = several ? (label === "-" ? [] : label.split(";")) : label;
    const seen = { kind: "label", label: item.label };
    try {
      this.tools.take(await this.tools.ask("api/answer", { row: item.row, kind: "label", label: names, seen }), item.row);
      await this.refresh(true);
      this.say(say("row_is", { row: item.row + 1, label: this.tools.spoken(label, several) }));
    } catch (error) { this.say(error.message); }
    this.busy = false;
  }
}

// Advice when to stop: "100 more labels: 87.5 % to 90.0 %".
function outlookWords(outlook) {
  if (!outlook) return "";
  return say("outlook", { n: outlook.more, low: words.percent(outlook.low), high: words.percent(outlook.high) });
}
