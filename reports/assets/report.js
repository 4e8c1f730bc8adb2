// The HTML report works without this script; it adds the filter, links that open their drill, and buttons that copy.
"use strict";

// What the address names behind its `#`; one that somebody wrote by hand may be no encoding.
function named() {
  const text = location.hash.slice(1);
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

// Opens the drill of `#drill=…`, and everything around it.
function open() {
  const id = named();
  const drill = id && document.getElementById(id);
  if (!drill) return;
  for (let at = drill; at; at = at.parentElement) if (at.tagName === "DETAILS") at.open = true;
  drill.scrollIntoView();
  const summary = drill.querySelector("summary");
  if (summary) summary.focus({ preventScroll: true });
}
addEventListener("hashchange", open);
addEventListener("click", (event) => {
  const link = event.target.closest("a[href^='#']");
  // A second click on the same link changes no fragment.
  if (link && link.getAttribute("href") === `#${named()}`) open();
});
open();

const filter = document.querySelector(".filter");
if (filter) {
  const rows = [...document.querySelectorAll(".matrix tbody tr")];
  const apply = () => {
    const words = filter.elements.words.value.toLowerCase().split(/\s+/).filter(Boolean);
    const outcome = filter.elements.outcome.value;
    let shown = 0;
    for (const row of rows) {
      const name = row.dataset.name.toLowerCase();
      const fits = words.every((word) => name.includes(word)) && (!outcome || row.dataset.outcome.split(" ").includes(outcome));
      row.hidden = !fits;
      shown += fits;
    }
    filter.querySelector(".count").textContent = `${shown} of ${rows.length} scenarios`;
  };
  filter.addEventListener("input", apply);
  filter.addEventListener("submit", (event) => event.preventDefault());
  apply();
}

const told = document.querySelector(".told");
addEventListener("click", async (event) => {
  const button = event.target.closest("button[data-copy]");
  if (!button) return;
  try {
    await navigator.clipboard.writeText(button.dataset.copy);
    told.textContent = "Copied";
  } catch {
    getSelection().selectAllChildren(button.previousElementSibling);
    told.textContent = "Selected: copy it with the keyboard";
  }
  setTimeout(() => { told.textContent = ""; }, 2000);
});
