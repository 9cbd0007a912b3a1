"use strict";

// The console's page. It never makes HTML of text: every text goes into the
// document through textContent, and control characters in it are made visible.

// ---------- text ----------

const unsafe = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060\u2066-\u2069\ufeff]|[\u{e0000}-\u{e007f}]/gu;

// show makes foreign text safe to look at.
function show(s) {
  return String(s).replace(unsafe, (c) => {
    const n = c.codePointAt(0).toString(16);
    return n.length <= 2 ? "\\x" + n.padStart(2, "0") : n.length <= 4 ? "\\u" + n.padStart(4, "0") : "\\U" + n.padStart(8, "0");
  });
}

// line is show for what must stay on one line.
const line = (s) => show(s).replace(/\n/g, "\\n").replace(/\t/g, "\\t");

// value shows a JSON value as text.
const value = (v) => (typeof v === "string" ? v : v === null || v === undefined ? "nil" : JSON.stringify(v));

// el makes an element. Props that start with "on" are listeners, "text" is its
// text, others are attributes; null and false leave one out.
function el(tag, props, ...children) {
  const e = document.createElement(tag);
  for (const [k, v] of Object.entries(props || {})) {
    if (v === null || v === undefined || v === false) continue;
    if (k === "text") e.textContent = show(v);
    else if (k.startsWith("on")) e.addEventListener(k.slice(2), v);
    else e.setAttribute(k, v === true ? "" : v);
  }
  e.append(...children.flat(Infinity).filter((c) => c !== null && c !== undefined));
  return e;
}

const $ = (id) => document.getElementById(id);
const badge = (text, kind) => el("span", { class: "badge " + (kind || ""), text: line(text) });
let serial = 0;
const newID = () => "f" + ++serial;

// ---------- the program ----------

let token = "";

// ask sends a request and gives the answer's object.
async function ask(method, path, body, wait) {
  const headers = { Authorization: "Bearer " + token };
  if (body !== undefined) headers["Content-Type"] = "application/json";
  if (wait !== undefined) headers.Prefer = "wait=" + wait;
  const r = await fetch(path, { method, headers, body, cache: "no-store", credentials: "omit", signal: AbortSignal.timeout(30000) });
  const answer = await r.json();
  if (r.status === 401) lock("This token is not the one of the run: the console was started anew.");
  return answer;
}

const part = encodeURIComponent;
const sleep = (ms) => new Promise((f) => setTimeout(f, ms));

// use makes a call that may take long; waiting is told while it does.
async function use(path, body, waiting) {
  let a = await ask("POST", path, body, 1);
  const start = Date.now();
  while (a.pending) {
    if (waiting) waiting(Math.round((Date.now() - start) / 1000));
    await sleep(700);
    a = await ask("GET", "/api/call/" + part(a.call), undefined, 0);
  }
  return a;
}

// ---------- answers ----------

// output shows the result of a use below its form.
function output() {
  const box = el("div", { class: "out", "aria-live": "polite", hidden: true });
  const set = (kind, what, text, notes) => {
    box.hidden = false;
    box.className = "out " + kind;
    box.replaceChildren(el("span", { class: "what", text: line(what) }));
    if (text !== null && text !== undefined) box.append(el("pre", { text }));
    for (const n of notes || []) box.append(el("span", { class: "soft", text: line(n) }));
  };
  return {
    box,
    waiting: (s) => set("wait", "running" + (s ? " for " + s + " s" : " …"), null),
    fail: (a) => set("fail", a.error + (a.line ? " at " + (a.file ? a.file + ":" : "line ") + a.line : ""), a.message, a.notes),
    done: (what, text) => set("", what, text),
    clear: () => { box.hidden = true; },
    failed: () => !box.hidden && box.classList.contains("fail"),
  };
}

// attempt runs a use with its button off and shows what came of it.
async function attempt(button, out, path, body, done) {
  if (button.disabled) return;
  button.disabled = true;
  out.waiting(0);
  try {
    const a = await use(path, body, out.waiting);
    if (a.ok) done(a);
    else out.fail(a);
  } catch (e) {
    out.fail({ error: "Unreachable", message: "the console does not answer: " + e.message });
  }
  button.disabled = false;
  refresh();
}

// ---------- forms made of parameters ----------

// field makes an input for a parameter; read gives its JSON, "" where it is left
// out, and throws what is wrong.
function field(name, type, schema, optional) {
  const id = newID(), hint = el("span", { class: "hint", id: id + "h" });
  const kind = Array.isArray(schema && schema.type) ? "" : (schema && schema.type) || "";
  const choices = schema && Array.isArray(schema.enum) ? schema.enum.map(String) : kind === "boolean" ? ["true", "false"] : null;
  const label = el("label", { for: id, text: line(name) }, el("span", { class: "type", text: line((type || kind || "any") + (optional ? ", optional" : "")) }));
  let input, as = null;
  if (choices) {
    input = el("select", { id }, optional ? el("option", { value: "", text: "(left out)" }) : null,
      choices.map((c) => el("option", { value: c, text: line(c) })));
  } else if (kind === "integer" || kind === "number") {
    input = el("input", { id, class: "mono", inputmode: kind === "integer" ? "numeric" : "decimal", autocomplete: "off", placeholder: kind === "integer" ? "0" : "0.0" });
  } else if (kind === "array" || kind === "object") {
    input = el("textarea", { id, rows: 1, spellcheck: "false", placeholder: kind === "array" ? "[ ]" : "{ }" });
  } else {
    input = el("textarea", { id, rows: 1, spellcheck: "false" });
    if (kind !== "string") as = el("select", { "aria-label": "how to read " + line(name), onchange: () => look() },
      ["auto", "text", "JSON"].map((x) => el("option", { value: x, text: x })));
  }
  const read = () => {
    const s = input.value;
    if (s === "" && optional) return "";
    if (choices) return schema.enum ? JSON.stringify(schema.enum[choices.indexOf(s)]) : s;
    if (kind === "string") return JSON.stringify(s);
    if (kind === "integer" && !/^-?\d+$/.test(s.trim())) throw new Error("a whole number is needed");
    if (kind === "integer" || kind === "number" || kind === "array" || kind === "object") return json(s, kind);
    if (as.value === "text") return JSON.stringify(s);
    if (as.value === "JSON") return json(s, "");
    try { return json(s, ""); } catch { return JSON.stringify(s); }
  };
  const look = () => {
    input.removeAttribute("aria-invalid");
    hint.className = "hint";
    hint.textContent = "";
    if (as && as.value === "auto" && input.value !== "") hint.textContent = show("taken as " + nameOf(read()));
  };
  input.addEventListener("input", look);
  input.setAttribute("aria-describedby", hint.id);
  const get = () => {
    look();
    try { return read(); } catch (e) {
      input.setAttribute("aria-invalid", "true");
      hint.className = "hint bad";
      hint.textContent = show(e.message);
      input.focus();
      throw e;
    }
  };
  return { name, get, box: el("div", { class: "field" }, label, as ? el("div", { class: "pair" }, input, as) : input, hint) };
}

// json checks a piece of JSON and gives it as it was written, so that numbers
// keep their digits.
function json(s, kind) {
  let v;
  try { v = JSON.parse(s); } catch { throw new Error(kind === "number" ? "a number is needed" : "this is no valid JSON"); }
  const is = Array.isArray(v) ? "array" : v === null ? "null" : typeof v;
  if (kind && kind !== "integer" && is !== kind) throw new Error((kind === "number" ? "a number" : "an " + kind) + " is needed");
  return s.trim();
}

function nameOf(text) {
  const v = JSON.parse(text);
  if (v === null) return "nil";
  if (typeof v === "number") return /[.eE]/.test(text) ? "a Float" : "an Int";
  return { string: "a String", boolean: "a Bool" }[typeof v] || (Array.isArray(v) ? "an Array" : "a Map");
}

// argsForm is a form for positional arguments.
function argsForm(params, word, submit) {
  const fields = params.map((p) => field(p.name, p.type, p.schema, p.optional));
  return form(fields, word, (button) => {
    const args = [];
    let gap = null;
    for (const f of fields) {
      const s = f.get();
      if (s === "") { gap = gap || f.name; continue; }
      if (gap) throw new Error("'" + f.name + "' is given, so '" + gap + "' must be too");
      args.push(s);
    }
    submit(button, '{"args":[' + args.join(",") + "]}");
  });
}

// objectForm is a form for an object of named arguments, as servers take them.
function objectForm(schema, word, submit) {
  const props = (schema && schema.properties) || {};
  const must = (schema && schema.required) || [];
  const fields = Object.entries(props).map(([n, s]) => field(n, null, s && typeof s === "object" ? s : {}, !must.includes(n)));
  return form(fields, word, (button) => {
    const given = fields.map((f) => [f.name, f.get()]).filter(([, s]) => s !== "");
    submit(button, '{"args":[{' + given.map(([n, s]) => JSON.stringify(n) + ":" + s).join(",") + "}]}");
  });
}

function form(fields, word, submit) {
  const button = el("button", { type: "submit", text: word });
  const wrong = el("span", { class: "error", role: "alert" });
  const f = el("form", { class: "args", novalidate: true }, fields.length ? el("div", { class: "fields" }, fields.map((x) => x.box)) : null,
    el("div", { class: "row" }, button, wrong));
  f.addEventListener("submit", (e) => {
    e.preventDefault();
    wrong.textContent = "";
    try { submit(button); } catch (err) { if (!f.querySelector("[aria-invalid]")) wrong.textContent = show(err.message); }
  });
  f.addEventListener("keydown", (e) => {
    if (e.key === "Enter" && e.target.tagName === "TEXTAREA" && (e.ctrlKey || e.metaKey || !e.shiftKey && !e.target.value.includes("\n") && e.target.rows === 1)) {
      e.preventDefault();
      f.requestSubmit();
    }
  });
  return f;
}

// ---------- cards ----------

// card is the frame of everything shown. place says where it was declared.
function card(name, badges, place, ...children) {
  return el("article", { class: "card", tabindex: "-1", "data-find": line(name).toLowerCase() },
    el("div", { class: "top" }, el("h3", { text: line(name) }), badges, place ? el("span", { class: "place", title: line(place), text: line(place.replace(/^.*[\\/]/, "")) }) : null), children);
}

const desc = (text, soft) => (text ? el("p", { class: "desc" + (soft ? " soft" : ""), text }) : null);

function needs(d) {
  return (d.decisions || []).map((x) => {
    const b = badge((x.allowed ? "may " : "denied ") + x.capability, x.allowed ? "good" : "bad");
    b.title = line(x.decided_by);
    return b;
  });
}

// keyed keeps one element per key in a list: it is made anew only when what it
// was made of has changed, so that forms keep what was typed.
function keyed(list, make) {
  const kept = new Map();
  const draw = (entries) => {
    const nodes = entries.map(([key, data]) => {
      const sign = JSON.stringify(data);
      let k = kept.get(key);
      if (!k || (k.sign !== sign && !(k.update && k.update(data)))) k = make(key, data);
      k.sign = sign;
      kept.set(key, k);
      return k.node;
    });
    for (const key of [...kept.keys()]) if (!entries.some(([e]) => e === key)) kept.delete(key);
    nodes.forEach((n, i) => { if (list.children[i] !== n) list.insertBefore(n, list.children[i] || null); });
    while (list.children.length > nodes.length) list.lastElementChild.remove();
  };
  draw.kept = kept;
  return draw;
}

function makeTool(key, d) {
  const out = output();
  const f = argsForm(d.params, "Call", (button, body) =>
    attempt(button, out, "/api/tool/" + part(key) + "/call", body, (a) => out.done("gave " + a.type, a.text)));
  const node = card(key, [d.async ? badge("async") : null, d.returns ? badge("→ " + d.returns) : null, needs(d)], d.declared_at,
    desc(d.description), desc(d.doc, true), f, out.box);
  node.id = "tool:" + key;
  return { node };
}

function makeAction(key, d) {
  const out = output();
  const f = argsForm(d.params, "Prepare", (button, body) =>
    attempt(button, out, "/api/action/" + part(key) + "/prepare", body, (a) => { out.clear(); focusOn = a.id; }));
  return { node: card(key, [badge(d.kind, d.kind === "irreversible" ? "warn" : "accent"), d.requires_approval ? badge("needs approval", "warn") : null, needs(d)],
    d.declared_at, desc(d.doc), f, out.box) };
}

let focusOn = ""; // the prepared action that gets the focus when it appears

const states = ["prepared", "verified", "approved", "committed", "rolled_back"];

// makePrepared shows an action on its way, with a button for each step.
function makePrepared(id, first) {
  let d = first;
  const out = output(), badges = el("span"), steps = el("ol", { class: "steps", "aria-label": "Steps" });
  const node = card(d.name, [badge(d.kind, d.kind === "irreversible" ? "warn" : "accent"), badges], id, argsTable(d.args), steps);
  const post = (step, confirm) => attempt(buttons[step], out, "/api/action/" + part(id) + "/" + step, JSON.stringify(confirm ? { confirm } : {}),
    (a) => {
      if (step === "commit") out.done("committed, gave " + a.type, a.text);
      else out.clear();
      update(a);
      const next = Object.values(buttons).find((b) => !b.hidden && !b.disabled);
      if (next) next.focus();
    });
  const commit = async () => {
    const plain = d.kind !== "irreversible" || shown.dry_run;
    const phrase = plain ? "" : await confirmed(d);
    if (plain || phrase) post("commit", phrase);
  };
  const buttons = {
    verify: el("button", { type: "button", text: "Verify", onclick: () => post("verify") }),
    approve: el("button", { type: "button", text: "Approve", onclick: () => post("approve") }),
    commit: el("button", { type: "button", class: d.kind === "irreversible" ? "danger" : "", text: d.kind === "irreversible" ? "Commit …" : "Commit", onclick: commit }),
    rollback: el("button", { type: "button", class: "quiet", text: "Roll back", onclick: () => post("rollback") }),
  };
  buttons.approve.hidden = !d.requires_approval;
  buttons.rollback.hidden = d.kind === "irreversible";
  node.append(el("div", { class: "row" }, Object.values(buttons)), out.box);
  node.id = "prepared:" + id;
  const update = (now) => {
    d = { ...d, ...now };
    const s = d.state, open = !d.running;
    buttons.verify.disabled = !(open && s === "prepared");
    buttons.approve.disabled = !(open && !d.approved && (s === "prepared" || s === "verified"));
    buttons.commit.disabled = !(open && s === "verified" && (d.approved || !d.requires_approval));
    buttons.rollback.disabled = !(open && s === "committed");
    badges.replaceChildren(badge(s.replace("_", " "), s === "failed" || s === "denied" ? "bad" : s === "committed" ? "good" : ""));
    steps.replaceChildren(...stepList(d));
    return true;
  };
  update(d);
  return { node, update };
}

function stepList(d) {
  const at = states.indexOf(d.state);
  return states.filter((s) => (s !== "approved" || d.requires_approval) && (s !== "rolled_back" || d.kind === "reversible")).map((s) => {
    const past = s === "approved" ? d.approved : at >= 0 ? states.indexOf(s) < at : s === "prepared" || s === "verified";
    return el("li", { class: past || s === d.state && s !== "prepared" && s !== "verified" ? "done" : s === d.state ? "now" : null, text: s.replace("_", " ") });
  }).concat(at < 0 ? [el("li", { class: "bad", text: d.state })] : []);
}

function argsTable(args) {
  if (!args.length) return el("p", { class: "soft", text: "without arguments" });
  return table(["argument", "type", "value"], args.map((a) => [cell(a.name, "name"), cell(a.type), el("td", {}, el("pre", { text: a.text }))]));
}

function table(heads, rows) {
  return el("div", { class: "wrap" }, el("table", {}, el("thead", {}, el("tr", {}, heads.map((t) => el("th", { scope: "col", text: t })))),
    el("tbody", {}, rows.map((r) => el("tr", {}, r)))));
}

const cell = (text, cls) => el("td", { class: cls, text: line(text) });

// confirmed asks for the phrase that an irreversible commit takes; "" is no.
function confirmed(d) {
  const box = $("confirm"), input = $("confirm-phrase"), yes = $("confirm-yes");
  $("confirm-title").textContent = "Commit " + line(d.name) + "?";
  $("confirm-args").replaceChildren(argsTable(d.args));
  $("confirm-want").textContent = line(d.confirm);
  input.value = "";
  yes.disabled = true;
  input.oninput = () => { yes.disabled = input.value.trim() !== d.confirm; };
  $("confirm-no").onclick = () => box.close("");
  $("confirm-form").onsubmit = (e) => { e.preventDefault(); if (!yes.disabled) box.close("yes"); };
  box.returnValue = "";
  box.showModal();
  input.focus();
  return new Promise((give) => { box.onclose = () => give(box.returnValue === "yes" ? d.confirm : ""); });
}

const agentKinds = { paused: "warn", completed: "good", failed: "bad", running: "accent" };

function makeAgent(key, first) {
  const out = output(), status = el("span"), body = el("div", { class: "row" });
  const node = card(key, [first.async ? badge("async") : null, status], first.declared_at, desc(first.doc), body, out.box);
  const go = (step) => (button, json) => attempt(button, out, "/api/agent/" + part(key) + "/" + step, json, (a) => { out.clear(); update(a); });
  let was = "";
  const update = (d) => {
    const sign = d.status + value(d.pause_reason) + (d.failure || "");
    if (sign === was) return true;
    was = sign;
    status.replaceChildren(badge(d.status, agentKinds[d.status]));
    body.className = "stack";
    if (d.status === "created") {
      const start = el("button", { type: "button", text: "Start", onclick: () => go("start")(start, "{}") });
      body.replaceChildren(el("div", { class: "row" }, start));
    } else if (d.status === "paused") {
      const answer = field("answer", "any", {}, false);
      const question = el("p", { class: "desc question", text: d.pause_reason === null ? "It waits to be resumed." : value(d.pause_reason) });
      body.replaceChildren(question, form([answer], "Answer", (button) => {
        const nothing = answer.box.querySelector("textarea").value === "";
        go("resume")(button, nothing ? "{}" : '{"value":' + answer.get() + "}");
      }));
    } else if (d.status === "failed") {
      body.replaceChildren(...out.failed() ? [] : [el("p", { class: "error", text: d.failure || "it failed" })]);
    } else body.replaceChildren();
    return true;
  };
  update(first);
  return { node, update };
}

function makeMemory(key, d) {
  const lasting = d.kind === "persistent_memory", out = output(), rows = el("div"), past = el("div");
  const get = (path) => ask("GET", "/api/memory/" + part(key) + path).catch((e) => ({ error: "Unreachable", message: e.message }));
  const load = async () => {
    const a = await get("");
    if (!a.ok) { out.fail(a); return; }
    out.clear();
    const entries = Object.entries(a.texts);
    rows.replaceChildren(entries.length ? table(lasting ? ["key", "value", ""] : ["key", "value"], entries.map(([k, v]) => [
      cell(k, "name"), el("td", {}, el("pre", { text: v })),
      lasting ? el("td", {}, el("button", { type: "button", class: "text", text: "history", "aria-label": "history of " + line(k), onclick: () => history(k) })) : null,
    ].filter(Boolean))) : el("p", { class: "soft", text: "It is empty." }));
    if (a.total > entries.length) rows.append(el("p", { class: "soft", text: "and " + (a.total - entries.length) + " more" }));
  };
  const history = async (k) => {
    const a = await get("/history/" + part(k));
    if (!a.ok) { out.fail(a); return; }
    past.replaceChildren(el("h4", { class: "label", text: "History of " + line(k) }),
      el("ol", { class: "history" }, a.history.map((h) => el("li", { text: h }))));
  };
  const again = el("button", { type: "button", class: "quiet", text: "Read again", onclick: () => load() });
  const node = card(key, [lasting ? badge("persistent", "accent") : badge("in memory"), d.hint ? badge(d.hint) : null], d.declared_at,
    d.path ? el("p", { class: "soft mono", text: line(d.path) }) : null, rows, past, el("div", { class: "row" }, again), out.box);
  load();
  return { node, load, update: () => { load(); return true; } };
}

function makeSkill(key, d) {
  const tools = d.tools.map((t) => el("li", {}, el("button", { type: "button", class: "text mono", text: line(t), onclick: () => goTool(t) })));
  return { node: card(key, [badge(tools.length + (tools.length === 1 ? " tool" : " tools"))], d.declared_at, desc(d.description), el("ul", { class: "row" }, tools)) };
}

// goTool shows the tool that a skill names: one of the program, else one of a server.
function goTool(name) {
  const key = Object.keys(shown.tools).find((k) => k === name || k === name + "#1");
  go(key ? "tools" : "mcp");
  const at = key ? $("tool:" + key) : [...document.querySelectorAll("details")].find((d) => d.dataset.tool === name);
  if (!at) return;
  if (at.tagName === "DETAILS") at.open = true;
  at.scrollIntoView({ block: "center" });
  (at.tagName === "DETAILS" ? at.firstElementChild : at).focus();
}

function makeServer(key, d) {
  const tools = d.tool_details.map((t) => {
    const out = output();
    const f = objectForm(t.schema, "Call", (button, body) =>
      attempt(button, out, "/api/tool/" + part(t.key) + "/call", body, (a) => out.done("gave", a.text)));
    const e = el("details", {}, el("summary", {}, el("code", { text: line(t.name) }), " ", t.allowed ? null : badge("denied", "bad"),
      t.description ? el("span", { class: "soft", text: line(t.description).slice(0, 140) }) : null),
    el("div", { class: "inner" }, t.allowed ? null : el("p", { class: "error", text: line(t.decided_by || "denied") }), desc(t.description, true), f, out.box));
    e.dataset.tool = t.name;
    return e;
  });
  return { node: card(key, [badge(d.status, d.status === "connected" || d.status === "ready" ? "good" : "warn"), d.capability ? badge("needs " + d.capability) : null,
    badge(tools.length + (tools.length === 1 ? " tool" : " tools"))], d.declared_at, tools) };
}

function makePolicy(rows) {
  if (!rows.length) return el("p", { class: "empty", text: "Nothing that was declared needs a capability." });
  return el("div", { class: "card" }, table(["capability", "", "needed by", "decided by"], rows.map((r) => [
    cell(r.capability, "name"), el("td", {}, badge(r.allowed ? "allowed" : "denied", r.allowed ? "good" : "bad")),
    cell({ tool: "tool ", action: "action ", mcp: "server " }[r.kind] + r.key), ruleCell(r.decided_by)])));
}

// ruleCell names the deciding rule; the whole path of its file is in the title.
function ruleCell(text) {
  return el("td", { title: line(text), text: line(text).replace(/^decided by /, "").replace(/ at .*[\\/](?=[^\\/]*$)/, " at ") });
}

// ---------- sections ----------

const sections = [
  ["tools", "Tools", "Call a tool with arguments of your own. Policy and audit hold as they do in the program."],
  ["actions", "Actions", "Prepare an action, look at its arguments, then verify, approve, commit or roll it back."],
  ["agents", "Agents", "Start an agent, and answer one that paused."],
  ["memories", "Memories", "What the program remembers; a persistent memory keeps every version."],
  ["skills", "Skills", "Tools bundled for a model, with a word on their use."],
  ["mcp", "MCP servers", "Servers the program is connected to, and their tools."],
  ["policy", "Policy", "What each declaration may do where it stands, and the rule that decides."],
  ["audit", "Audit", "Every call, denial and step, newest first."],
];

let shown = { tools: {} }; // the newest surface
let at = "tools";
const views = {};

function build() {
  sections.forEach(([id, title], i) => {
    const button = el("button", { type: "button", id: "nav-" + id, onclick: () => go(id), title: "key " + (i + 1) },
      el("span", { text: title }), el("span", { class: "count" }), el("kbd", { "aria-hidden": "true", text: String(i + 1) }));
    $("nav").append(button);
    const list = el("section", { class: "list", id: "s-" + id, "aria-label": title, hidden: true });
    $("sections").append(list);
    views[id] = { list, count: button.querySelector(".count"), button };
  });
  const makers = { tools: makeTool, agents: makeAgent, memories: makeMemory, skills: makeSkill, mcp: makeServer };
  for (const [id, make] of Object.entries(makers)) views[id].draw = keyed(views[id].list, make);
  const cards = el("div", { class: "list" }), under = el("div", { class: "list" }), head = el("h3", { class: "sub", text: "Prepared" });
  cards.style.display = under.style.display = "contents";
  views.actions.list.append(head, under, el("h3", { class: "sub", text: "Declared" }), cards);
  const drawCards = keyed(cards, makeAction), drawPrepared = keyed(under, makePrepared);
  views.actions.draw = (entries, prepared) => {
    head.hidden = !prepared.length;
    drawCards(entries);
    drawPrepared(prepared.map((p) => [p.id, p]).reverse());
    const e = focusOn && $("prepared:" + focusOn);
    if (e) { focusOn = ""; e.scrollIntoView({ block: "nearest" }); e.querySelector("button").focus(); }
  };
  $("audit").append(el("h2", { text: "Audit" }), logs[1]);
  views.audit.list.append(el("div", { class: "card" }, logs[0]));
}

// go shows a section.
function go(id) {
  at = id;
  $("app").dataset.at = id;
  for (const [s, title, lead] of sections) {
    views[s].list.hidden = s !== id;
    if (s === id) { views[s].button.setAttribute("aria-current", "page"); $("title").textContent = title; $("lead").textContent = lead; }
    else views[s].button.removeAttribute("aria-current");
  }
  if (id === "memories") reread();
  filter();
}

// reread reads the memories again, which the surface does not hold.
function reread() {
  for (const m of views.memories.draw.kept.values()) m.load();
}

function filter() {
  const word = $("filter").value.trim().toLowerCase();
  for (const e of views[at].list.querySelectorAll("[data-find], .log > li, #s-policy tbody > tr")) {
    e.hidden = word !== "" && !e.textContent.toLowerCase().includes(word);
  }
}

// put draws a section, with a word where it is empty.
function put(id, draw, n, empty) {
  const v = views[id];
  v.count.textContent = n;
  draw();
  let e = v.list.querySelector(":scope > .empty");
  if (n === 0 && !e && empty) v.list.append(el("p", { class: "empty", text: empty }));
  if (n > 0 && e && empty) e.remove();
}

const words = { tools: "The program declared no tool.", agents: "The program declared no agent.", memories: "The program declared no memory.", skills: "The program made no skill.", mcp: "The program is connected to no MCP server." };

function draw(s) {
  shown = s;
  $("path").textContent = line(s.path || "");
  document.title = line(s.path || "") + " — Sense Inspector";
  $("dry").hidden = !s.dry_run;
  for (const [id, from] of [["tools", "tools"], ["agents", "agents"], ["memories", "memories"], ["skills", "skills"], ["mcp", "mcp_servers"]]) {
    const entries = Object.entries(s[from]);
    put(id, () => views[id].draw(entries), entries.length, words[id]);
  }
  const actions = Object.entries(s.actions);
  put("actions", () => views.actions.draw(actions, s.prepared), actions.length, null);
  const waits = Object.values(s.agents).filter((a) => a.status === "paused").length;
  asks("agents", waits, waits === 1 ? "1 asks" : waits + " ask");
  const open = s.prepared.filter((p) => p.state === "prepared" || p.state === "verified").length;
  asks("actions", open, open + " open");
  put("policy", () => {
    const sign = JSON.stringify(s.decisions);
    if (views.policy.sign !== sign) views.policy.list.replaceChildren(makePolicy(s.decisions));
    views.policy.sign = sign;
  }, s.decisions.length, null);
  filter();
}

// asks marks a section in which something waits for a person.
function asks(id, n, text) {
  views[id].count.classList.toggle("ask", n > 0);
  if (n > 0) views[id].count.textContent = text;
}

// ---------- audit ----------

const logs = [0, 1].map(() => el("ol", { class: "log", "aria-label": "Audit, newest first" }));
const maxLog = 500;
let seen = 0;

function entry(e, fresh) {
  const kind = e.event === "denied" || e.event === "failed" ? "bad" : e.event === "committed" || e.event === "approved" ? "good" : "";
  const more = [e.kind, e.detail, (e.lineage || []).length ? "via " + e.lineage.join(" > ") : "", e.line ? (e.file || "line") + ":" + e.line : ""].filter(Boolean);
  const row = el("li", { class: fresh ? "fresh" : null }, el("time", { text: new Date(e.timestamp * 1000).toTimeString().slice(0, 8) }),
    el("span", {}, el("span", { class: "who", text: line(e.action_name) }), " ", badge(e.event, kind)), el("span", { class: "more", text: line(more.join(" · ")) }));
  if (fresh) setTimeout(() => row.classList.remove("fresh"), 2600);
  return row;
}

async function follow() {
  const a = await ask("GET", "/api/audit-log?limit=" + maxLog + "&after=" + seen);
  if (!a.ok) return;
  for (const log of logs) {
    log.prepend(...a.entries.map((e) => entry(e, seen > 0)));
    while (log.children.length > maxLog) log.lastElementChild.remove();
  }
  if (a.total !== seen && at === "memories") reread();
  seen = a.total;
  views.audit.count.textContent = a.total;
}

// ---------- life ----------

let turn = Promise.resolve();
let misses = 0;

// refresh brings the page up to date; turns follow one another.
function refresh() {
  turn = turn.then(async () => {
    if (!token) return;
    try {
      const s = await ask("GET", "/api/surface");
      if (!s.ok) throw new Error(s.message);
      draw(s);
      await follow();
      misses = 0;
      linked("on", "live");
    } catch (e) {
      misses++;
      linked("off", "the console does not answer");
    }
  });
  return turn;
}

function linked(kind, text) {
  if ($("link").textContent === text) return;
  $("link").className = "link " + kind;
  $("link").textContent = text;
}

async function beat() {
  for (;;) {
    await refresh();
    await sleep(document.hidden ? 5000 : misses ? Math.min(1000 * 2 ** misses, 15000) : 1500);
  }
}

function lock(why) {
  token = "";
  sessionStorage.removeItem("token");
  $("app").hidden = true;
  $("locked").hidden = false;
  $("unlock-error").textContent = why || "";
  linked("", "locked");
  $("token").focus();
}

async function unlock(t) {
  token = t;
  const a = await ask("GET", "/api/surface");
  if (!a.ok) return;
  sessionStorage.setItem("token", t);
  $("locked").hidden = true;
  $("app").hidden = false;
  refresh();
}

function keys(e) {
  const typing = e.target.closest("input, textarea, select");
  if (e.key === "Escape" && typing && !e.target.closest("dialog")) { if (e.target.id === "filter") { e.target.value = ""; filter(); } e.target.blur(); return; }
  if (typing || e.ctrlKey || e.metaKey || e.altKey || document.querySelector("dialog[open]") || !token) return;
  const n = Number(e.key);
  if (n >= 1 && n <= sections.length) { go(sections[n - 1][0]); views[at].button.focus(); }
  else if (e.key === "/") { e.preventDefault(); $("filter").focus(); }
  else if (e.key === "?") $("help").showModal();
  else if (e.key === "j" || e.key === "k") {
    const cards = [...views[at].list.querySelectorAll(".card:not([hidden])")];
    const i = cards.indexOf(document.activeElement && document.activeElement.closest(".card"));
    const next = cards[Math.max(0, Math.min(cards.length - 1, e.key === "j" ? i + 1 : i - 1))];
    if (next) { next.focus({ preventScroll: true }); next.scrollIntoView({ block: "nearest" }); }
  }
}

function main() {
  build();
  go("tools");
  document.addEventListener("keydown", keys);
  $("filter").addEventListener("input", filter);
  $("help-open").addEventListener("click", () => $("help").showModal());
  $("unlock").addEventListener("submit", (e) => {
    e.preventDefault();
    unlock($("token").value.trim().replace(/^.*#token=/, "")).catch(() => { $("unlock-error").textContent = "the console does not answer"; });
    $("token").value = "";
  });
  const given = new URLSearchParams(location.hash.slice(1)).get("token");
  if (given) window.history.replaceState(null, "", "/"); // out of the address bar, the history and screenshots
  const t = given || sessionStorage.getItem("token") || "";
  if (t) unlock(t).catch(() => linked("off", "the console does not answer"));
  else lock("");
  beat();
}

main();
