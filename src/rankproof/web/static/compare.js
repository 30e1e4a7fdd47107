// One choice of queries, shown in both pictures and in the table.
const form = document.getElementById("filters");
const rows = [...document.querySelectorAll("#rows tbody tr")];
const marks = new Map();
for (const mark of document.querySelectorAll("[data-i]:not(tr)")) {
  const list = marks.get(mark.dataset.i) ?? [];
  list.push(mark);
  marks.set(mark.dataset.i, list);
}
const words = ([cell]) => [cell, ...cell.querySelectorAll("[title]")].map((each) => each.title || each.textContent).join(" ");
const texts = new Map(rows.map((row) => [row, words(row.cells).toLowerCase()])); // long ones are cut on the page
let brushed = null; // the numbers of the queries in the box, or null

const fits = (row, wanted) => {
  const data = row.dataset;
  return (!wanted.text || texts.get(row).includes(wanted.text.toLowerCase()))
    && (!wanted.outcome || data.outcome === wanted.outcome)
    && (!wanted.group || data.group === wanted.group)
    && (!wanted.mode || data.mode === wanted.mode)
    && (!wanted.grade || data.grade === wanted.grade)
    && (brushed === null || brushed.has(data.i));
};

const filtered = (search) => {
  const address = new URLSearchParams(search);
  for (const [name, value] of new FormData(form)) value ? address.set(name, value) : address.delete(name);
  return address;
};

const show = () => {
  const wanted = form ? Object.fromEntries(new FormData(form)) : {};
  let n = 0;
  for (const row of rows) {
    const kept = fits(row, wanted);
    row.hidden = !kept;
    n += kept;
    for (const mark of marks.get(row.dataset.i) ?? []) mark.classList.toggle("off", !kept);
  }
  const shown = document.getElementById("shown");
  if (shown) shown.textContent = `${n.toLocaleString("en")} of ${rows.length.toLocaleString("en")}`;
  try {
    history.replaceState(null, "", `?${filtered(location.search)}${location.hash}`);
  } catch { /* the address of a file stays as it is */ }
};

const brush = (holder, selector) => {
  const svg = holder?.querySelector("svg");
  if (!svg) return;
  let box = null, start = null;
  const at = (event) => new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
  svg.addEventListener("pointerdown", (event) => {
    start = at(event);
    svg.setPointerCapture(event.pointerId);
    box?.remove();
    box = document.createElementNS("http://www.w3.org/2000/svg", "rect");
    box.classList.add("brush");
    svg.append(box);
  });
  svg.addEventListener("pointermove", (event) => {
    if (!start) return;
    const end = at(event);
    for (const [name, value] of Object.entries({
      x: Math.min(start.x, end.x), y: Math.min(start.y, end.y),
      width: Math.abs(start.x - end.x), height: Math.abs(start.y - end.y),
    })) box.setAttribute(name, value);
  });
  svg.addEventListener("pointerup", (event) => {
    const end = at(event);
    const [left, right] = [Math.min(start.x, end.x), Math.max(start.x, end.x)];
    const [top, bottom] = [Math.min(start.y, end.y), Math.max(start.y, end.y)];
    start = null;
    if (right - left < 3 && bottom - top < 3) {
      box.remove();
      brushed = null;
    } else {
      brushed = new Set();
      for (const mark of svg.querySelectorAll(selector)) {
        const around = mark.getBBox();
        const x = around.x + around.width / 2, y = around.y + around.height / 2;
        const inside = selector === "circle" ? x >= left && x <= right && y >= top && y <= bottom : x >= left && x <= right;
        if (inside) brushed.add(mark.dataset.i);
      }
    }
    show();
  });
};

if (rows.length && form) {
  for (const [name, value] of new URLSearchParams(location.search)) {
    const field = form.elements.namedItem(name);
    if (field) field.value = value;
  }
  const carry = (event) => {
    const link = event.target.closest("#rows a");
    if (link) link.search = filtered(link.search);
  };
  for (const kind of ["mousedown", "focusin"]) addEventListener(kind, carry); // a link takes the filters with it
  document.querySelector("form.choices:not(#filters)")?.addEventListener("formdata", (event) => {
    for (const [name, value] of new FormData(form)) if (value) event.formData.set(name, value);
  });
  form.addEventListener("input", show);
  form.addEventListener("reset", () => {
    brushed = null;
    for (const box of document.querySelectorAll(".brush")) box.remove();
    setTimeout(show);
  });
  form.addEventListener("submit", (event) => event.preventDefault());
  brush(document.getElementById("scatter"), "circle");
  brush(document.getElementById("sorted"), "rect[data-i]");
  addEventListener("pageshow", show); // after "back" the filters hold what they held
}
