// tests/checks/figures.py evaluates this in a page with a figure. It puts every control into every
// position in turn, while the others stay as they are in the beginning, and returns what is wrong.
(() => {
  const found = new Set(), before = {...shown.state};
  const look = (where) => {
    if (document.documentElement.scrollWidth > innerWidth) found.add(`${where}: too wide`);
    const svg = document.querySelector(".picture svg"), box = svg.getBoundingClientRect();
    for (const text of svg.querySelectorAll("text")) {
      const own = text.getBoundingClientRect();
      const inside = own.left >= box.left - 1 && own.right <= box.right + 1 && own.top >= box.top - 2 && own.bottom <= box.bottom + 2;
      if (own.width && !inside) found.add(`${where}: "${text.textContent}" is cut off`);
    }
    const said = document.querySelector(".moving output").textContent;
    if (said.length < 20 || /NaN|undefined|null|\[object/.test(said)) found.add(`${where}: ${said}`);
    if (/NaN|undefined|Infinity/.test(svg.innerHTML)) found.add(`${where}: a position is no number`);
  };
  look("start");
  for (const input of document.querySelectorAll(".moving .controls input")) {
    const range = input.type === "range";
    const positions = [...Array(range ? Number(input.max) + 1 : 2).keys()], every = Math.ceil(positions.length / 60);
    for (const position of positions.filter((at) => at % every === 0)) {
      if (range) {
        input.value = position;
        input.dispatchEvent(new Event("input", {bubbles: true}));
      } else input.click();
      look(`${input.name} ${position}`);
    }
    change(before);
  }
  return [...found].slice(0, 6);
})()
