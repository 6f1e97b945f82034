// What changes on the server changes on the page. Without this file the pages of what is under way reload themselves.
"use strict";

const main = document.querySelector("main");
const count = document.getElementById("count");
const changed = document.getElementById("changed");
let last = main.innerHTML;

async function text(path) {
  const answer = await fetch(path, { headers: { Accept: "text/html" } });
  if (!answer.ok || answer.redirected) throw new Error(answer.status);
  return answer.text();
}

async function counted() {
  const now = (await text("/count")).trim();
  if (changed && now !== count.textContent) changed.hidden = false;
  count.textContent = now;
}

async function refreshed() {
  const fresh = new DOMParser().parseFromString(await text(location.href), "text/html");
  const next = fresh.querySelector("main");
  if (!next || next.innerHTML === last || main.contains(document.activeElement)) return;
  last = next.innerHTML;
  const open = [...main.querySelectorAll("details")].map((one) => one.open);
  main.replaceChildren(...next.childNodes);
  main.querySelectorAll("details").forEach((one, n) => { one.open = open[n] ?? one.open; });
  if (!next.hasAttribute("data-live")) main.removeAttribute("data-live");
}

async function look() {
  try {
    if (!document.hidden) {
      await counted();
      if (main.hasAttribute("data-live")) await refreshed();
    }
  } catch {
    // the server is away: the next look may find it again
  }
  setTimeout(look, 2000);
}

if (count) setTimeout(look, 2000);
