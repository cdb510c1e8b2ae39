// Small things: elements, tables, numbers for people.
export function element(name, attributes = {}, ...children) {
  const it = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) it.addEventListener(key.slice(2), value);
    else if (value === true) it.setAttribute(key, "");
    else if (value !== false && value !== null && value !== undefined) it.setAttribute(key, value);
  }
  it.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return it;
}

// A head that begins with # is a column of numbers.
export function table(heads, rows) {
  const kind = heads.map((head) => (head.startsWith("#") ? "number" : null));
  const cell = (tag) => (value, i) => element(tag, { class: kind[i], scope: tag === "th" ? "col" : null }, value);
  return element(
    "div",
    { class: "wide" },
    element(
      "table",
      {},
      element("thead", {}, element("tr", {}, heads.map((head, i) => cell("th")(head.replace(/^#/, ""), i)))),
      element("tbody", {}, rows.map((row) => element("tr", {}, row.map(cell("td"))))),
    ),
  );
}

export const count = (n) => n.toLocaleString("en");
export const percent = (x) => (Number.isFinite(x) ? `${(100 * x).toFixed(x > 0 && x < 0.1 ? 1 : 0)}%` : "–");

export function signed(x) {
  const size = Math.abs(x);
  const text = size === 0 ? "0" : size < 1e-4 || size >= 1e6 ? size.toExponential(1) : size.toFixed(size < 1 ? 3 : size < 100 ? 2 : 0);
  return (x < 0 ? "−" : "+") + text;
}

export function age(time) {
  const seconds = Math.max(0, (Date.now() - Date.parse(time)) / 1000);
  const units = [[86400, "d"], [3600, "h"], [60, "min"], [1, "s"]];
  const [size, unit] = units.find(([s]) => seconds >= s) ?? [1, "s"];
  return `${Math.floor(seconds / size)} ${unit} ago`;
}
