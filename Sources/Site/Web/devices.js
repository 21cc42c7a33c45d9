/** Two devices of one user side by side, each with its own session of the shop. */
import { attempt } from "/alerts.js";
import { find } from "/dom.js";
import "/header.js";
import { onLanguage, text, translate } from "/language.js";
import { parameters, signIn } from "/session.js";

const devices = ["phone", "watch"];
const place = Object.fromEntries(["store", "shelf"].filter((name) => parameters.get(name)).map((name) => [name, parameters.get(name)]));
/** The state of the page. */
const model = {
  session: null,
};

function show() {
  translate();
  for (const device of devices) find(device).title = text(device);
  find("hint").textContent = model.session ? text("devicesHint", model.session.user) : text("needsUserDevices");
}

onLanguage(() => {
  show();
  for (const device of devices) find(device).contentWindow.location.reload();
});
find("one").href = `/?${new URLSearchParams({ ...place, ...(parameters.get("user") && { user: parameters.get("user") }) })}`;
translate();
await attempt(async () => {
  model.session = await signIn();
  show();
  for (const device of devices) find(device).src = `/?${new URLSearchParams({ ...place, device, ...(model.session?.isDemo && { user: model.session.user }) })}`;
});
