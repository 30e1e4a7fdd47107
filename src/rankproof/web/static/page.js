// Every page: fill the parts that take longer, and load again when the folder has changed.
document.documentElement.classList.add("scripted");

for (const place of document.querySelectorAll("[data-part]")) {
  fetch(place.dataset.part)
    .then((answer) => answer.text())
    .then((text) => {
      place.innerHTML = text; // made by the same server, which escapes every text
      place.classList.remove("later");
    })
    .catch(() => { place.textContent = "The app does not answer any more. Start it again, and load this page."; });
}

if (document.body.dataset.changing) {
  let known = null;
  const look = async () => {
    try {
      const state = JSON.stringify(await (await fetch("/state")).json());
      const busy = document.activeElement && document.activeElement.matches("input, select");
      if (known !== null && state !== known && !busy) {
        location.reload();
        return;
      }
      known = known ?? state;
    } catch { /* the app may be gone for a moment */ }
    setTimeout(look, 900);
  };
  look();
}
