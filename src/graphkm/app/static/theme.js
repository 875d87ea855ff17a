"use strict";
// Light or dark, as a person has chosen it; it runs before the page is drawn, so nothing flashes.
const wear = (theme) => { document.documentElement.dataset.theme = theme; };
wear(localStorage.getItem("theme") ?? "auto");
