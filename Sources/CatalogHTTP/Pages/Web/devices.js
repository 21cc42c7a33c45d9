/** Two devices of one user beside each other: each is the shop, in a session of its own. */
import { attempt, find, onLanguage, parameters, signIn, text, translate } from "/ui.js";

const devices = ["phone", "watch"];
const place = Object.fromEntries(["store", "shelf"].filter((name) => parameters.get(name)).map((name) => [name, parameters.get(name)]));
let session = null;

function show() {
  translate();
  for (const device of devices) find(device).title = text(device);
  find("hint").textContent = session ? text("devicesHint", session.user) : text("needsUser");
}

onLanguage(() => {
  show();
  for (const device of devices) find(device).contentWindow.location.reload();
});
find("one").href = `/?${new URLSearchParams({ ...place, ...(parameters.get("user") && { user: parameters.get("user") }) })}`;
translate();
await attempt(async () => {
  session = await signIn();
  show();
  for (const device of devices) find(device).src = `/?${new URLSearchParams({ ...place, device, ...(session?.isDemo && { user: session.user }) })}`;
});
