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

// An argument has a place of its own: named as a fact, it must not be taken for one.
function put(list, name, value) {
  const dt = document.createElement("dt");
  const dd = document.createElement("dd");
  dt.textContent = name;
  dd.textContent = value;
  at(list).append(dt, dd);
}

function show(call) {
  fingerprint = call.fingerprint;
  at("facts").replaceChildren();
  at("arguments").replaceChildren();
  put("facts", "What", call.title);
  put("facts", "Asked by", call.askedBy);
  put("facts", "It can reach", call.effects.join(", ") || "nothing beyond reading");
  put("facts", "It needs the permissions", call.permissions.join(", ") || "none");
  if (call.mayDecide && call.missingPermissions.length > 0) {
    put("facts", "You do not hold", `${call.missingPermissions.join(", ")}; your yes could only fail`);
  }
  put("facts", "Status", call.status);
  for (const argument of call.arguments) put("arguments", argument.name, argument.value);
  if (call.withheld.length > 0) put("facts", "Withheld as sensitive", call.withheld.join(", "));
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
