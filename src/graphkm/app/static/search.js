"use strict";
// Rows that a person looks for. It takes the helpers of page.js.

class Search {
  constructor(tools) {
    Object.assign(this, { tools, open: false, next: null, drawn: "" });
    const { $ } = tools;
    $("search").onsubmit = (event) => { event.preventDefault(); this.find(0); };
    for (const id of ["search-kind", "search-label", "search-person"]) $(id).onchange = () => this.find(0);
    $("search-more").onclick = () => this.find(this.next);
  }

  // Classes and people that can be chosen, as they are now.
  refresh() {
    const { $, make, state } = this.tools, now = state();
    const key = JSON.stringify([now.classes, now.team, words.code]);
    if (this.drawn === key) return;
    this.drawn = key;
    const fill = (place, names) => {
      const before = place.value;
      place.replaceChildren(make("option", say("any"), { value: "" }), ...names.map((name) => make("option", name, { value: name })));
      if (names.includes(before)) place.value = before;
    };
    fill($("search-label"), now.classes);
    fill($("search-person"), now.team);
    $("search-people").hidden = now.team.length < 2;
  }

  async find(start) {
    const { $, ask } = this.tools;
    const wanted = new URLSearchParams({ words: $("search-words").value, kind: $("search-kind").value,
      label: $("search-label").value, person: $("search-person").value, start });
    $("search-message").textContent = say("searching");
    try { this.draw(await ask(`api/rows?${wanted}`), start); } catch (error) { $("search-message").textContent = error.message; }
  }

  draw(found, start) {
    const { $, make, show, state } = this.tools, several = state().several;
    const items = found.rows.map((each) => {
      const item = make("li"), button = make("button", "", { type: "button" });
      const said = each.answer === null ? [] : [each.answer.label === null ? say("not_known") : spoken(each.answer.label, several)];
      const others = each.others.map((other) => `${other.name}: ${spoken(other.label, several)}`);
      button.append(make("strong", say("row", { row: each.row + 1 })), " ", make("span", [...said, ...others].join(" · "), { className: "small", dir: "auto" }),
        make("span", each.text, { className: "snippet", dir: "auto" }));
      button.onclick = () => show(each.row);
      item.append(button);
      return item;
    });
    if (start === 0) $("search-list").replaceChildren(...items); else $("search-list").append(...items);
    this.next = found.next;
    $("search-more").hidden = found.next === null;
    const n = $("search-list").children.length;
    $("search-message").textContent = found.next === null ? say("found", { n }) : say("found_first", { n });
    if (start > 0 && items.length) items[0].querySelector("button").focus();
  }
}
