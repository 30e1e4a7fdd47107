// One key a document: what is pressed before the next document is shown would be a grade of this one.
const card = document.getElementById("grading");
let sent = false;
card?.addEventListener("submit", async (event) => {
  event.preventDefault();
  if (sent) return;
  sent = true;
  const body = new URLSearchParams(new FormData(event.target, event.submitter));
  let problem = "The app does not answer, so this was NOT written. Start it again, and press the key again.";
  try {
    const answer = await fetch(event.target.action, { method: "POST", body, headers: { accept: "application/json" } });
    if (answer.ok) {
      location.replace(location.pathname + location.search); // so that "back" leaves the page, and not grade by grade
      return;
    }
    problem = (await answer.json().catch(() => ({}))).problem ?? "That was refused.";
  } catch { /* it does not answer */ }
  sent = false;
  const said = card.querySelector("[role=alert]") ?? card.appendChild(document.createElement("p"));
  said.setAttribute("role", "alert");
  said.textContent = problem;
});
addEventListener("pageshow", () => { sent = false; });
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, select, textarea")) return;
  const button = card?.querySelector(`[data-key="${CSS.escape(event.key)}"]`);
  if (button) {
    event.preventDefault();
    if (!event.repeat) button.click();
  }
});
