document.querySelectorAll("th button").forEach((button) => button.addEventListener("click", () => {
  const head = button.parentElement, body = head.closest("table").tBodies[0];
  const up = head.getAttribute("aria-sort") !== "ascending", column = head.cellIndex;
  head.parentElement.querySelectorAll("th").forEach((other) => other.removeAttribute("aria-sort"));
  head.setAttribute("aria-sort", up ? "ascending" : "descending");
  const numbers = [...body.rows].some((row) => "v" in row.cells[column].dataset);
  const value = (row) => {
    const cell = row.cells[column];
    return numbers ? ("v" in cell.dataset ? Number(cell.dataset.v) : null) : cell.textContent;
  };
  const compare = (a, b) => {
    const x = value(a), y = value(b);
    if (x === null || y === null) return (x === null) - (y === null);  // the empty ones come last
    return (up ? 1 : -1) * (numbers ? x - y : x.localeCompare(y));
  };
  [...body.rows].sort(compare).forEach((row) => body.append(row));
}));
