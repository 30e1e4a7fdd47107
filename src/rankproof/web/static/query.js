// Rankings side by side: move with the arrow keys, grade with a digit, ask what another grade would do.
const lists = document.getElementById("rankings");
const items = [...document.querySelectorAll(".ranking li[tabindex]")];
const says = document.getElementById("whatif");
const csrf = document.body.dataset.csrf;
const address = new URLSearchParams(location.search);

const tell = (lines) => {
  says.replaceChildren(...lines.map((line) => {
    const p = document.createElement("p");
    p.textContent = line;
    return p;
  }));
};

const systems = [...document.querySelectorAll(".side")].map((each) => each.dataset.system);

const mark = (item) => {
  for (const other of items) {
    other.classList.toggle("same", other !== item && other.dataset.doc === item.dataset.doc);
    other.classList.toggle("chosen", other === item);
  }
};

let sending = false; // a second grade could overtake the first
addEventListener("pageshow", () => { sending = false; });
const grade = async (item, value) => {
  if (sending) return;
  sending = true;
  const body = new URLSearchParams({ csrf, query: lists.dataset.query, document: item.dataset.doc, grade: value });
  let problem = "The app does not answer, so this grade was NOT written. Start it again, and grade it again.";
  try {
    const answer = await fetch("/grade", { method: "POST", body, headers: { accept: "application/json" } });
    if (answer.ok) {
      address.set("given", "yes");
      address.set("at", items.indexOf(item));
      location.replace(`?${address}`); // so that "back" leaves the page, and not grade by grade
      return;
    }
    problem = (await answer.json().catch(() => ({}))).problem ?? "That was refused.";
  } catch { /* it does not answer */ }
  sending = false;
  tell([problem]);
};

const ask = async (item, value) => {
  const wanted = new URLSearchParams({
    query: lists.dataset.query, document: item.dataset.doc, grade: value, systems: systems.join("\n"), measure: lists.dataset.measure,
    given: address.get("given") ?? "", // else it would begin with other numbers than those of the page
  });
  const said = await (await fetch(`/whatif?${wanted}`)).json();
  const head = value === "" ? "if nobody had judged it" : `with grade ${value}`;
  tell(said.problem ? [said.problem] : [`${item.dataset.doc} ${head}:`, ...said.sides.map((side) => side.words)]);
};

let asking = false;
let chosen = null; // the document that had the focus last
const press = (item, key) => {
  if (!/^[0-9uw]$/.test(key) && !(item && asking && key === "-")) return false;
  if (!item) tell(["Choose a document first: tap it, or press an arrow key."]);
  else if (key === "w") {
    asking = !asking;
    tell([asking ? "Press a digit, or - for not judged: nothing is written." : ""]);
  } else if (key === "u") grade(item, "undo");
  else if (asking) {
    asking = false;
    ask(item, key === "-" ? "" : key);
  } else grade(item, key);
  return true;
};
document.addEventListener("keydown", (event) => {
  if (!items.length || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.target.closest("input, select, textarea, button, summary, .scroll")) return;
  const item = event.target.closest(".ranking li[tabindex]");
  if (!item) {
    if (/^(Arrow(Down|Up|Left|Right)|j|k)$/.test(event.key)) (chosen ?? items[0]).focus();
    else if (!press(null, event.key)) return;
    event.preventDefault();
    return;
  }
  const own = [...item.parentElement.children];
  const sides = [...document.querySelectorAll(".ranking")];
  const row = own.indexOf(item), side = sides.indexOf(item.parentElement);
  const go = (list, place) => list?.children[Math.min(place, list.children.length - 1)]?.focus();
  if (event.key === "ArrowDown" || event.key === "j") go(item.parentElement, row + 1);
  else if (event.key === "ArrowUp" || event.key === "k") go(item.parentElement, Math.max(0, row - 1));
  else if (event.key === "ArrowRight") go(sides[side + 1], row);
  else if (event.key === "ArrowLeft") go(sides[side - 1], row);
  else if (!press(item, event.key)) return;
  event.preventDefault();
});
for (const item of items) {
  item.addEventListener("focus", () => mark(chosen = item));
  item.addEventListener("click", () => item.focus({ preventScroll: true })); // a tap does not always
}
for (const each of document.querySelectorAll(".keys [data-key]")) {
  each.addEventListener("click", () => press(chosen, each.dataset.key));
}
if (address.has("at")) items[Number(address.get("at"))]?.focus();
