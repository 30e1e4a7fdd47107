// Every page: fill the parts that take longer, and load again when the folder has changed.
document.documentElement.classList.add("scripted");

// The words that a part explains join those at the end of the page.
const addWords = (words) => {
  if (!words) return;
  const main = document.getElementById("main");
  const own = main.querySelector("#words .words");
  if (own) {
    const known = new Set([...own.querySelectorAll("dt")].map((each) => each.id));
    for (const each of words.children) known.has(each.firstElementChild.id) || own.append(each.cloneNode(true));
    words.remove();
    return;
  }
  const section = document.createElement("section");
  const heading = document.createElement("h2");
  heading.textContent = "Words on this page";
  section.id = "words";
  section.append(heading, words);
  main.append(section);
};

for (const place of document.querySelectorAll("[data-part]")) {
  fetch(place.dataset.part)
    .then((answer) => answer.text())
    .then((text) => {
      place.innerHTML = text; // made by the same server, which escapes every text
      place.classList.remove("later");
      addWords(place.querySelector(".words"));
    })
    .catch(() => { place.textContent = "The app does not answer any more. Start it again, and load this page."; });
}

if (document.body.dataset.state) {
  const PATIENCE = 60000; // a page that the reader asked for may take long: to load this one again would call it off
  let left = -PATIENCE;
  addEventListener("beforeunload", () => { left = performance.now(); });
  const look = async () => {
    try {
      const answer = await fetch("/state");
      const changed = answer.ok && (await answer.text()) !== document.body.dataset.state;
      const busy = document.activeElement && document.activeElement.matches("input, select");
      if (changed && !busy && performance.now() - left > PATIENCE) {
        location.reload();
        return;
      }
    } catch { /* the app may be gone for a moment */ }
    setTimeout(look, 1000);
  };
  setTimeout(look, 1000); // a page that came is there for a second at least
}
