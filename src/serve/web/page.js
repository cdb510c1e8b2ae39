// The page of gbose serve: plain modules, no build step, no network but this server.
import { call, forgetKey, setKey } from "/web/api.js";
import { chart, intervalBar } from "/web/charts.js";
import { age, count, element, percent, signed, table } from "/web/view.js";

const main = document.getElementById("main");
const crumbs = document.getElementById("crumbs");
const status = document.getElementById("status");
let timer = 0;
let shown = null;
let turn = 0;
let failed = false; // the last look at the service

// ---- one screen at a time -------------------------------------------------------------------------------------

function show(...parts) {
  main.replaceChildren(...parts.flat(Infinity).filter(Boolean));
}

function section(title, ...parts) {
  return [element("h2", {}, title), ...parts];
}

// Servers on one store: how far each has come with each bandit, and who trains it.
function fleet(servers) {
  if (servers.length < 2 && !servers.some((server) => server.stream)) return null;
  return section(
    servers.length === 1 ? "1 server" : `${servers.length} servers`,
    table(
      ["Server", "Bandit", "Trains", "#Behind", "#Learned", "#Model", "Store", "#Heard", "#Port", "#Stream"],
      servers.flatMap(({ stream, name, silent_ms, report }) =>
        (report.bandits.length ? report.bandits : [null]).map((b) => [
          name,
          ...(b ? [b.bandit, b.leads ? "yes" : "", count(b.behind), count(b.learned), String(b.generation)] : ["", "", "", "", ""]),
          report.reachable ? "reachable" : element("span", { class: "bad" }, "away"),
          silent_ms > 3000 ? element("span", { class: "bad" }, `${Math.round(silent_ms / 1000)} s ago`) : `${(silent_ms / 1000).toFixed(1)} s ago`,
          String(report.port), String(stream),
        ]),
      ),
    ),
  );
}

async function overview() {
  const { bandits } = await call("GET", "/v1/bandits");
  const { servers } = await call("GET", "/v1/servers");
  if (!bandits.length) {
    return [
      element("h1", {}, "No bandit yet"),
      element("p", {}, "Make one from a terminal:"),
      element("pre", {}, `curl -X PUT ${location.origin}/v1/bandits/news -d '{"spec": "gbose-auto:floor=0.02", "dim": 3, "wait": "30m"}'`),
    ];
  }
  return [
    element("h1", {}, bandits.length === 1 ? "1 bandit" : `${bandits.length} bandits`),
    table(
      ["Bandit", "Learner", "#Decisions", "#Waiting", "#With a reward", "#Late", "#Model"],
      bandits.map((b) => [
        element("a", { href: `#/b/${encodeURIComponent(b.name)}` }, b.name),
        b.spec,
        count(b.counts.events),
        count(b.counts.pending),
        percent(b.counts.rewarded / (b.counts.rewarded + b.counts.defaulted)),
        count(b.counts.late),
        `${b.model}, ${count(b.learned)} learned`,
      ]),
    ),
    fleet(servers),
  ];
}

// ---- one bandit -----------------------------------------------------------------------------------------------

function cards(bandit) {
  const c = bandit.counts;
  const closed = c.rewarded + c.defaulted;
  const facts = [
    [count(c.events), "decisions"],
    [count(c.pending), "waiting for a reward"],
    [percent(c.rewarded / closed), "closed with a reward"],
    [percent(c.defaulted / closed), "closed with the default"],
    [count(c.late), "late rewards"],
    [count(c.outcomes - bandit.learned), "closed, not learned yet"],
    [bandit.learned_at ? age(bandit.learned_at) : "–", "the model last learned"],
  ];
  return element("div", { class: "cards" }, facts.map(([value, name]) => element("div", { class: "card" }, element("b", {}, value), element("span", {}, name))));
}

// "The service earns 0.41 more a round than chance [0.38, 0.44], valid at any time."
function verdict(policy, bandit) {
  const d = policy.difference;
  const other = { base: bandit.base_arm ? `always playing ${bandit.base_arm}` : "always playing the first arm", uniform: "playing at random", shadow: "the learner in the shadow" }[policy.policy];
  if (policy.supported < 0.999) {
    return element("p", { class: "verdict" }, `Nothing can be said about ${other}: ${percent(1 - policy.supported)} of what it would play was never possible here. A learner with floor=0.02 keeps every arm possible.`);
  }
  if (d.lower === null || d.upper === null) {
    return element("p", { class: "verdict" }, `Too few rounds so far to compare with ${other}.`);
  }
  const sure = d.upper < 0 ? "good" : d.lower > 0 ? "bad" : "soft";
  const text = sure === "good" ? "more" : sure === "bad" ? "LESS" : "perhaps more, perhaps less";
  return element(
    "p",
    { class: "verdict" },
    "What was played earns ",
    element("b", { class: sure }, `${signed(-d.estimate)}`),
    ` a round compared with ${other} [${signed(-d.upper)}, ${signed(-d.lower)}]: ${text}, by an interval that is valid at any time.`,
  );
}

function support(evaluation) {
  const a = evaluation.audit;
  if (!a) return null;
  const names = { base: "the base arm", uniform: "chance" };
  return [
    element("p", {}, a.p < 0.001
      ? element("span", { class: "bad" }, `The arms were not drawn with the logged probabilities (p = ${a.p.toPrecision(2)}).`)
      : `Arms were drawn with the logged probabilities, as far as can be seen (p = ${a.p.toPrecision(2)}).`),
    element("p", {}, `In ${percent(a.certain)} of the rounds one arm was certain. The smallest probability of a played arm is ${a.least_probability.toPrecision(2)}.`),
    ...evaluation.policies.filter((p) => names[p.policy]).map((p) => element("p", {}, `Support: ${percent(p.supported)} of what ${names[p.policy]} would play was possible here.`)),
  ];
}

// ---- over time ------------------------------------------------------------------------------------------------

const MOST_POINTS = 60; // of a chart: more than that is noise
const SHORT = 120; // seconds: a shorter history is drawn over its decisions, which else lie on top of each other

// Neighbours put together, weighted by their events; sequences as they were at the end.
function coarser(points) {
  const step = Math.ceil(points.length / MOST_POINTS);
  const groups = [];
  for (let i = 0; i < points.length; i += step) groups.push(points.slice(i, i + step));
  return groups.map((group) => {
    const end = group[group.length - 1];
    const n = group.reduce((sum, p) => sum + p.n, 0);
    const mean = (key) => (group.some((p) => p[key] === null) ? null : group.reduce((sum, p) => sum + p.n * p[key], 0) / n);
    return { ...end, n, reward: mean("reward"), level: mean("level"), defaulted: mean("defaulted"), played: end.played.map((_, k) => group.reduce((sum, p) => sum + p.played[k], 0)) };
  });
}

function charts(history) {
  const points = coarser(history.points);
  if (points.length < 2) return element("p", { class: "soft" }, "Charts appear when some events have been closed.");
  const short = points[points.length - 1].t - points[0].t < 1000 * SHORT;
  let closed = 0;
  const x = points.map((p) => (short ? (closed += p.n) : p.t / 1000));
  const side = (name, key) => points.map((p) => (p[name][key] === null ? null : -p[name][key]));
  const total = points.map((p) => p.played.reduce((a, b) => a + b, 0));
  const share = (k) => points.map((p, i) => p.played[k] / total[i]);
  const other = points[0].played.length - 1;
  const arms = history.arms.map((name, k) => ({ label: name, values: share(k) }));
  if (points.some((p) => p.played[other])) arms.push({ label: "other", values: share(other) });
  const over = short ? "closed decisions" : "time";
  return element(
    "div",
    { class: "charts" },
    chart("Gain in reward per round over other policies, with intervals valid at any time", x, [
      { label: "over random play", values: side("uniform", "estimate"), low: side("uniform", "upper"), high: side("uniform", "lower") },
      { label: "over the base arm", values: side("base", "estimate"), low: side("base", "upper"), high: side("base", "lower") },
    ], { name: "difference", over }),
    chart("Reward, and the level v(t) common to all arms, which is removed", x, [
      { label: "reward", values: points.map((p) => p.reward) },
      { label: "level v(t)", values: points.map((p) => p.level) },
    ], { name: "reward", over }),
    chart("Share of arms", x, arms, { name: "share", over, share: true }),
    chart("Closed with the default reward", x, [{ label: "default", values: points.map((p) => p.defaulted) }], { name: "joined", over, share: true }),
  );
}

function effects(list) {
  const known = list.filter((e) => e.estimate !== null);
  if (!known.length) return element("p", { class: "soft" }, "There is no random choice between different arms yet to learn from.");
  const reach = Math.max(...known.map((e) => Math.max(Math.abs(e.fixed.lower), Math.abs(e.fixed.upper), Math.abs(e.estimate))));
  return table(
    ["Feature", "#Effect on the reward", "#95%, for one look", "#at any time", ""],
    known.slice(0, 60).map((e) => [
      e.feature,
      signed(e.estimate),
      `${signed(e.fixed.lower)} to ${signed(e.fixed.upper)}`,
      e.anytime.lower === null ? "not yet" : `${signed(e.anytime.lower)} to ${signed(e.anytime.upper)}`,
      intervalBar(e.estimate, e.fixed.lower, e.fixed.upper, reach),
    ]),
  );
}

function generations(name, list) {
  const path = `/v1/bandits/${encodeURIComponent(name)}/generations`;
  const activate = (number) => async () => {
    await call("PUT", `${path}/${number}/active`);
    refresh();
  };
  const spec = element("input", { name: "spec", placeholder: "gbose-auto:floor=0.05", "aria-label": "Spec of a new generation" });
  const form = element("form", {}, spec, element("button", {}, "Learn the log with this spec"));
  const learn = guarded(async () => {
    await call("POST", path, { spec: spec.value });
    spec.blur();
    refresh();
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    learn();
  });
  const active = list.find((g) => g.active);
  return [
    table(
      ["#Generation", "Spec", "#Learned", "State", ""],
      list.map((g) => [
        String(g.generation),
        g.spec,
        `${count(g.learned)} of ${count(g.of)}`,
        g.active ? "decides" : g.ready ? "idle" : "learning the log",
        g.active ? "" : element("button", { onclick: guarded(activate(g.generation)), disabled: !g.ready }, active && g.generation < active.generation ? "Roll back" : "Activate"),
      ]),
    ),
    form,
  ];
}

// Who decides: the learner, the caller with the learner in the shadow, the caller alone; and the way out.
function guards(name, b) {
  const set = (change) => guarded(async () => {
    await call("PUT", `/v1/bandits/${encodeURIComponent(name)}`, change);
    refresh();
  });
  const modes = { online: "The learner decides", apprentice: "The caller decides, the learner in the shadow", "log-only": "The caller decides" };
  return element(
    "div",
    { class: "row" },
    Object.entries(modes).map(([mode, text]) => element("button", { id: `mode-${mode}`, "aria-pressed": String(b.mode === mode), onclick: set({ mode }) }, text)),
    element("button", { id: "fallback", "aria-pressed": String(b.fallback), onclick: set({ fallback: !b.fallback }) }, b.fallback ? "Stop playing the base arm" : "Play the base arm only"),
  );
}

// It outlives a redraw of the page, which may happen while its answer is on its way.
const why = element("pre", { hidden: true, tabindex: "-1", id: "why" });

function events(name, list) {
  const explain = (id) => async () => {
    const event = await call("GET", `/v1/bandits/${encodeURIComponent(name)}/events/${encodeURIComponent(id)}?recompute=1`);
    why.textContent = JSON.stringify(event, null, 2);
    why.hidden = false;
    why.focus();
  };
  return [
    table(
      ["When", "Arm", "#Probability", "State", "#Reward", ""],
      list.map((e) => [
        age(e.t),
        e.arms[e.arm],
        e.pmf[e.arm].toPrecision(3),
        e.state,
        e.reward === null ? "" : signed(e.reward),
        element("button", { onclick: guarded(explain(e.id)) }, "Why?"),
      ]),
    ),
    why,
  ];
}

async function bandit(name) {
  const path = `/v1/bandits/${encodeURIComponent(name)}`;
  const b = await call("GET", path);
  const [history, evaluation, effect, generation, last, diagnosis] = await Promise.all([
    call("GET", `${path}/history`),
    call("GET", `${path}/evaluation`),
    call("GET", `${path}/effects`),
    call("GET", `${path}/generations`),
    call("GET", `${path}/events?last=12`),
    call("GET", `${path}/diagnosis`),
  ]);
  return [
    element("h1", {}, name),
    element("p", { class: "soft" }, `${b.spec} · ${b.dim} features · waits ${b.wait} · ${b.mode}${b.fallback ? " · FALLS BACK TO THE BASE ARM" : ""}`),
    cards(b),
    evaluation.seen < evaluation.of ? element("p", { class: "soft" }, `Reading the log: ${percent(evaluation.seen / evaluation.of)}`) : null,
    section("Is it better?", evaluation.policies.filter((p) => p.difference).map((p) => verdict(p, b))),
    section("Over time", charts(history)),
    section("What was found out", diagnosis.says.map((text) => element("p", {}, text))),
    section("Can the log be trusted?", support(evaluation) ?? element("p", { class: "soft" }, "Nothing has been closed yet.")),
    section("What features do", effects(effect.effects)),
    section("Who decides", guards(name, b)),
    section("Generations", generations(name, generation.generations)),
    section("Last events", events(name, last.events)),
  ];
}

// ---- going round ------------------------------------------------------------------------------------------------

function askForKey() {
  const input = element("input", { type: "password", autocomplete: "current-password", "aria-label": "Key" });
  const form = element("form", {}, input, element("button", {}, "Use this key"));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    setKey(input.value.trim());
    refresh();
  });
  show(element("h1", {}, "This service needs a key"), element("p", {}, "gbose key add DATA --role read makes one."), form);
  shown = null;
  input.focus();
}

// What an action says stays until the next one.
function guarded(action) {
  return () => {
    status.textContent = "";
    return action().catch((error) => { status.textContent = error.message; });
  };
}

// What a person is reading or typing is not taken away.
function isBusy() {
  return shown === location.hash && (!why.hidden || document.activeElement?.tagName === "INPUT");
}

async function refresh() {
  const mine = ++turn;
  clearTimeout(timer);
  const name = location.hash.startsWith("#/b/") ? decodeURIComponent(location.hash.slice(4)) : null;
  try {
    if (!isBusy()) {
      const focused = document.activeElement?.id;
      if (shown !== location.hash) why.hidden = true;
      const parts = await (name === null ? overview() : bandit(name));
      if (mine !== turn) return; // a later call has newer facts
      if (isBusy()) return again();
      document.title = name === null ? "gbose" : `${name} · gbose`;
      crumbs.replaceChildren(...(name === null ? [] : [element("span", {}, `› ${name}`)]));
      show(parts);
      if (shown !== location.hash) main.focus();
      else if (focused) document.getElementById(focused)?.focus();
      shown = location.hash;
    }
    if (failed) status.textContent = "";
    failed = false;
  } catch (error) {
    if (mine !== turn) return;
    if (error.status === 401) {
      forgetKey();
      askForKey();
      return;
    }
    if (shown !== location.hash) show(element("h1", {}, "That did not work"), element("p", {}, error.message));
    status.textContent = error.message;
    failed = true;
  }
  again();
}

function again() {
  timer = setTimeout(() => (document.hidden ? again() : refresh()), 2000);
}

addEventListener("hashchange", () => {
  status.textContent = "";
  refresh();
});
refresh();
