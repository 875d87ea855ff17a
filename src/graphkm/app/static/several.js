"use strict";
// Several labels of a row: keys and clicks pick them, and Enter confirms what is picked.

class Picked {
  constructor() { this.row = null; this.answer = ""; this.names = new Set(); this.added = []; }

  // The row's own labels are picked at first; news about other rows leave the picked ones alone.
  start(found) {
    const answer = JSON.stringify(found.answer);
    if (this.row === found.row && this.answer === answer) return;
    Object.assign(this, { row: found.row, answer, names: new Set(found.names), added: [] });
  }

  toggle(name) { if (!this.names.delete(name)) this.names.add(name); }

  add(name, known) { // a name that differs only in upper and lower case is the known one
    const same = [...known, ...this.added].find((one) => one.toLowerCase() === name.toLowerCase());
    if (same === undefined) this.added.push(name);
    this.names.add(same ?? name);
    return same ?? name;
  }

  words() {
    const n = this.names.size;
    return n === 0 ? say("confirm_none") : say("confirm", { n });
  }
}

// A label as people read it; "-" stands for none of several labels.
const spoken = (label, several) => (!several ? label : label === "-" ? say("none_of_the_labels") : label.split(";").join(", "));
