/** Two devices of one user beside each other: each is the shop, in a session of its own. */
import { alarm, find, onLanguage, parameters, problemText, signIn, text, translate } from "/ui.js";

const place = new URLSearchParams(["store", "shelf", "sort"].filter((name) => parameters.get(name)).map((name) => [name, parameters.get(name)]));

try {
  const session = await signIn();
  const show = () => {
    translate();
    for (const device of ["phone", "watch"]) find(device).title = text(device);
    find("hint").textContent = session?.user ? text("devicesHint", session.user) : text("needsUser");
  };
  show();
  onLanguage(() => {
    show();
    for (const device of ["phone", "watch"]) find(device).contentWindow.location.reload();
  });
  find("one").href = `/?${place}`;
  place.delete("sort");
  for (const device of ["phone", "watch"]) find(device).src = `/?${new URLSearchParams([...place, ["device", device], ["user", session?.user ?? ""]])}`;
} catch (error) {
  alarm(problemText(error));
}
