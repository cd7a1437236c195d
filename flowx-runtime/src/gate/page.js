// Every text from the server goes in as text, never as markup.
"use strict";
const at = (id) => document.getElementById(id);
const say = (text) => { at("said").textContent = text; };
let fingerprint = null;

async function ask(path, options) {
  const answer = await fetch(location.pathname.replace(/\/$/, "") + path, {
    ...options,
    cache: "no-store",
    credentials: "omit",
    headers: { Authorization: "Bearer " + at("token").value, "Content-Type": "application/json" },
  });
  const body = await answer.json().catch(() => ({}));
  if (!answer.ok) throw new Error(body.detail || "The server said " + answer.status + ".");
  return body;
}

function fact(name, value) {
  const dt = document.createElement("dt");
  const dd = document.createElement("dd");
  dt.textContent = name;
  dd.textContent = value;
  at("facts").append(dt, dd);
}

function show(call) {
  fingerprint = call.fingerprint;
  at("facts").replaceChildren();
  fact("What", call.title);
  fact("Asked by", call.askedBy);
  fact("It can reach", call.effects.join(", ") || "nothing beyond reading");
  fact("It needs the permissions", call.permissions.join(", ") || "none");
  for (const argument of call.arguments) fact(argument.name, argument.value);
  if (call.withheld.length > 0) fact("Withheld as sensitive", call.withheld.join(", "));
  fact("Status", call.status);
  const open = call.mayDecide && call.status === "waiting";
  at("yes").disabled = at("no").disabled = !open;
  at("what").hidden = false;
}

async function doing(step) {
  say("");
  try { await step(); } catch (error) { say(error.message); }
}

at("show").addEventListener("click", () => doing(async () => show(await ask("/call", { method: "GET" }))));
at("yes").addEventListener("click", () => doing(async () => {
  show(await ask("/approve", { method: "POST", body: JSON.stringify({ fingerprint }) }));
  say("You said yes.");
}));
at("no").addEventListener("click", () => doing(async () => {
  show(await ask("/reject", { method: "POST", body: JSON.stringify({ reason: at("reason").value }) }));
  say("You said no.");
}));
