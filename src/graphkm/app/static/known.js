"use strict";
// What is known so far: accuracy, when to stop, classes, people. It takes the helpers of page.js.

function drawKnown() {
  const { accuracy, steady, regression } = state;
  const number = regression ? quantity : percent;
  $("accuracy-name").textContent = say(regression ? "mean_error" : state.several ? "all_right" : "accuracy");
  $("accuracy").textContent = accuracy
    ? say("accuracy_words", { value: number(accuracy.value), low: number(accuracy.low), high: number(accuracy.high), n: accuracy.rows })
    : state.relevant ? say("accuracy_relevant", { name: state.relevant }) : say("accuracy_later");
  $("gain").textContent = accuracy ? gainWords(accuracy, number) : say("gain_later");
  $("stop").textContent = state.relevant
    ? say("stop_relevant", { name: state.relevant, n: state.counts[state.classes.indexOf(state.relevant)] || 0 })
    : steady
    ? `${say("steady", { n: steady.labels, share: percent(steady.changed) })} ${say(steady.enough ? "steady_enough" : "steady_more")}`
    : say(regression ? "stop_flat" : "stop_later");
  $("outlook").textContent = outlookWords(state.outlook);
  const lines = state.regression ? [] : state.classes.map((name, k) => {
    const line = make("tr");
    line.append(make("td", name), make("td", count(state.counts[k])),
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
      make("td", `${percent(person.reliability)} ± ${words.number(100 * person.error, { minimumFractionDigits: 1, maximumFractionDigits: 1 })}`),
      make("td", person.agreement === null ? say("no_common_rows") : percent(person.agreement)));
    return line;
  }));
}

function gainWords(accuracy, number) {
  const gain = accuracy.value - accuracy.without;
  if (Math.abs(gain) < 1e-9) return say("gain_nothing");
  if (state.regression) return say("gain_errors", { value: number(accuracy.value), without: number(accuracy.without) });
  const points = words.number(100 * gain, { minimumFractionDigits: 1, maximumFractionDigits: 1, signDisplay: "always" });
  return say("gain_points", { points: points.replace("-", "−"), without: number(accuracy.without) });
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
    ? say(state.regression ? "curve_errors" : "curve_words") : "";
  place.style.display = points.length > 1 ? "" : "none";
  if (points.length < 2) return;
  const most = points[points.length - 1].labels, least = points[0].labels;
  const top = state.regression ? Math.max(...points.map((p) => p.high)) : 1;
  const bottom = state.regression ? 0 : Math.max(0, Math.min(...points.map((p) => p.low)) - 0.05);
  const x = (n) => 34 + (276 * (n - least)) / Math.max(1, most - least);
  const y = (v) => 8 + 100 * (1 - (v - bottom) / Math.max(1e-12, top - bottom));
  const label = (v) => (state.regression ? quantity(v, 2) : percent(v, 0));
  const band = [...points.map((p) => `${x(p.labels)},${y(p.high)}`),
    ...[...points].reverse().map((p) => `${x(p.labels)},${y(p.low)}`)].join(" ");
  place.append(
    svg("polygon", { points: band, fill: "var(--accent)", opacity: 0.2 }),
    svg("polyline", { points: points.map((p) => `${x(p.labels)},${y(p.value)}`).join(" "), fill: "none",
      stroke: "var(--accent)", "stroke-width": 2 }),
    svg("line", { x1: 34, x2: 310, y1: 108, y2: 108, stroke: "var(--line)" }),
    svg("text", { x: 30, y: 14, "text-anchor": "end" }, label(top)),
    svg("text", { x: 30, y: 108, "text-anchor": "end" }, label(bottom)),
    svg("text", { x: 34, y: 122 }, count(least)),
    svg("text", { x: 310, y: 122, "text-anchor": "end" }, say("labels", { n: most })));
}
