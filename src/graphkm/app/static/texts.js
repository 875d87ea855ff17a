"use strict";
// The words of the page: one file for each language, with plural forms and numbers as the language has them.

class Words {
  constructor() { this.code = "en"; this.texts = {}; this.formats = new Map(); }

  async use(code) {
    const answer = await fetch(`static/texts/${code}.json`);
    this.take(code, await answer.json());
  }

  take(code, texts) {
    this.code = code;
    this.texts = texts;
    this.plural = new Intl.PluralRules(code);
    this.formats.clear();
    document.documentElement.lang = code;
    document.documentElement.dir = texts.direction ?? "ltr";
    for (const place of document.querySelectorAll("[data-say]")) place.textContent = this.say(place.dataset.say);
    for (const place of document.querySelectorAll("[data-name]")) place.setAttribute("aria-label", this.say(place.dataset.name));
  }

  has(key) { return key in this.texts; }

  // A text, with values in its gaps. Of plural forms the one for the value n is taken.
  say(key, values = {}) {
    let text = this.texts[key] ?? key;
    if (typeof text === "object") text = text[this.plural.select(values.n)] ?? text.other;
    return text.replace(/\{(\w+)\}/g, (gap, name) => {
      const value = values[name];
      return value === undefined ? gap : typeof value === "number" ? this.number(value) : value;
    });
  }

  number(value, options = {}) {
    const key = JSON.stringify(options);
    if (!this.formats.has(key)) this.formats.set(key, new Intl.NumberFormat(this.code, options));
    return this.formats.get(key).format(value);
  }

  percent(share, digits = 1) {
    const n = this.number(100 * share, { minimumFractionDigits: digits, maximumFractionDigits: digits });
    return this.say("percent", { n });
  }

  // The language that was chosen before, that of the command, or the first that the browser wants.
  static choose(known, asked) {
    const wanted = [localStorage.getItem("language"), asked, ...navigator.languages, "en"];
    const found = wanted.filter(Boolean).map((code) => known.find((one) => one === code || one === code.split("-")[0]));
    return found.find(Boolean) ?? "en";
  }
}

const words = new Words();
const say = (key, values) => words.say(key, values);
