"use strict";
// Guidelines come as parts: the name of an element, then texts and parts. No other element is built.

class Guide {
  constructor(place, tools) {
    Object.assign(this, { place, tools });
    this.fold(localStorage.getItem("guidelines") === "folded");
    tools.$("guide-fold").onclick = () => this.toggle();
  }

  async load() {
    try { this.draw((await this.tools.ask("api/guidelines")).parts); } catch (error) { this.place.textContent = error.message; }
    this.tools.$("guide").hidden = false;
  }

  draw(parts) { this.place.replaceChildren(...parts.map((part) => this.build(part))); }

  build(part) {
    if (typeof part === "string") return document.createTextNode(part);
    const [name, ...inner] = part;
    if (!Guide.KNOWN.has(name)) return document.createTextNode(inner.filter((one) => typeof one === "string").join(" "));
    const made = document.createElement(name);
    if (name === "a") {
      const to = inner.shift();
      if (/^(https?:\/\/|mailto:)/.test(to)) Object.assign(made, { href: to, target: "_blank", rel: "noopener noreferrer" });
    }
    made.append(...inner.map((one) => this.build(one)));
    return made;
  }

  get folded() { return this.place.hidden; }
  toggle() { this.fold(!this.folded); localStorage.setItem("guidelines", this.folded ? "folded" : "open"); }
  fold(folded) {
    this.place.hidden = folded;
    this.tools.$("guide-fold").setAttribute("aria-expanded", String(!folded));
    this.say();
  }
  say() { this.tools.$("guide-fold-words").textContent = say(this.folded ? "unfold" : "fold"); }
}
Guide.KNOWN = new Set(["h2", "h3", "h4", "h5", "h6", "p", "ul", "ol", "li", "blockquote", "pre", "code", "strong", "em", "a", "hr"]);
