/** Errors: showing them, and repeating requests while the server is unreachable. */
import { Problem } from "/aisle.js";
import { find } from "/dom.js";
import { text } from "/language.js";

const shown = {
  /** The message that is shown until it is cleared, before any other. */
  standing: null,
  /** Whether the shown message says that the server is unreachable. */
  isAway: false,
  /** The timer that clears any other message. */
  timer: null,
};

/** Shows an error for ten seconds; null clears it. */
export function alarm(message) {
  clearTimeout(shown.timer);
  shown.isAway = message === text("away") || message === text("waiting");
  if (message && !shown.isAway) shown.timer = setTimeout(() => alarm(null), 10_000);
  const said = shown.standing ?? message;
  find("away").hidden = !said;
  find("away").textContent = said ?? "";
}

/** Clears the message that the server is unreachable. */
export const relieve = () => shown.isAway && alarm(null);

/** Shows a message until it is cleared by null. */
export function stand(message) {
  shown.standing = message;
  alarm(null);
}

/** A counter that grows when the page shows another view. Responses to requests of an earlier turn are ignored. */
export const turn = { now: 0 };

/**
 * Runs work that calls the server, shows its errors, and repeats it while the server is unreachable.
 * @param {() => Promise<any>} work
 * @param {{isKept?: boolean, isRefused?: (error: Problem) => boolean}} [how] `isKept`: whether the work continues after another
 *   turn has begun, as edits by the user do; `isRefused`: corrects a rejected request and returns true to repeat it
 * @returns {Promise<any>} the result of the work; undefined if it failed or another turn began
 */
export async function attempt(work, { isKept = false, isRefused = () => false } = {}) {
  for (const own = turn.now; isKept || own === turn.now; ) {
    try {
      const value = await work();
      if (isKept || own === turn.now) relieve();
      return value;
    } catch (error) {
      if (!isKept && own !== turn.now) return;
      if (error instanceof Problem && isRefused(error)) continue;
      alarm(problemText(error));
      if (!(error instanceof Problem)) console.error(error);
      if (!isAway(error)) return;
      await new Promise((done) => setTimeout(done, 2000));
    }
  }
}

/** Whether nothing is wrong with the request: the server cannot be reached for now, is busy, or has a fault. */
export const isAway = (error) => error instanceof Problem && (error.status === 0 || error.status === 429 || error.status >= 500);
export const problemText = (error) => (isAway(error) ? text("away") : `${text("wrong")} ${error.message}`);

/** Announces a message to screen readers. */
export function announce(message) {
  const live = find("announcements");
  live.textContent = live.textContent === message ? `${message}\u00a0` : message;
}
