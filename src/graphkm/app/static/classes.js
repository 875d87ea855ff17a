"use strict";
// Classes get other names, or become one. It takes the helpers of page.js.

class ClassNames {
  constructor(tools) {
    this.tools = tools;
    const { $ } = tools;
    $("classes-open").onclick = () => this.open();
    $("classes-close").onclick = () => $("classes-dialog").close();
    $("classes-old").onchange = () => { $("classes-new").value = ""; this.tell(); };
    $("classes-new").oninput = () => this.tell();
    $("classes-form").onsubmit = (event) => { event.preventDefault(); this.rename(); };
  }

  open() {
    const { $, make, state } = this.tools, now = state();
    if (now.regression || !now.classes.length) return;
    $("classes-old").replaceChildren(...now.classes.map((name) => make("option", name, { value: name })));
    $("classes-known").replaceChildren(...now.classes.map((name) => make("option", "", { value: name })));
    $("classes-new").value = "";
    this.tell();
    $("classes-dialog").showModal();
  }

  // What a click would do: a name that another class has already makes one of two.
  tell() {
    const { $, state } = this.tools, now = state(), old = $("classes-old").value, name = $("classes-new").value.trim();
    const other = now.classes.find((one) => one !== old && one.toLowerCase() === name.toLowerCase());
    const n = now.counts[now.classes.indexOf(old)] ?? 0;
    $("classes-go").textContent = say(other === undefined ? "rename_go" : "merge_go");
    $("classes-words").textContent = other === undefined ? say("rename_words", { n }) : say("merge_words", { n, old, other });
  }

  async rename() {
    const { $, ask, take } = this.tools, name = $("classes-new").value.trim();
    if (!name) { $("classes-new").focus(); return; }
    try {
      const next = await ask("api/rename", { old: $("classes-old").value, new: name });
      $("classes-dialog").close();
      take(next);
    } catch (error) { $("classes-words").textContent = error.message; }
  }
}
