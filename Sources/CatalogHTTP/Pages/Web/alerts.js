/** What goes wrong: telling it, and trying again for as long as the server is away. */
import { Problem } from "/aisle.js";
import { find } from "/dom.js";
import { text } from "/language.js";

const shown = {
  /** What is told before all else. */
  standing: null,
  /** Whether it is told that the server is away. */
  isAway: false,
  /** What takes another message back after a while. */
  timer: null,
};

/** Tells what went wrong, or nothing but what stands anyway. It is there for some seconds. */
export function alarm(message) {
  clearTimeout(shown.timer);
  shown.isAway = message === text("away") || message === text("waiting");
  if (message && !shown.isAway) shown.timer = setTimeout(() => alarm(null), 10_000);
  const said = shown.standing ?? message;
  find("away").hidden = !said;
  find("away").textContent = said ?? "";
}

/** The server is there again. */
export const relieve = () => shown.isAway && alarm(null);

/** What is told before all else, for as long as it stands. */
export function stand(message) {
  shown.standing = message;
  alarm(null);
}

/** Grows with every change of what a page shows: what was asked for before is of no account. */
export const turn = { now: 0 };

/**
 * Does something that asks the server, tells what goes wrong, and tries again for as long as the server is away.
 * @param {() => Promise<any>} work
 * @param {{isKept?: boolean, isRefused?: (error: Problem) => boolean}} [how] whether it is to be done even when another turn has
 *   begun, as what the user wrote is; who mends what was refused, so that it is tried again
 * @returns {Promise<any>} what came; undefined where nothing did, or another turn began
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
