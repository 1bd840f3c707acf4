// The folds of a chapter's answers. Without this script they are plain folds.
"use strict";

{
  const folds = [...document.querySelectorAll("details.prediction")];
  const field_of = (name) => document.querySelector(`.guesses input[name="${name}"]`);

  /** Writes the guesses beside the measured values. */
  const compare = (fold) => {
    for (const line of fold.querySelectorAll("[data-prediction]")) {
      const guess = field_of(line.dataset.prediction).value.trim();
      const words = document.createElement("b");
      words.textContent = guess;
      line.querySelector(".guess").replaceChildren(...(guess ? ["you predicted ", words, ", "] : []));
    }
  };

  for (const fold of folds) {
    const fields = fold.previousElementSibling;
    fields.hidden = false;
    fields.addEventListener("input", () => compare(fold));
    fields.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" || event.isComposing) return;
      event.preventDefault();  // the key would close the fold again, which has the focus now
      fold.open = true;
      fold.querySelector("summary").focus();
    });
    fold.addEventListener("toggle", () => compare(fold));
  }

  /** Opens the folds around the target of a link, which cannot be scrolled to while it is hidden. */
  const reveal = () => {
    let target = null;
    try {
      target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    } catch {}  // an address that is no valid text
    let opened = false;
    for (let fold = target?.closest("details"); fold; fold = fold.parentElement.closest("details")) {
      opened ||= !fold.open;
      fold.open = true;
    }
    if (opened) target.scrollIntoView();
  };
  addEventListener("hashchange", reveal);
  document.addEventListener("click", (event) => {  // a link to the address that is shown already
    if (event.target.closest?.("a[href*='#']")?.hash === location.hash) setTimeout(reveal);
  });
  reveal();

  // Printed pages show all answers, also in browsers whose styles cannot open a fold.
  let printed = [];
  addEventListener("beforeprint", () => {
    printed = folds.filter((fold) => !fold.open);
    for (const fold of printed) fold.open = true;
  });
  addEventListener("afterprint", () => { for (const fold of printed) fold.open = false; });
}
