// Charts by uPlot, in the colours of the page. Without uPlot (a build that had none at hand) the last values are shown.
import { count, element, percent, signed } from "/web/view.js";

const palette = ["--accent", "--second", "--good", "--bad", "--soft"];
const colour = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const kept = new Map(); // charts by name, so that they are resized and dropped when the page is redrawn

function columns(series, show) {
  const data = [], options = [{}], bands = [];
  series.forEach((s, i) => {
    const stroke = i < palette.length ? colour(palette[i]) : `hsl(${(i * 67) % 360} 55% 50%)`;
    data.push(s.values);
    options.push({ label: s.label, stroke, width: 2, value: (_, v) => (v === null || v === undefined ? "–" : show(v)) });
    if (s.low) {
      for (const edge of [s.high, s.low]) {
        data.push(edge);
        options.push({ label: `${s.label}, ${edge === s.low ? "low" : "high"}`, stroke, width: 0.5, class: "edge", points: { show: false } });
      }
      const at = options.length;
      bands.push({ series: [at - 2, at - 1], fill: `${stroke}22` });
    }
  });
  return { data, options, bands };
}

// Series over "time", or over something that is counted. Shares go from 0 to 1.
export function chart(title, x, series, { name, over, share }) {
  const show = share ? percent : signed;
  const last = (values) => lastOf(values, show);
  const place = element("div", { role: "img", "aria-label": `${title}: ${series.map((s) => `${s.label} ${last(s.values)}`).join(", ")}` });
  const figure = element("figure", { id: `chart-${name}` }, element("figcaption", {}, title), place);
  kept.get(name)?.destroy();
  kept.delete(name);
  if (typeof uPlot === "undefined") {
    place.append(...series.map((s) => element("p", {}, `${s.label}: ${last(s.values)}`)));
    return figure;
  }
  requestAnimationFrame(() => {
    if (!place.isConnected) return;
    const { data, options, bands } = columns(series, show);
    const timed = over === "time";
    if (!timed) options[0] = { label: over, value: (_, v) => (v === null || v === undefined ? "–" : count(v)) };
    const axis = { stroke: colour("--soft"), grid: { stroke: colour("--line"), width: 1 }, ticks: { stroke: colour("--line") } };
    const axes = [timed ? axis : { ...axis, label: over, labelSize: 20 }, share ? { ...axis, size: 60, values: (_, all) => all.map(percent) } : { ...axis, size: 60 }];
    const scales = { x: { time: timed }, y: share ? { range: [0, 1] } : {} };
    kept.set(name, new uPlot({ width: place.clientWidth, height: 220, series: options, bands, axes, scales }, [x, ...data], place));
  });
  return figure;
}

function lastOf(values, show) {
  const value = values.findLast((v) => v !== null);
  return value === undefined ? "unknown" : show(value);
}

addEventListener("resize", () => {
  for (const plot of kept.values()) plot.setSize({ width: plot.root.parentElement.clientWidth, height: 220 });
});

// A point and its interval on a line from -reach to +reach; the mark in the middle is zero.
export function intervalBar(estimate, low, high, reach) {
  const at = (x) => `${50 + 48 * Math.max(-1, Math.min(1, x / reach))}%`;
  const line = element("i");
  const zero = element("u");
  const dot = element("b");
  line.style.left = at(low);
  line.style.right = `calc(100% - ${at(high)})`;
  zero.style.left = "50%";
  dot.style.left = at(estimate);
  return element("div", { class: "interval", "aria-hidden": "true" }, zero, line, dot);
}
